import { refuse } from '../protocol/failures.ts'

/** The number of rows of a document as a sum over page sizes, evaluated without it (spec/graphql.md, decision 11). */

type Given = Readonly<Record<string, unknown>>

/** A page has at most as many rows as the first valid count in `asked`, and never more than `most`. */
export interface SizedPage {
  /** Names of variables, and numbers. */
  readonly asked: readonly (string | number)[]
  readonly most: number
}

/** Rows of nested pages: `times` for each row of each page. */
export interface RowTerm {
  readonly times: number
  readonly pages: readonly SizedPage[]
}

/** The maximum of the sum of the terms is `limit` rows. */
export interface RowBound {
  readonly limit: number
  readonly terms: readonly RowTerm[]
}

export function sizeOf({ asked, most }: SizedPage, values: Given): number {
  const counts = asked.map((one) => countOf(typeof one === 'string' ? values[one] : one))
  return Math.min(counts.find((count) => count !== null) ?? most, most)
}

/** Null: not a count, which is refused when it is planned. A list counts by its length. */
function countOf(value: unknown): number | null {
  if (Array.isArray(value)) return value.length
  const count = value === null || value === undefined ? Number.NaN : Number(value)
  return count >= 0 ? count : null
}

export const sumOf = (terms: readonly RowTerm[], size: (page: SizedPage) => number): number =>
  terms.reduce((sum, { times, pages }) => sum + pages.reduce((product, page) => product * size(page), times), 0)

/** @throws Refusal for more rows than the limit */
export const checkTerms = ({ limit, terms }: RowBound, values: Given): void =>
  checkSum(
    limit,
    sumOf(terms, (page) => sizeOf(page, values)),
  )

/** @throws Refusal for more rows than the limit */
export function checkSum(limit: number, rows: number): void {
  if (rows <= limit) return
  throw refuse(
    'ROW_LIMIT_EXCEEDED',
    `The document may select ${Number.isSafeInteger(rows) ? rows : 'more than 9007199254740991'} rows; at most ${limit} are allowed.`,
  )
}
