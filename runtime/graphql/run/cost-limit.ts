import type { BoundStatement, RunExchange } from '../../contract/execution.ts'
import { atStatement, DatabaseFailure } from '../../db/failures/failures.ts'
import { createTryingLru } from '../../lib/caches.ts'
import { costOf, plansOf } from './estimate.ts'
import { exchangeOf, type ExchangeContext } from './turn.ts'
import { refuse } from '../protocol/failures.ts'

/**
 * `limits.cost` (spec/graphql.md 17): Postgres' cost estimate for the statements of a document, before any of them
 * runs. It is requested once for each text and role, as the caller, because policies change plans.
 */
export interface Estimates {
  /**
   * The total cost of these statements, in whole units rounded up. Rejects with DatabaseFailure if Postgres cannot plan
   * one of them.
   * @param limit a higher cost is estimated again sooner
   */
  readonly cost: (
    run: RunExchange,
    asker: ExchangeContext,
    statements: readonly BoundStatement[],
    limit: number,
  ) => number | Promise<number>
}

interface Known {
  readonly cost: number
  /** When the estimate was last requested. */
  askedAt: number
}

/** Tables grow, autovacuum runs ANALYZE, and an index does not change the schema: no event reports any of them. */
const renewEveryMs = 600_000

/** An owner who adds the index that a refused document lacks should not wait as long. */
const renewRefusedEveryMs = 10_000

/** Some 200 bytes each. */
const mostKept = 20_000

/** @param now the clock, in milliseconds */
export function createEstimates(now: () => number): Estimates {
  const known = createTryingLru<string, Known>(mostKept)
  const renew = async (
    run: RunExchange,
    asker: ExchangeContext,
    statements: readonly BoundStatement[],
    outdated: number,
  ): Promise<number> => {
    const [wanted, costs] = [new Map<string, BoundStatement>(), new Map<string, number>()]
    const askedAt = now()
    for (const statement of statements) {
      const found = known.get(statement.name)
      if (found === undefined || found.askedAt <= outdated) wanted.set(statement.name, statement)
      else costs.set(statement.name, found.cost)
    }
    const old = [...wanted.keys()].flatMap((name) => known.get(name) ?? [])
    // Concurrent requests use the old estimates.
    for (const one of old) one.askedAt = askedAt
    const found = await askPostgres(run, asker, statements, wanted).catch((error: unknown) => {
      for (const one of old) one.askedAt = Number.NEGATIVE_INFINITY
      throw error
    })
    for (const [name, cost] of found) {
      costs.set(name, cost)
      known.set(name, { cost, askedAt })
    }
    return Math.ceil(statements.reduce((sum, { name }) => sum + (costs.get(name) ?? 0), 0))
  }
  return {
    cost: (run, asker, statements, limit) => {
      let [sum, oldest] = [0, Number.POSITIVE_INFINITY]
      for (const { name } of statements) {
        const { cost, askedAt } = known.get(name) ?? unknown
        sum += cost
        oldest = Math.min(oldest, askedAt)
      }
      const whole = Math.ceil(sum)
      const outdated = now() - (whole > limit ? renewRefusedEveryMs : renewEveryMs)
      return oldest <= outdated ? renew(run, asker, statements, outdated) : whole
    },
  }
}

const unknown: Known = { cost: 0, askedAt: Number.NEGATIVE_INFINITY }

/** The cost of each of the wanted statements; a failure has the index among all statements. */
async function askPostgres(
  run: RunExchange,
  asker: ExchangeContext,
  statements: readonly BoundStatement[],
  wanted: ReadonlyMap<string, BoundStatement>,
): Promise<readonly (readonly [name: string, cost: number])[]> {
  const names = [...wanted.keys()]
  try {
    const plans = await plansOf((parts) => run(exchangeOf(asker, true, parts)), [...wanted.values()])
    return names.map((name, index) => [name, costOf(plans[index] ?? '')] as const)
  } catch (error) {
    if (!(error instanceof DatabaseFailure) || error.statement === null) throw error
    const name = names[error.statement]
    throw atStatement(
      error,
      statements.findIndex((statement) => statement.name === name),
    )
  }
}

/** @throws Refusal */
export function checkCost(cost: number, limit: number): void {
  if (cost <= limit) return
  throw refuse(
    'COST_LIMIT_EXCEEDED',
    `The document is estimated to cost ${Number.isSafeInteger(cost) ? cost : 'more than 9007199254740991'}; at most ${limit} is allowed.`,
  )
}
