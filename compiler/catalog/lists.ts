import type { Steps } from '../../runtime/lib/steps.ts'
import { ROWS, bool, integer, nullable, text, type ListName, type Read, type RowOf } from './catalog-rows.ts'

/** The answer of the catalogue query, checked: flat lists of rows, and single facts. */
export interface Lists extends ListsOfRows {
  readonly version: string | null
  /** Whether the answer is complete: false if recorded changes were requested, but not all were recorded. */
  readonly isComplete: boolean
  /** The snapshot of the read, as pg_current_snapshot prints it. */
  readonly snapshot: string
  /** The counter of recorded changes in that snapshot, or null without a record. */
  readonly counter: string | null
  /** When the server was started: another value means another server, or a restored one. */
  readonly server: string
  readonly serverVersion: number
  readonly databaseOwner: string
  /** Whether Citus is there. */
  readonly distributes: boolean
}

type ListsOfRows = { readonly [K in ListName]: readonly RowOf<K>[] }

/** A row of the query's answer: a list, or a part of it, or the single facts. */
export interface AnswerPart {
  readonly part: ListName | 'facts'
  /** JSON. */
  readonly content: string
}

/**
 * Reads the answer of the query, a step for each part.
 * @throws TypeError with the place, if a value has another shape than in ROWS.
 */
export function* readLists(answer: readonly AnswerPart[]): Steps<Lists> {
  const lists = new Map<string, object[]>(Object.keys(ROWS).map((name) => [name, []]))
  let facts: Readonly<Record<string, unknown>> = {}
  for (const { part, content } of answer) {
    const value = objectFields(JSON.parse(content), part)
    if (part === 'facts') facts = value
    else for (const row of readRows(part, value)) lists.get(part)?.push(row)
    yield
  }
  return {
    // The table defines the row of each list; TypeScript cannot follow that through Object.fromEntries.
    ...(Object.fromEntries(lists) as unknown as ListsOfRows),
    version: readOne('version', nullable(text), facts['version']),
    isComplete: readOne('isComplete', bool, facts['isComplete']),
    snapshot: readOne('snapshot', text, facts['snapshot']),
    counter: readOne('counter', nullable(text), facts['counter']),
    server: readOne('server', text, facts['server']),
    serverVersion: readOne('serverVersion', integer, facts['serverVersion']),
    databaseOwner: readOne('databaseOwner', text, facts['databaseOwner']),
    distributes: readOne('distributes', bool, facts['distributes']),
  }
}

/** From one array per field to one object per row. */
function readRows(name: ListName, arrays: Readonly<Record<string, unknown>>): readonly object[] {
  const fields = Object.entries<Read<unknown>>(ROWS[name]).map(
    ([field, read]) => [field, readArray(`${name}.${field}`, read, arrays[field])] as const,
  )
  const count = fields[0]?.[1].length ?? 0
  if (fields.some(([, values]) => values.length !== count)) throw new TypeError(`${name}: its fields differ in length`)
  const rows = Array.from({ length: count }, (): Record<string, unknown> => ({}))
  for (const [field, values] of fields) {
    rows.forEach((row, index) => {
      row[field] = values[index]
    })
  }
  return rows
}

function readArray(place: string, read: Read<unknown>, values: unknown): readonly unknown[] {
  if (!Array.isArray(values)) throw new TypeError(`${place}: expected a list`)
  let index = 0
  try {
    return values.map((value: unknown, at) => {
      index = at
      return read(value)
    })
  } catch (error) {
    throw placed(`${place}[${index}]`, error)
  }
}

function readOne<T>(place: string, read: Read<T>, value: unknown): T {
  try {
    return read(value)
  } catch (error) {
    throw placed(place, error)
  }
}

const placed = (place: string, error: unknown): unknown =>
  error instanceof TypeError ? new TypeError(`${place}: ${error.message}`) : error

function objectFields(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new TypeError(`${place}: expected an object`)
}
