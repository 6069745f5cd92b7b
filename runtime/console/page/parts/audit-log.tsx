import { useState } from 'react'
import { useAdminAnswer } from '../context.tsx'
import { Answer, RefreshButton } from './controls.tsx'
import { WideTable } from './wide-table.tsx'
import { Pages, perPage, totalOf } from './pages.tsx'
import { timeOf } from './time.ts'

interface AuditEntry {
  readonly id: string
  readonly created_at?: string
  readonly ip_address: string
  readonly payload: {
    readonly action: string
    readonly actor_username: string
    readonly traits?: Readonly<Record<string, string>>
  }
}

export interface AuditLogProps {
  readonly path: string
  readonly query?: string
  readonly label: string
}

export function AuditLog({ path, query = '', label }: AuditLogProps) {
  const [page, setPage] = useState(1)
  const shown = new URLSearchParams({ page: String(page), per_page: String(perPage), query })
  const [asked, reload] = useAdminAnswer<readonly AuditEntry[]>(`${path}?${shown}`)
  return (
    <>
      <div className="toolbar">
        <RefreshButton reload={reload} />
      </div>
      <Answer asked={asked}>{(entries) => <AuditTable entries={entries} label={label} />}</Answer>
      <Pages
        label={`Pages of ${label}`}
        noun="entry"
        nouns="entries"
        total={totalOf(asked)}
        page={page}
        turn={setPage}
      />
    </>
  )
}

function AuditTable({ entries, label }: { readonly entries: readonly AuditEntry[]; readonly label: string }) {
  return (
    <WideTable
      label={label}
      columns={['Time', 'Action', 'By', 'From address', 'Details']}
      empty="No entries."
      rows={entries.map(({ id, created_at: time, ip_address: address, payload }) => (
        <tr key={id}>
          <td>{timeOf(time)}</td>
          <td>{payload.action}</td>
          <td>{payload.actor_username}</td>
          <td>{address}</td>
          <td>
            {Object.entries(payload.traits ?? {}).map(([name, value]) => (
              <small key={name}>
                {name}: {value}
              </small>
            ))}
          </td>
        </tr>
      ))}
    />
  )
}
