import type { BoundStatement, Exchange, ResultRow } from '../../contract/execution.ts'
import { bareCheck } from './bare-check.ts'
import { sessionCleanup, sendInBlock } from './block.ts'
import { createAddCheck, type AddCheck, type Expected } from './check.ts'
import { classify, classifyOpening, isOfWorker, sqlstateOf } from '../failures/classify.ts'
import { DatabaseFailure } from '../failures/failures.ts'
import {
  sendStatements,
  type Connection,
  type ExchangeResult,
  type Grow,
  type Pooled,
  type Settle,
} from '../wire/exchange.ts'
import { createOpenings, resetAll, type TransactionOpening } from './opening.ts'
import type { SchemaMark } from './schema-marks.ts'
import type { RoleSettings } from './role-settings.ts'
import { counterOf } from './version.ts'
import type { SettingPairs } from '../connect/startup.ts'
import { writeRun, type SentStatement } from '../wire/wire.ts'

/**
 * A request's transaction: its opening, its statements with the check of the schema among them, and their outcome.
 *
 *   SchemaMarks.newest ─> markToCompare: the mark, if it held on this connection before; null for writes behind a pooler
 *   exchange ─> resetAll, opening (createOpenings: settings, claims, role), statements (createAddCheck)
 *     statement that reads, mark    where mark = $1                            no row: 'outdated'
 *     other that carriesCheck       where mark = $1 or catalograph.current()   raises CG001
 *     none that carriesCheck        bareCheck behind them: the whole version   raises CG001
 *   result ─> settleHere ─> outcome
 *     rows         factsOf(connection).mark = newest, if the counter was compared: the next one may rely on it
 *     'outdated'   or CG001, or another server than the mark's: DatabaseFailure 'stale'; by mark: SchemaMarks.invalidate
 */

/**
 * Between the statements of a writing exchange whose functions may leave settings behind: as `resetAll`, but that this
 * transaction changed the schema itself (version.ts) is still known, and so is what a statement hands to later ones.
 */
const resetBetween = writeRun({
  name: 'catalograph.between',
  text: `do $$
declare
  changed text := pg_catalog.current_setting('catalograph.changed', true);
  written text := pg_catalog.current_setting('catalograph.written', true);
begin
  reset all;
  perform pg_catalog.set_config('catalograph.changed', coalesce(changed, ''), true);
  perform pg_catalog.set_config('catalograph.written', coalesce(written, ''), true);
end $$`,
  values: [],
})

/** Facts about the server of a connection: the same mark may mean something else on another server. */
interface ServerFacts {
  /** Which one it is; null: a connection without a pooler has one server for its life. */
  readonly server: string | null
  /** The mark under which the counter was last found equal. */
  mark: SchemaMark | null
}

/** All connections to one pooler share theirs. */
const facts = new WeakMap<Connection | Pooled, ServerFacts>()

const setFacts = (connection: Connection, server: string | null): ServerFacts => {
  const learned: ServerFacts = { server, mark: null }
  facts.set(connection.pooled ?? connection, learned)
  return learned
}

const factsOf = (connection: Connection): ServerFacts =>
  facts.get(connection.pooled ?? connection) ?? setFacts(connection, null)

const belongsTo = ({ counter }: SchemaMark, version: string): boolean => counterOf(version) === counter

/**
 * The mark to compare with on this connection; null: the check compares the counter. That a pooler has moved to another server is
 * found out afterwards, which is too late for what writes.
 * @param newest the mark that is known as the exchange is sent; it may be outdated
 */
const markToCompare = (
  connection: Connection,
  { version, readOnly, privileges }: Exchange,
  newest: SchemaMark | null,
): SchemaMark | null => {
  if (newest === null || version === null || privileges === undefined) return null
  if (connection.pooled !== null && !readOnly) return null
  return factsOf(connection).mark === newest && belongsTo(newest, version) ? newest : null
}

const needsBareCheck = ({ version, statements }: Exchange): boolean =>
  version !== null && !statements.some(({ carriesCheck }) => carriesCheck)

/**
 * The statements of an exchange with their checks. From the second one on a check compares the counter alone, since the
 * first statement may have changed roles itself.
 */
const checked = (addCheck: AddCheck, exchange: Exchange, relied: SchemaMark | null): readonly BoundStatement[] => {
  const { version, privileges, condition, readOnly, statements } = exchange
  if (version === null) return statements
  const whole: Expected = { version, mark: null, privileges: undefined, condition }
  if (needsBareCheck(exchange)) return [...statements, addCheck(bareCheck, whole, readOnly)]
  const counter = counterOf(version)
  const mark = relied === null ? null : relied.value
  let expected: Expected = privileges === undefined ? whole : { version: counter, mark, privileges, condition }
  return statements.map((statement) => {
    if (!statement.carriesCheck) return statement
    const carrier = addCheck(statement, expected, readOnly)
    expected = { version: counter, mark, privileges: undefined, condition: undefined }
    return carrier
  })
}

/** The reset and the opening, before the request's own statements. */
const openingLength = 2

const reopens = ({ leaves, readOnly, statements }: Exchange): boolean =>
  leaves?.settings === true && !readOnly && statements.length > 1

/** The distance between two of the exchange's own statements: a reset and an opening may stand between them. */
const strideOf = (exchange: Exchange): number => (reopens(exchange) ? 1 + openingLength : 1)

