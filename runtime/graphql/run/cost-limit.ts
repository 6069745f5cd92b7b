import type { BoundStatement, RunExchange, ResultRow } from '../../contract/execution.ts'
import { atStatement, DatabaseFailure } from '../../db/failures/failures.ts'
import { createTryingLru } from '../../lib/caches.ts'
import { exchangeOf, type ExchangeContext } from './request-state.ts'
import { refuse } from '../protocol/failures.ts'
import { literal } from '../../sql/tree.ts'

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
  const renew = async (...[run, asker, statements, outdated]: Parameters<Estimates['cost']>): Promise<number> => {
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

/**
 * Postgres' estimate for statements with any parameters: EXPLAIN of the generic plan. None of them runs.
 *
 * PostgreSQL 16 has EXPLAIN (GENERIC_PLAN) for that, but in the extended protocol every parameter has a value, and the
 * planner takes that value for a constant. So all majors do what older ones need: PREPARE, whose parameters need no
 * value, and EXPLAIN EXECUTE while plan_cache_mode forces the generic plan, which ignores values.
 */

/** Prepared and deallocated within an exchange; after a failure in between, the next exchange deallocates it first. */
const preparedName = 'catalograph.estimate'

/** Until the end of the transaction. */
const genericPlans: BoundStatement = {
  name: 'catalograph.generic_plans',
  text: `select where pg_catalog.set_config('plan_cache_mode', 'force_generic_plan', true) is null`,
  values: [],
}

const once = (text: string): BoundStatement => ({ name: '', text, values: [] })

/** How a parameter is written if its value is ignored, or if null is not possible. */
type Write = (value: string | null) => string

const asNull: Write = () => 'null'
const asGiven: Write = (value) => (value === null ? 'null' : literal(value))

export interface PlanOptions {
  /** With the schemas of relations, and more. */
  readonly verbose?: boolean
}

const explainParts = ({ text, values }: BoundStatement, { verbose = false }: PlanOptions, write: Write) => {
  const options = verbose ? 'format json, verbose' : 'format json'
  const given = values.length === 0 ? '' : `(${values.map(write).join()})`
  return [
    { ...once(`prepare "${preparedName}" as ${text}`), closes: preparedName },
    once(`explain (${options}) execute "${preparedName}"${given}`),
    once(`deallocate "${preparedName}"`),
  ]
}

/** The indexes of a statement's parts in the exchange, and that of its EXPLAIN. */
const [before, parts, explains] = [1, 3, 1]

/** Runs our statements for a caller. */
type Send = (statements: readonly BoundStatement[]) => Promise<readonly ResultRow[]>

/**
 * The plans of statements as JSON text. Rejects with DatabaseFailure, with the index of the statement, if Postgres
 * cannot plan one of them.
 *
 * A domain may refuse null when its value is made: then the request's own values are used instead.
 */
export async function plansOf(
  send: Send,
  statements: readonly BoundStatement[],
  options: PlanOptions = {},
  write: Write = asNull,
): Promise<readonly string[]> {
  try {
    const rows = await send([
      genericPlans,
      ...statements.flatMap((statement) => explainParts(statement, options, write)),
    ])
    return statements.map((_, index) => rows[before + index * parts + explains]?.[0]?.toString() ?? '')
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error
    const part = (error.statement ?? 0) - before
    const isOfNull = write === asNull && error.kind === 'refused' && part >= 0 && part % parts === explains
    if (isOfNull && statements.every(isWritable)) return plansOf(send, statements, options, asGiven)
    throw atStatement(error, part < 0 ? null : Math.floor(part / parts))
  }
}

/** A Postgres text contains no zero byte; one in a statement would end it early. */
const isWritable = ({ values }: BoundStatement): boolean => values.every((value) => value?.includes('\0') !== true)

/**
 * The total cost of a plan: that of its topmost node, which comes first. Quotes in names are escaped in JSON, so no
 * name can be mistaken for it. The plan is not parsed, because the rest may be megabytes.
 */
export function costOf(plan: string): number {
  const [, cost] = /"Total Cost": ([\d.]+)/.exec(plan) ?? []
  return cost === undefined ? Number.POSITIVE_INFINITY : Number(cost)
}
