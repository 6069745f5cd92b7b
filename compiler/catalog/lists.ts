import { ROWS, bool, integer, nullable, text, type ListName, type Read, type RowOf } from './rows.ts'

/** The answer of the catalogue query, checked: flat lists of rows, and what there is one of. */
export interface Lists extends ListsOfRows {
  readonly version: string | null
  /** Whether the answer is whole: false where it was asked for what was recorded, and not all was. */
  readonly told: boolean
  /** The snapshot that was read, as pg_current_snapshot prints it. */
  readonly snapshot: string
  /** The counter of recorded changes in that snapshot, or null where nothing is recorded. */
  readonly counter: string | null
  /** When the server was started: another one means another server, or one that was restored. */
  readonly server: string
  readonly serverVersion: number
  readonly databaseOwner: string
  /** Whether Citus is there. */
  readonly distributes: boolean
}

type ListsOfRows = { readonly [K in ListName]: readonly RowOf<K>[] }

/**
 * Reads the JSON text of the query's column `catalog`.
 * @throws TypeError naming the place, when a value has another shape than ROWS says.
 */
export function readLists(answer: string): Lists {
  const parts = fieldsOf(JSON.parse(answer), 'catalogue')
  const names = Object.keys(ROWS) as ListName[]
  return {
    // The table says which row each list holds; TypeScript cannot follow that through Object.fromEntries.
    ...(Object.fromEntries(names.map((name) => [name, readRows(name, parts[name])])) as unknown as ListsOfRows),
    version: readOne('version', nullable(text), parts['version']),
    told: readOne('told', bool, parts['told']),
    snapshot: readOne('snapshot', text, parts['snapshot']),
    counter: readOne('counter', nullable(text), parts['counter']),
    server: readOne('server', text, parts['server']),
    serverVersion: readOne('serverVersion', integer, parts['serverVersion']),
    databaseOwner: readOne('databaseOwner', text, parts['databaseOwner']),
    distributes: readOne('distributes', bool, parts['distributes']),
  }
}

/** From one array per field to one object per row. */
function readRows(name: ListName, list: unknown): readonly object[] {
  const arrays = fieldsOf(list, name)
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

function fieldsOf(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new TypeError(`${place}: expected an object`)
}