/** All statements that are sent: those that open the exchange, then its own. */
const sentOf = (
  exchange: Exchange,
  { statement: opening, forwarded: more }: TransactionOpening,
  own: readonly BoundStatement[],
): readonly SentStatement[] =>
  reopens(exchange)
    ? own.flatMap((statement, index) => [index === 0 ? resetAll : resetBetween, opening, ...more, statement])
    : [resetAll, opening, ...more, ...own]

const rowsOf = (
  exchange: Exchange,
  rows: readonly (readonly ResultRow[])[],
  index: number,
): readonly ResultRow[] | undefined => rows[openingLength + index * strideOf(exchange)]

/** The index of the own statement that ran last, by the number of all that completed; below 0: none yet. */
const placeOf = (exchange: Exchange, completed: number): number =>
  completed < openingLength ? -1 : Math.ceil((completed - openingLength) / strideOf(exchange))

/** `outdated`: the schema, or the mark that it was compared with, has changed, and nothing was kept. */
export type TransactionResult = ExchangeResult | { readonly kind: 'outdated'; readonly by: 'mark' | 'counter' }

const outdated = { kind: 'outdated', by: 'mark' } as const
const outdatedByCounter = { kind: 'outdated', by: 'counter' } as const

/**
 * Runs an exchange on a connection; a failure is a result, see sendStatements.
 * @param settings of the caller's role
 * @param newest the newest mark that is known
 */
export type RunOnConnection = (
  connection: Connection,
  exchange: Exchange,
  settings: RoleSettings,
  newest: SchemaMark | null,
  settle: (result: TransactionResult) => void,
  grow?: Grow | null,
) => void

/**
 * It remembers the openings of callers and the texts of statements with their checks.
 * @param ofConnection settings of the connections that other servers need to have as well
 */
export const createRunOnConnection = (ofConnection: SettingPairs = []): RunOnConnection => {
  const openingOf = createOpenings(ofConnection)
  const addCheck = createAddCheck()
  return (connection, exchange, settings, newest, settle, grow = null) => {
    const { pooled } = connection
    const { version } = exchange
    const relied = markToCompare(connection, exchange, newest)
    const server = relied === null ? null : factsOf(connection).server
    const settleHere: Settle = (result) => {
      if (result.kind === 'failed') return settle(isStale(result) ? outdatedByCounter : result)
      if (pooled !== null && !isOnServer(connection, server, result.rows)) return settle(outdated)
      if (relied !== null) return settle(isOutdated(exchange, result.rows) ? outdated : result)
      if (newest !== null && version !== null && belongsTo(newest, version)) factsOf(connection).mark = newest
      return settle(result)
    }
    const opening = openingOf(exchange, settings, pooled)
    const sent = sentOf(exchange, opening, checked(addCheck, exchange, relied))
    const cleanup = pooled !== null && exchange.leaves?.session === true ? sessionCleanup : []
    if (cleanup.length > 0 || exchange.distributed === true)
      sendInBlock(connection, sent, { uncounted: opening.forwarded, cleanup }, settleHere, grow)
    else sendStatements(connection, sent, settleHere, grow)
  }
}

/** True where a statement compared a mark that has changed, and so returned no row; one that writes compares the counter then. */
const isOutdated = (exchange: Exchange, rows: readonly (readonly ResultRow[])[]): boolean =>
  exchange.readOnly &&
  exchange.statements.some(({ carriesCheck }, index) => carriesCheck && rowsOf(exchange, rows, index)?.length === 0)

/**
 * Whether it ran on the server whose mark it relied on.
 * @param expected null: it relied on none
 */
const isOnServer = (
  connection: Connection,
  expected: string | null,
  rows: readonly (readonly ResultRow[])[],
): boolean => {
  const server = rows[openingLength - 1]?.[0]?.[0]?.toString() ?? null
  if (factsOf(connection).server !== server) setFacts(connection, server)
  return expected === server || expected === null
}

const isStale = ({ broken, error }: Extract<ExchangeResult, { kind: 'failed' }>): boolean =>
  !broken && sqlstateOf(error) === 'CG001'

/** The rows of the exchange's own statements. @throws DatabaseFailure; at commit it belongs to no statement. */
export const outcome = (exchange: Exchange, result: TransactionResult): readonly ResultRow[] => {
  const { statements } = exchange
  if (result.kind === 'rows') return statements.map((_, index) => rowsOf(exchange, result.rows, index)?.[0] ?? [])
  if (result.kind === 'outdated') throw new DatabaseFailure('stale', 'the schema has changed', null, null)
  const index = placeOf(exchange, result.completed)
  const isOwn = index < 0 || (index === statements.length && needsBareCheck(exchange) && !exchange.condition)
  if (isOwn) throw classifyOpening(result.error)
  throw classify(result.error, index < statements.length ? index : null)
}

/**
 * True after a failure of a statement before its check: if parameters do not fit, a type may have changed; and what another server
 * does (Citus) comes before what is compared here.
 */
export const isUnchecked = (exchange: Exchange, result: TransactionResult): boolean => {
  const { version, statements } = exchange
  if (version === null || result.kind !== 'failed' || result.broken) return false
  if (result.begun > result.completed && !isOfWorker(result.error)) return false
  const index = placeOf(exchange, result.completed)
  return index >= 0 && index < statements.length
}
