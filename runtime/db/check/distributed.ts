import type { BoundStatement, Caller, Exchange, RequestContext, RunExchange } from '../../contract/execution.ts'
import { literal } from '../../sql/tree.ts'
import { acrossShards, concernsNoRow } from '../failures/classify.ts'
import { atStatement, DatabaseFailure } from '../failures/failures.ts'
import type { SettingPairs } from '../connect/startup.ts'
import { writeRun, type WrittenStatement } from '../wire/wire.ts'
import { bareCheck } from './bare-check.ts'
import { claimSettings } from './claims.ts'

/**
 * Exchanges with a Citus coordinator, which forwards statements or parts of them to other servers as the current role:
 * these lack the schema catalograph, and receive settings only as SET LOCAL in a transaction block.
 */

/** SET takes no parameters: here values stand in the text, and each text is used for one caller, so that it has no name. */
const setting = (name: string, value: string): WrittenStatement =>
  writeRun({ name: '', text: `set local ${name} = ${literal(value)}`, values: [] })

/** A setting that a coordinator hands on what is set for a transaction. */
const enableForwarding = setting('citus.propagate_set_commands', 'local')

/** In a statement Postgres cuts longer names off (manual 4.1.1), so that one claim would pass for another. */
const longest = 63

const quoted = (name: string): string => `"${name}"`

/**
 * Hands the claims on, and settings of the connection that roles do not have everywhere.
 * @param together the claims are not set one by one
 */
export const forwardedSettings = (
  { claims }: Caller,
  together: boolean,
  ofConnection: SettingPairs,
): readonly WrittenStatement[] => {
  const { names, values } = together ? { names: [], values: [] } : claimSettings(claims)
  return [
    enableForwarding,
    ...ofConnection.map(([name, value]) => setting(name, value)),
    ...names.flatMap((name, index) => (name.length > longest ? [] : [setting(quoted(name), values[index] ?? '')])),
    setting(quoted('request.jwt.claims'), claims),
  ]
}

const withoutCheck = ({ name, text, values, closes }: BoundStatement): BoundStatement => ({
  name,
  text,
  values,
  ...(closes !== undefined && { closes }),
})

/**
 * The number of checks before the statements; one follows them, and its failure rolls all back. The statements were sent
 * after their version was read, so they saw no earlier one, and no later one if the check at the end passes. A condition
 * must hold before anything runs, and a standby may lag behind when it begins.
 */
const checksBefore = ({ condition }: Exchange, replays: boolean): 0 | 1 => (condition !== undefined || replays ? 1 : 0)

/** The checks as statements of their own. */
const checkedApart = (exchange: Exchange, before: 0 | 1): Exchange => ({
  ...exchange,
  statements: [...(before === 1 ? [bareCheck] : []), ...exchange.statements.map(withoutCheck), bareCheck],
})

const isApart = ({ distributed, version, statements }: Exchange): boolean =>
  distributed === true && version !== null && statements.length > 0

/** A failure of a statement between the checks, counted among those alone. */
const amongOwn = (error: unknown, { statements }: Exchange, before: 0 | 1): unknown => {
  if (!(error instanceof DatabaseFailure) || error.statement === null) return error
  const at = error.statement - before
  return acrossShards(atStatement(error, at < 0 || at >= statements.length ? null : at))
}

/** The exchange with the answer in the place of the statement that concerns no row; null: another failure. */
const withoutChange = (exchange: Exchange, failure: unknown): Exchange | null => {
  if (!(failure instanceof DatabaseFailure) || failure.statement === null || !concernsNoRow(failure.cause)) return null
  const { unchanged } = exchange.statements[failure.statement] ?? {}
  if (unchanged === undefined) return null
  const answer = { name: 'catalograph.unchanged', text: 'select $1::json as r', values: [unchanged] }
  return { ...exchange, statements: exchange.statements.with(failure.statement, answer) }
}

const isOfStatement = (failure: unknown): boolean => failure instanceof DatabaseFailure && failure.statement !== null

const runApart = async (
  run: RunExchange,
  replays: boolean,
  exchange: Exchange,
  context?: RequestContext,
): ReturnType<RunExchange> => {
  const before = checksBefore(exchange, replays)
  try {
    return (await run(checkedApart(exchange, before), context)).slice(before, -1)
  } catch (error) {
    const failure = amongOwn(error, exchange, before)
    const next = withoutChange(exchange, failure)
    if (next !== null) return runApart(run, replays, next, context)
    // It came before the check: the schema may have changed.
    if (before === 0 && isOfStatement(failure)) await run({ ...exchange, statements: [] }, context)
    throw failure
  }
}

/**
 * Runs exchanges of distributed databases with their checks apart, all others as they are.
 * @param replays the server is a standby
 */
export const checkingApart =
  (run: RunExchange, replays: boolean): RunExchange =>
  (exchange, context) =>
    isApart(exchange) ? runApart(run, replays, exchange, context) : run(exchange, context)
