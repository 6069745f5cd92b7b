import { decodeAnswer } from './decode.ts'
import { join, knownValues, nothingKnown, type JoinOutcome } from './known.ts'
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
  /**
   * SQL expression that counts the changes recorded in catalograph.schema_change; without it every read compares the
   * marks of all relations.
   */
  readonly counter?: string
}

/** Reads a database once: see createCatalogReader. */
export const readCatalog = (query: CatalogQuery, options: ReadOptions): Promise<Catalog> =>
  createCatalogReader(query, options)()

/**
 * Makes a reader of one database: the first call reads everything, each further one what changed since. What a call
 * gives is in either case what the database is, and objects that did not change are the very same ones as before.
 *
 * All that is read belongs to one statement and so to one snapshot, version included. Printed names and defaults come
 * from functions of Postgres that look at the newest state instead, and fail where an object is gone meanwhile. Then
 * the statement is run again: the change has been committed by then, so the next snapshot has it. Inside an open
 * transaction it leaves the search path empty.
 * @throws what `query` throws; TypeError when the answer cannot be read. What was known stays known.
 */
export function createCatalogReader(
  query: CatalogQuery,
  { schemas, version, counter }: ReadOptions,
): () => Promise<Catalog> {
  const text = catalogQuery(version, counter ?? null)
  let known = nothingKnown
  const ask = async (): Promise<JoinOutcome> => {
    const before = known
    const { rows } = await query(text, [schemas, ...knownValues(before)])
    return join(before, decodeAnswer(answerOf(rows)))
  }
  return async () => {
    for (let attempt = 1; ; attempt += 1) {
      const joined = await asked(ask, attempt >= ATTEMPTS)
      if (joined === null) continue
      known = joined.known
      if (joined.kind === 'whole') return joined.catalog
    }
  }
}

const ATTEMPTS = 20

/** Null when the answer was overtaken by a change and another attempt is left. */
async function asked(ask: () => Promise<JoinOutcome>, last: boolean): Promise<JoinOutcome | null> {
  try {
    return await ask()
  } catch (error) {
    if (last || !isOvertaken(error)) throw error
    return null
  }
}

/**
 * `cache lookup failed for type 16423` is an internal_error (PostgreSQL manual, appendix A). A type that has no name
 * any more (format_type prints `???`) is a TypeError of the decoder.
 */
const isOvertaken = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && sqlstateOf(error) === 'XX000')

const sqlstateOf = (error: Error): unknown =>
  'sqlstate' in error ? error.sqlstate : 'code' in error ? error.code : null

function answerOf(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const answer = rows[0]?.['catalog']
  if (typeof answer !== 'string') throw new TypeError('the catalogue query answered no text')
  return answer
}
