import { DatabaseFailure } from '../../db/failures/failures.ts'
import { retries } from '../../lib/retry.ts'
import { withinStack } from '../operation/stack.ts'
import { isOfSchema } from '../protocol/failures.ts'
import type { GraphqlResponse } from '../protocol/types.ts'
import type { EngineCell, Running } from './cell.ts'
import { exchangeOf } from './exchange.ts'
import { toFailure } from './response.ts'
import type { Turn } from './turn.ts'

/** What a request does about a schema that changes under it: it begins again, and refuses nothing on the old one's word. */

/** The last attempt met a schema that is gone. */
const keptChanging = new DatabaseFailure('stale', 'the schema kept changing', null, null)

/** Answers by attempts, each on a newer engine, until one of them does not fail for its schema. Never rejects for a failure. */
export async function againOnNewerSchema<L extends Running, T>(
  cell: EngineCell<L>,
  begin: (isFirst: boolean) => Promise<Turn<L>>,
  answer: (turn: Turn<L>) => Promise<T>,
): Promise<T | GraphqlResponse> {
  for (let attempt = 1; ; attempt += 1) {
    let turn: Turn<L> | null = null
    try {
      turn = await begin(attempt === 1)
      return await answer(turn)
    } catch (error) {
      const again = await deservesAnother(cell, turn, error).catch((failure: unknown) => ({ failure }))
      if (typeof again === 'object') return toFailure(again.failure, null)
      if (!again) return toFailure(error, turn?.outline ?? null)
      if (attempt >= retries.newerSchema.attempts) return toFailure(keptChanging, null)
    }
  }
}

/**
 * Whether a request that failed may fare better on another engine. All that it did was undone, so it can begin again.
 * Rejects when the newest engine cannot be had.
 */
async function deservesAnother<L extends Running>(
  cell: EngineCell<L>,
  turn: Turn<L> | null,
  error: unknown,
): Promise<boolean> {
  if (turn === null) return false
  const { loaded } = turn
  if (error instanceof DatabaseFailure && error.kind === 'stale') {
    await cell.after(loaded)
    return true
  }
  if (!speaksOfSchema(error, loaded.engine)) return false
  const newest: L = await cell.look().catch(() => loaded)
  return newest.engine !== loaded.engine
}

/**
 * Errors that a change of the schema brings about when it comes between a request's check of the version and its
 * statements: unknown or altered objects, missing privileges, changed results (PostgreSQL manual, appendix A). Where no
 * request checks the version, a refusal of our own may be as outdated, and a file that is gone may have given way to newer ones.
 */
const speaksOfSchema = (error: unknown, { version }: Running['engine']): boolean =>
  error instanceof DatabaseFailure
    ? error.sqlstate !== null && schemaClasses.has(error.sqlstate.slice(0, 2))
    : isOfSchema(error) && (version === null || error.code === 'DOCUMENT_DAMAGED')

const schemaClasses: ReadonlySet<string> = new Set(['0A', '3F', '42', 'XX'])

/**
 * Does work that may refuse the request. A refusal speaks about the schema, so it has to be about the schema of now: before
 * it is given, the version and the role are checked as they are for every other request.
 */
export async function refusedByNow<T>(turn: Turn<Running>, work: () => T | Promise<T>): Promise<T> {
  try {
    return await withinStack(work)
  } catch (error) {
    if (isOfSchema(error)) await checkVersion(turn)
    throw error
  }
}

/** Rejects where the schema is another one, and where that cannot be known: a later attempt may be answered. */
async function checkVersion({ run, asker }: Turn<Running>): Promise<void> {
  await run(exchangeOf(asker, true, []))
}
