import type { ColumnFacts } from '../../contract/manifest.ts'
import { jsonArray } from '../../sql/json.ts'
import { scalarTable } from '../../sql/scalars.ts'
import { sql, type Sql } from '../../sql/tree.ts'
import type { Comparisons } from '../../contract/builder.ts'

interface CursorElement {
  /** SQL of its value, which prints in json as it does in jsonb. */
  readonly value: Sql
  /** The maximum length of its JSON in ASCII characters; Infinity: no such limit. */
  readonly longest: number
}

/** `encode` breaks lines after 76 characters (PostgreSQL manual 9.5), also after the last one: that is 57 bytes. */
const longestLine = 56

/** Text of a cursor (spec/graphql.md 5.5): base64 without line breaks. json takes half the time of jsonb. */
export function cursorText(elements: readonly CursorElement[]): Sql {
  const text = sql`encode(json_send(${jsonArray(elements.map(({ value }) => value))}), 'base64')`
  // Brackets around and `, ` between them.
  const length = elements.reduce((sum, { longest }) => sum + longest + 2, 0)
  return length <= longestLine ? text : sql`replace(${text}, E'\\n', '')`
}

/** @param type a column's */
export const longestOf = (type: ColumnFacts['type'] | undefined): number =>
  type?.kind === 'scalar' && !type.list ? scalarTable[type.name].longestJson : Infinity

/** The length of a row count. */
export const longestCount = 20

export interface Ordered {
  readonly value: Sql
  readonly notNull: boolean
  /** An order by an array, and its carried value, may be an array itself; these become jsonb. */
  readonly isArray: boolean
  /** The comparison operators; absent: those of the search path. */
  readonly comparisons?: Comparisons
  readonly operand: (value: Sql) => Sql
  readonly cursor: (value: Sql) => Sql
  /** See CursorElement. */
  readonly longest: number
}
