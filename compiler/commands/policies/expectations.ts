import { splitSql } from '../advise/diff/script.ts'
import type { ScriptStatement } from '../advise/diff/script.ts'
import { didYouMean } from '../../../runtime/lib/text.ts'
import { misuse } from '../command.ts'

/** The file of expectations: tables of Markdown, whose prose is free (docs/policies.md). */

export const acts = ['select', 'insert', 'update', 'update to', 'delete'] as const
export type Act = (typeof acts)[number]

/** The rows that an act reaches. */
export interface RowsCell {
  readonly rows: 'no' | 'all' | { readonly count: number } | { readonly sql: string }
  /** The columns to which the act is limited; null: all that can be written or read. */
  readonly columns: readonly string[] | null
}

export interface ActorRow {
  readonly name: string
  readonly role: string
  /** JSON of claims, the id or mail address of a user, or empty. */
  readonly claims: string
}

export interface Section {
  /** As in the heading: `schema.table`. */
  readonly relation: string
  readonly line: number
  readonly rows: readonly { readonly actors: readonly string[]; readonly cells: Readonly<Record<Act, RowsCell>> }[]
}

export interface AcceptedHole {
  readonly hole: string
  readonly on: string
  readonly reason: string
}

export interface Expectations {
  readonly actors: readonly ActorRow[]
  /** Runs before the acts, in their transaction. */
  readonly setup: readonly ScriptStatement[]
  readonly setupText: string
  readonly sections: readonly Section[]
  readonly accepted: readonly AcceptedHole[]
}

/** The new values of an update meet what the old ones do. */
const same = 'same'

export const noRows: RowsCell = { rows: 'no', columns: null }

interface Line {
  readonly cells: readonly string[]
  readonly line: number
}

/** Blocks of SQL, and tables with the heading above them. */
interface Parts {
  readonly sql: readonly { readonly text: string; readonly line: number }[]
  readonly tables: readonly { readonly heading: string; readonly header: Line; readonly rows: readonly Line[] }[]
}

/** @throws CommandFailure (exit code 2) that names file and line */
export function readExpectations(file: string, text: string): Expectations {
  const { sql, tables } = blocksOf(text)
  const fail = (line: number, problem: string): never => {
    throw misuse(`${file}:${line}: ${problem}`)
  }
  const sections: Section[] = []
  const actors: ActorRow[] = []
  const accepted: AcceptedHole[] = []
  for (const { heading, header, rows } of tables) {
    const kind = kinds.find(({ columns }) =>
      columns.every((name, index) => header.cells[index]?.toLowerCase() === name),
    )
    if (kind?.kind === 'actors') actors.push(...rows.map((row) => actorOf(row, fail)))
    else if (kind?.kind === 'accepted') accepted.push(...rows.map((row) => acceptedOf(row, fail)))
    else if (kind?.kind === 'relation') sections.push(sectionOf(heading, header, rows, fail))
    else fail(header.line, `a table begins with ${kinds.map(({ columns }) => columns.join(' | ')).join(', or ')}`)
  }
  if (actors.length === 0) fail(1, 'a table of actors is needed: | Actor | Role | Claims |')
  const names = actors.map(({ name }) => name)
  const seen = new Set<string>()
  for (const { relation, rows, line } of sections)
    for (const name of rows.flatMap((row) => row.actors)) {
      if (!names.includes(name))
        fail(line, `there is no actor ${name} in the table of actors${didYouMean(name, names)}`)
      if (seen.has(`${relation} ${name}`)) fail(line, `${name} has two lines for ${relation}, and one is expected`)
      seen.add(`${relation} ${name}`)
    }
  return {
    actors,
    setup: sql.flatMap(({ text: block, line }) =>
      splitSql(block).map((statement) => ({ ...statement, line: statement.line + line, file })),
    ),
    setupText: sql.map((block) => block.text).join('\n'),
    sections,
    accepted,
  }
}

const kinds = [
  { kind: 'actors', columns: ['actor', 'role', 'claims'] },
  { kind: 'accepted', columns: ['hole', 'on', 'reason'] },
  { kind: 'relation', columns: ['actor'] },
] as const

type Fail = (line: number, problem: string) => never

