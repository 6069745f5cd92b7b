import type { BoundStatement, ResultRow } from '../../contract/execution.ts'
import { atStatement, DatabaseFailure } from '../../db/failures/failures.ts'
import { literal } from '../../sql/literal.ts'

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

const partsOf = ({ text, values }: BoundStatement, { verbose = false }: PlanOptions, write: Write) => {
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
export type Send = (statements: readonly BoundStatement[]) => Promise<readonly ResultRow[]>

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
    const rows = await send([genericPlans, ...statements.flatMap((statement) => partsOf(statement, options, write))])
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
