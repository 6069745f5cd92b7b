import { createMemo } from '../../runtime/lib/memo/memo.ts'
import { inTurns } from '../../runtime/lib/steps.ts'
import { decodeAnswer } from './decode.ts'
import { decodeDistributed, distributedQuery } from './distributed.ts'
import { join, type JoinOutcome } from './join.ts'
import type { AnswerPart } from './lists.ts'
import { nothingKnown, recordedValues, wholeValues, type KnownObjects } from './known.ts'
import { recordedQuery, wholeQuery } from './queries.ts'
import { ROWS } from './catalog-rows.ts'
import { asksForNesting, readSelfContained } from './self-contained.ts'
import type { Catalog } from './catalog.ts'

/**
 * Runs one statement as a role that may read pg_catalog, on any connection of a pool. A named one is repeated, so that
 * a connection may keep it prepared under that name.
 */
export type CatalogQuery = (
  text: string,
  values: unknown[],
  name?: string,
) => Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>

export interface ReadOptions {
  /** Schemas to serve, in order of precedence; missing ones are left out. */
  readonly schemas: readonly string[]
  /** SQL expression for the schema version (never a user's text), or null without a counter. */
  readonly version: string | null
  /**
   * SQL expression that counts the changes recorded in catalograph.schema_record; without it every read compares the
   * hashes of all relations.
   */
  readonly counter?: string
}

/** Reads a database once: see createCatalogReader. */
export const readCatalog = (query: CatalogQuery, options: ReadOptions): Promise<Catalog> =>
  createCatalogReader(query, options)()

/**
 * Creates a reader of one database: the first call reads everything, each further one the changes. Every result is the
 * complete state of the database, and unchanged objects are identical to the previous ones.
 *
 * Everything belongs to one statement and so to one snapshot, version included. Names and defaults are printed by
 * functions of Postgres that use the newest state instead, and fail if an object was dropped in the meantime. Then the
 * statement is run again: the change has been committed by then, so the next snapshot has it. Inside an open
 * transaction it leaves the search path empty.
 * @throws the errors of `query`; TypeError if the answer cannot be read. The known state is kept.
 */
export function createCatalogReader(
  query: CatalogQuery,
  { schemas, version, counter }: ReadOptions,
): () => Promise<Catalog> {
  const question = createQuestion(version, counter ?? null)
  const memo = createMemo()
  let known = nothingKnown
  const ask = async (): Promise<JoinOutcome> => {
    const asked = question(known)
    const { rows } = await query(asked.text, [schemas, ...asked.values], asked.name)
    const answer = await inTurns(decodeAnswer(answerParts(rows)))
    const joined = await inTurns(join(memo, asked.known, answer))
    if (joined.kind !== 'whole') return joined
    const placed = answer.distributes ? await withDistributed(query, joined.catalog) : joined.catalog
    return { ...joined, catalog: asksForNesting(placed) ? await withSelfContained(query, schemas, placed) : placed }
  }
  return async () => {
    for (let attempt = 1; ; attempt += 1) {
      const joined = await attempted(ask, attempt >= ATTEMPTS)
      if (joined === null) continue
      known = joined.known
      if (joined.kind === 'whole') return joined.catalog
    }
  }
}

/** Its snapshot is later: additional changes have a later version, for which the database is read again. */
async function withDistributed(query: CatalogQuery, catalog: Catalog): Promise<Catalog> {
  const { rows } = await query(distributedQuery, [])
  return rows.length === 0 ? catalog : { ...catalog, distributed: rows.map(decodeDistributed) }
}

/** Likewise. */
async function withSelfContained(query: CatalogQuery, schemas: readonly string[], catalog: Catalog): Promise<Catalog> {
  const selfContained = await readSelfContained(query, schemas)
  return selfContained.length === 0 ? catalog : { ...catalog, selfContained }
}

interface Question {
  readonly text: string
  /** For statements after each change: planning takes longer than running them. */
  readonly name?: string
  /** From $2 on. */
  readonly values: unknown[]
  /** The known state, to which its answer is joined. */
  readonly known: KnownObjects
}

const recordedName = 'catalograph.recorded'

/** Selects the statement: if changes are recorded, nothing is compared while the record is complete. */
function createQuestion(version: string | null, counter: string | null): (known: KnownObjects) => Question {
  const whole = wholeQuery(version, counter, 'made')
  const record =
    counter === null
      ? null
      : {
          first: wholeQuery(version, counter, 'left out'),
          text: recordedQuery(version, counter),
        }
  return (known) => {
    const { since } = known
    if (record !== null && since !== null)
      return { text: record.text, name: recordedName, values: recordedValues(known, since), known }
    if (record !== null && known === nothingKnown) return { text: record.first, values: wholeValues(known), known }
    return { text: whole, values: wholeValues(known), known: since === null ? known : { ...known, since: null } }
  }
}

const ATTEMPTS = 20

/** Null if a change overtook the answer and another attempt is left. */
async function attempted(ask: () => Promise<JoinOutcome>, last: boolean): Promise<JoinOutcome | null> {
  try {
    return await ask()
  } catch (error) {
    if (last || !isOvertaken(error)) throw error
    return null
  }
}

/**
 * `cache lookup failed for type 16423` is an internal_error (PostgreSQL manual, appendix A). For a type without a name
 * (format_type prints `???`) the decoder throws a TypeError.
 */
const isOvertaken = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && sqlstateOf(error) === 'XX000')

const sqlstateOf = (error: Error): unknown =>
  'sqlstate' in error ? error.sqlstate : 'code' in error ? error.code : null

const answerParts = (rows: readonly Readonly<Record<string, unknown>>[]): readonly AnswerPart[] =>
  rows.map(({ part, content }) => {
    if (typeof part !== 'string' || typeof content !== 'string')
      throw new TypeError('the catalogue query answered no text')
    if (part !== 'facts' && !Object.hasOwn(ROWS, part)) throw new TypeError(`the catalogue query answered ${part}`)
    return { part: part as AnswerPart['part'], content }
  })