function blocksOf(text: string): Parts {
  const sql: { text: string; line: number }[] = []
  const tables: { heading: string; header: Line; rows: Line[] }[] = []
  let [heading, fence, inTable] = ['', '', false]
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const opened = /^(```+|~~~+)\s*(\w*)/.exec(line)
    if (fence !== '') {
      if (line.startsWith(fence.split(' ')[0] ?? '')) fence = ''
      else if (fence.endsWith(' sql')) sql.push({ text: line, line: index })
      continue
    }
    if (opened !== null) fence = `${opened[1]} ${opened[2]?.toLowerCase()}`
    heading = /^#+\s+(.+?)\s*$/.exec(line)?.[1] ?? heading
    const isRow = line.trimStart().startsWith('|')
    const row = { cells: cellsOf(line), line: index + 1 }
    if (isRow && !inTable) tables.push({ heading, header: row, rows: [] })
    else if (isRow && !row.cells.every((cell) => /^:?-+:?$/.test(cell))) tables.at(-1)?.rows.push(row)
    inTable = isRow
  }
  return { sql: joinBlocks(sql), tables }
}

/** Neighbouring lines of one block. */
const joinBlocks = (lines: readonly { readonly text: string; readonly line: number }[]): Parts['sql'] =>
  lines.reduce<{ text: string; line: number }[]>((blocks, { text, line }) => {
    const last = blocks.at(-1)
    if (last !== undefined && last.line + last.text.split('\n').length === line) last.text += `\n${text}`
    else blocks.push({ text, line })
    return blocks
  }, [])

/** A bar within a cell is escaped, in code as well (GitHub Flavored Markdown, 4.10). */
const cellsOf = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))

const plainCode = (text: string): string => /^`+\s?([^]*?)\s?`+$/.exec(text)?.[1] ?? text

function actorOf({ cells: [name = '', role = '', claims = ''], line }: Line, fail: Fail): ActorRow {
  if (name === '' || role === '') return fail(line, 'an actor needs a name and a role')
  return { name: plainCode(name), role: plainCode(role), claims: plainCode(claims) }
}

function acceptedOf({ cells: [hole = '', on = '', reason = ''], line }: Line, fail: Fail): AcceptedHole {
  if (reason === '') return fail(line, 'an accepted hole needs a reason')
  return { hole: plainCode(hole), on: plainCode(on), reason }
}

function sectionOf(heading: string, header: Line, rows: readonly Line[], fail: Fail): Section {
  const given = header.cells.slice(1).map((name) => name.toLowerCase())
  const unknown = given.find((name) => !(acts as readonly string[]).includes(name))
  if (unknown !== undefined)
    return fail(
      header.line,
      `there is no act "${unknown}"${didYouMean(unknown, acts)}; the acts are ${acts.join(', ')}`,
    )
  return {
    relation: plainCode(heading),
    line: header.line,
    rows: rows.map(({ cells: [names = '', ...cells], line }) => {
      if (cells.length !== given.length)
        return fail(line, `${given.length + 1} cells are expected, not ${cells.length + 1}`)
      const textOf = (act: Act): string => cells[given.indexOf(act)] ?? 'no'
      const cellOf = (act: Act): RowsCell =>
        act === 'update to' && textOf(act) === same
          ? { ...readCell(textOf('update'), line, fail), columns: null }
          : readCell(textOf(act), line, fail)
      return {
        actors: names.split(',').map((name) => name.trim()),
        cells: Object.fromEntries(acts.map((act) => [act, cellOf(act)])) as Record<Act, RowsCell>,
      }
    }),
  }
}

const cellForm = /^(?:(no|all)|(\d+) rows?|(`+)\s?([^]+?)\s?\3)(?:\s+\(([^)]*)\))?$/

function readCell(text: string, line: number, fail: Fail): RowsCell {
  const found = cellForm.exec(text)
  if (found === null)
    return fail(
      line,
      `"${text}" is not understood: write no, all, 3 rows, or a condition in backquotes; columns follow in brackets`,
    )
  const [, word, count, , sql = '', columns] = found
  return {
    rows: word === 'no' || word === 'all' ? word : count === undefined ? { sql } : { count: Number(count) },
    columns: columns === undefined ? null : columns.split(',').map((name) => name.trim()),
  }
}

export function printCell({ rows, columns }: RowsCell): string {
  const limited = columns === null ? '' : ` (${columns.join(', ')})`
  if (typeof rows === 'string') return rows + limited
  if ('count' in rows) return `${rows.count} ${rows.count === 1 ? 'row' : 'rows'}${limited}`
  return code(rows.sql) + limited
}

/** In the order of the acts. */
export const cellTexts = (cells: Readonly<Record<Act, RowsCell>>): readonly string[] =>
  acts.map((act) => {
    const [text, old] = [printCell(cells[act]), printCell({ ...cells.update, columns: null })]
    return act === 'update to' && text === old && text !== 'no' ? same : text
  })

const code = (text: string): string => {
  const fence = text.includes('`') ? '``' : '`'
  return `${fence}${text}${fence}`
}

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

const table = (header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] => [
  row(header),
  `|${' --- |'.repeat(header.length)}`,
  ...rows.map(row),
]

/** In the format that readExpectations reads. */
export function printExpectations({ actors, setupText, sections, accepted }: Omit<Expectations, 'setup'>): string {
  return [
    '# Who may read and write what',
    '',
    'Checked by `catalograph policies test`. A table, an actor or an act that is left out is expected to be `no`.',
    '',
    '## Actors',
    '',
    ...table(
      ['Actor', 'Role', 'Claims'],
      actors.map(({ name, role, claims }) => [name, role, claims.startsWith('{') ? code(claims) : claims]),
    ),
    '',
    '## Rows to try with',
    '',
    'This SQL runs before the acts, in their transaction, and is rolled back with them.',
    '',
    '```sql',
    setupText === '' ? '-- insert into ...' : setupText,
    '```',
    ...sections.flatMap(({ relation, rows }) => [
      '',
      `## ${relation}`,
      '',
      ...table(
        ['Actor', ...acts],
        rows.map(({ actors: names, cells }) => [names.join(', '), ...cellTexts(cells)]),
      ),
    ]),
    '',
    '## Accepted holes',
    '',
    ...table(
      ['Hole', 'On', 'Reason'],
      accepted.map(({ hole, on, reason }) => [hole, on, reason]),
    ),
    '',
  ].join('\n')
}
