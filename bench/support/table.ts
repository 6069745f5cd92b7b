export type Cell = string | number
export type Row = Readonly<Record<string, Cell>>

const pad = (text: string, width: number, right: boolean): string => (right ? text.padStart(width) : text.padEnd(width))

/** Rows as a Markdown table that can also be read as it is; columns in the order in which rows first name them. */
export const renderTable = (rows: readonly Row[]): string => {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const isNumber = (column: string): boolean => rows.every((row) => !/^\s*[a-z]/i.test(String(row[column] ?? '')))
  const cells = rows.map((row) => columns.map((column) => String(row[column] ?? '')))
  const widths = columns.map((column, index) =>
    Math.max(column.length, 3, ...cells.map((list) => list[index]?.length ?? 0)),
  )
  const line = (list: readonly string[]): string =>
    `| ${list.map((text, index) => pad(text, widths[index] ?? 0, isNumber(columns[index] ?? ''))).join(' | ')} |`
  const rule = columns.map((column, index) => {
    const dashes = '-'.repeat(widths[index] ?? 3)
    return isNumber(column) ? `${dashes.slice(1)}:` : dashes
  })
  return [line(columns), line(rule), ...cells.map(line)].join('\n')
}

export const printTable = (title: string, rows: readonly Row[]): void =>
  console.info(`\n${title}\n\n${renderTable(rows)}`)
