import type { ReactNode } from 'react'

interface WideTableProps {
  readonly label: string
  readonly columns: readonly string[]
  readonly empty?: string
  readonly rows: readonly ReactNode[]
}

/** A table that scrolls horizontally in its own region, by keyboard too. */
export function WideTable({ label, columns, empty, rows }: WideTableProps) {
  return (
    <div className="wide" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{rows}</tbody>
      </table>
      {empty !== undefined && rows.length === 0 && <p>{empty}</p>}
    </div>
  )
}
