import { decodeCatalog } from './decode.ts'
import { catalogQuery } from './queries.ts'
import type { Catalog } from './types.ts'

/** Runs one statement as a role that may read pg_catalog; any connection of a pool will do. */
export type CatalogQuery = (
  text: string,
  values: unknown[],
) => Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>

export interface ReadOptions {
  /** Schemas to serve, in order of precedence; those that do not exist are left out. */
  readonly schemas: readonly string[]
  /** SQL expression for the schema version (never a user's text), or null where nothing counts it. */
  readonly version: string | null
}

/**
 * Reads the database in one statement.
 *
 * Rows and version belong to one snapshot. Printed names and defaults come from functions of Postgres that look at the
 * newest state instead, and fail where an object is gone meanwhile. Then the statement is run again: the change has
 * been committed by then, so the next snapshot has it. Inside an open transaction it leaves the search path empty.
 *
 * @throws what `query` throws; TypeError when the answer cannot be read.
 */
export async function readCatalog(query: CatalogQuery, options: ReadOptions): Promise<Catalog> {
  const text = catalogQuery(options.version)
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { rows } = await query(text, [options.schemas])
      return decodeCatalog(answerOf(rows))
    } catch (error) {
      if (attempt === ATTEMPTS || !isOvertaken(error)) throw error
    }
  }
}

const ATTEMPTS = 20

/**
 * `cache lookup failed for type 16423` is an internal_error (PostgreSQL manual, appendix A). A type that has no name
 * any more (format_type prints `???`) is a TypeError of the decoder.
 */
const isOvertaken = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && 'code' in error && error.code === 'XX000')

function answerOf(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const answer = rows[0]?.['catalog']
  if (typeof answer !== 'string') throw new TypeError('the catalogue query answered no text')
  return answer
}
