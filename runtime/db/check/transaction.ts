import type { BoundStatement, Exchange, PreparedText, ResultRow } from '../../contract/execution.ts'
import { createLru, type Lru } from '../../lib/lru.ts'
import { sha256Hex } from '../../lib/sha256.ts'
import { bareCheck } from './bare-check.ts'
import { createAddCheck, type AddCheck, type Carrier, type Expected } from './check.ts'
import { claimSettings, type ClaimSettingLists } from './claims.ts'
import { handedOn } from './distributed.ts'
import { classify, classifyOpening, isOfWorker, sqlstateOf } from '../failures/classify.ts'
import {
  sendStatements,
  type Connection,
  type ExchangeResult,
  type Grow,
  type Pooled,
  type Settle,
} from '../wire/exchange.ts'
import type { MembershipProof } from './memberships.ts'
import type { SchemaMark } from './schema-marks.ts'
import type { RoleSettings } from './role-settings.ts'
import { counterOf } from './version.ts'
import { localArms, type SettingPairs } from '../connect/startup.ts'
import { writeRun, type SentStatement, type WrittenStatement } from '../wire/wire.ts'

/**
 * What opens every request, in the same pipeline and transaction as its statements.
 *
 * `reset all` first: a function of the database may have set a parameter for the whole session, and only local settings
 * end by themselves. It restores the values of the startup packet. It leaves `role` alone, so the role is always set
 * after it.
 */
export const resetAll = writeRun({ name: 'catalograph.reset', text: 'reset all', values: [] })

/** $1 role, $2 claims, then each claim. */
const fixedParameters = 2

const setting = (name: string, value: string): string => `pg_catalog.set_config('${name}', ${value}::text, true)`

/** Claims become settings of their own beside request.jwt.claims. Names are checked by claimSettings. */
const claimArms = (names: readonly string[]): string =>
  names.map((name, index) => `when ${setting(name, `$${fixedParameters + 1 + index}`)} is null then false`).join('\n  ')

/**
 * The role's settings, claims, which may replace them, read-only mode and role, in this order: Postgres evaluates the
 * arms of one CASE in turn, but not the operands of AND. The role comes last, since the arms before it need no right that
 * PUBLIC lacks. The result has no columns but the server's: claims are not echoed.
 */
const openingText = (
  settings: RoleSettings,
  names: readonly string[],
  readOnly: boolean,
  isLabelled: boolean,
): string => `select ${'tellsServer' in settings ? serverExpression : ''} where case
  ${localArms(settings.pairs)}
  ${claimArms(names)}
  ${isLabelled ? `when ${setting('application_name', `$${fixedParameters + 1 + names.length}`)} is null then false` : ''}
  when ${setting('request.jwt.claims', '$2')} is null then false
  ${readOnly ? `when ${setting('transaction_read_only', `'on'`)} is null then false` : ''}
  else ${setting('role', '$1')} is not null
end`

const preparedOpening = (
  settings: RoleSettings,
  names: readonly string[],
  readOnly: boolean,
  isLabelled: boolean,
): PreparedText => {
  const text = openingText(settings, names, readOnly, isLabelled)
  return { name: `catalograph.open.${sha256Hex(text).slice(0, 16)}`, text }
}

const noClaims: ClaimSettingLists = { names: [], values: [] }

/** Of a labelled one the label, its last value, is missing: it is of one request. */
const createOpening = (
  { caller: { role, claims }, claimsTogether: together = false, readOnly, label }: Exchange,
  settings: RoleSettings,
): BoundStatement => {
  const { names, values } = together ? noClaims : claimSettings(claims)
  const prepared = preparedOpening(settings, names, readOnly || settings.readOnly, label !== undefined)
  return { ...prepared, values: [role, claims, ...values] }
}

interface Known<T> {
  readonly role: string
  readonly settings: RoleSettings
  readonly together: boolean
  readonly opening: T
}

/** Of some two thousand callers at once. */
const keptBytes = 4_000_000

/** By claims: a caller sends the same ones with every request, so they are parsed and encoded once. */
interface OpeningsOfKind {
  readonly written: Lru<string, Known<WrittenStatement>>
  readonly labelled: Lru<string, Known<BoundStatement>>
  readonly handedOn: Lru<string, Known<readonly WrittenStatement[]>>
}

/** What opens an exchange, and what follows it where it is handed on to other servers. */
interface Opening {
  readonly statement: SentStatement
  readonly handedOn: readonly WrittenStatement[]
}

interface Openings {
  readonly reading: OpeningsOfKind
  readonly writing: OpeningsOfKind
}

const valuesLength = (values: BoundStatement['values']): number =>
  values.reduce((sum, value) => sum + (value?.length ?? 0), 0)

const openingsOfOneKind = (): OpeningsOfKind => ({
  written: createLru(keptBytes, ({ opening }, claims) => claims.length + opening.run.length),
  labelled: createLru(keptBytes, ({ opening }, claims) => claims.length + valuesLength(opening.values)),
  handedOn: createLru(keptBytes, ({ opening }, claims) =>
    opening.reduce((sum, { text, run }) => sum + text.length + run.length, claims.length),
  ),
})

function remembered<T>(
  openings: Lru<string, Known<T>>,
  { caller: { role, claims }, claimsTogether: together = false }: Exchange,
  settings: RoleSettings,
  create: () => T,
): T {
  const known = openings.get(claims)
  if (known?.role === role && known.settings === settings && known.together === together) return known.opening
  const opening = create()
  openings.set(claims, { role, settings, together, opening })
  return opening
}

const statementOf = (
  { written, labelled }: OpeningsOfKind,
  exchange: Exchange,
  settings: RoleSettings,
): SentStatement => {
  const { label } = exchange
  const create = (): BoundStatement => createOpening(exchange, settings)
  if (label === undefined) return remembered(written, exchange, settings, () => writeRun(create()))
  const { name, text, values } = remembered(labelled, exchange, settings, create)
  return { name, text, values: [...values, label] }
}

const openingOf = (
  { reading, writing }: Openings,
  exchange: Exchange,
  settings: RoleSettings,
  ofConnection: SettingPairs,
): Opening => {
  const { caller, claimsTogether = false, distributed = false } = exchange
  const openings = exchange.readOnly ? reading : writing
  const create = (): readonly WrittenStatement[] => handedOn(caller, claimsTogether, ofConnection)
  return {
    statement: statementOf(openings, exchange, settings),
    handedOn: distributed ? remembered(openings.handedOn, exchange, settings, create) : [],
  }
}

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

/** The snapshot under which a condition last held, and whether the check before it had the same one. */
type Lasting = Pick<Expected, 'snapshot' | 'steady'>

/** Facts about the server of a connection: the same texts may mean something else on another server. */
interface ConnectionFacts {
  /** Which one it is; null: a connection without a pooler has one server for its life. */
  readonly server: string | null
  /** The mark under which the counter was last found equal. */
  mark: SchemaMark | null
  /** Of lasting conditions, by version, role and condition. */
  readonly lasting: Lru<string, Lasting>
}

/** All connections to one pooler share theirs. */
const facts = new WeakMap<Connection | Pooled, ConnectionFacts>()

const subjectOfFacts = (connection: Connection): Connection | Pooled => connection.pooled ?? connection

const mostLasting = 1_000
const never: Lasting = { snapshot: '', steady: false }

const newFacts = (connection: Connection, server: string | null): ConnectionFacts => {
  const made: ConnectionFacts = { server, mark: null, lasting: createLru<string, Lasting>(mostLasting) }
  facts.set(subjectOfFacts(connection), made)
  return made
}

const knownFacts = (connection: Connection): ConnectionFacts | undefined => facts.get(subjectOfFacts(connection))
const factsOf = (connection: Connection): ConnectionFacts => knownFacts(connection) ?? newFacts(connection, null)

/** The key of a remembered snapshot; null: none is remembered. Neither a version nor the name of a role contains a zero byte. */
const subjectOf = ({ caller, condition, version }: Exchange): string | null =>
  condition === undefined || condition.lasting === null ? null : `${version}\0${caller.role}\0${condition.lasting}`

/** The value of the mark to compare with on this connection; null: the check compares the counter. */
const schemaMarkFor = (connection: Connection, mark: SchemaMark | null, counter: string): string | null =>
  mark !== null && mark.counter === counter && knownFacts(connection)?.mark === mark ? mark.value : null

const lastingFor = (connection: Connection, exchange: Exchange): Lasting => {
  const subject = subjectOf(exchange)
  return (subject === null ? undefined : knownFacts(connection)?.lasting.get(subject)) ?? never
}

/** What is known of the database as an exchange is sent; it may be outdated. */
export interface Evidence {
  readonly mark: SchemaMark | null
  /** Of the exchange's privileges. */
  readonly proof: MembershipProof | null
}

/** What a request may compare instead of the counter. Each time that it has changed, the request runs again and relies on less. */
export type Reliance = 'on the snapshot' | 'on the mark' | 'on nothing'

const needsBareCheck = ({ version, statements }: Exchange): boolean =>
  version !== null && !statements.some(({ carriesCheck }) => carriesCheck)

/**
 * That a pooler has moved to another server is found out afterwards, which is too late for what writes. What relied on the one
 * before runs again, and relies on no server the last time: there may be two of them by turns.
 */
const mayRely = ({ pooled }: Connection, { version, readOnly }: Exchange, reliance: Reliance): boolean =>
  pooled === null || (version !== null && readOnly && reliance !== 'on nothing')

/**
 * The statements of an exchange with their checks. From the second one on a check compares the counter alone, since the
 * first statement may have changed roles itself.
 */
const checked = (
  addCheck: AddCheck,
  connection: Connection,
  exchange: Exchange,
  { mark: newest, proof }: Evidence,
  reliance: Reliance,
): readonly Carrier[] => {
  const { version, privileges, condition, readOnly, statements } = exchange
  if (version === null) return statements
  const counter = counterOf(version)
  const relies = mayRely(connection, exchange, reliance)
  const { snapshot, steady } = relies ? lastingFor(connection, exchange) : never
  const onSnapshot = steady && reliance === 'on the snapshot'
  const unproven = { privileges: undefined, proof: null }
  const whole: Expected = { version, mark: null, ...unproven, condition, snapshot, steady: false }
  if (needsBareCheck(exchange)) return [...statements, addCheck(bareCheck, whole, readOnly)]
  const mark = reliance === 'on nothing' || !relies ? null : schemaMarkFor(connection, newest, counter)
  let expected: Expected =
    privileges === undefined
      ? whole
      : { version: counter, mark, privileges, proof, condition, snapshot, steady: onSnapshot }
  return statements.map((statement) => {
    if (!statement.carriesCheck) return statement
    const carrier = addCheck(statement, expected, readOnly)
    expected = { version: counter, mark, ...unproven, condition: undefined, ...never }
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
  { statement: opening, handedOn: more }: Opening,
  own: readonly Carrier[],
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

/**
 * Remembers that the counter is that of the server, and the snapshot of the first check, if it returned one.
 */
const remember = (
  connection: Connection,
  exchange: Exchange,
  newest: SchemaMark | null,
  statements: readonly Carrier[],
  result: ExchangeResult,
): void => {
  const { version } = exchange
  if (version === null || result.kind !== 'rows' || isOutdated(exchange, result)) return
  if (newest !== null && newest.counter === counterOf(version)) factsOf(connection).mark = newest
  const at = statements.findIndex(({ returnsSnapshot }) => returnsSnapshot)
  const subject = at === -1 ? null : subjectOf(exchange)
  if (subject === null) return
  const snapshot = rowsOf(exchange, result.rows, at)?.[0]?.at(-1)?.toString()
  const { lasting } = factsOf(connection)
  if (snapshot !== undefined) lasting.set(subject, { snapshot, steady: false })
  else lasting.set(subject, { ...lastingFor(connection, exchange), steady: true })
}

/**
 * Runs an exchange on a connection; a failure is a result, see sendStatements.
 * @param settings of the caller's role
 */
export type RunOnConnection = (
  connection: Connection,
  exchange: Exchange,
  settings: RoleSettings,
  evidence: Evidence,
  reliance: Reliance,
  settle: Settle,
  grow?: Grow | null,
) => void

/** Behind a pooler any transaction may be on another server than the one before: its opening tells when that one started. */
const serverExpression = "pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())"

interface PooledSettings extends RoleSettings {
  readonly tellsServer: true
}

/** The settings of a role, after those that a transaction behind a pooler sets for itself. */
const createPooledSettings = (): ((pooled: Pooled, settings: RoleSettings) => PooledSettings) => {
  const made = new WeakMap<RoleSettings, PooledSettings>()
  return (pooled, settings) => {
    const known = made.get(settings)
    if (known !== undefined) return known
    const whole = { ...settings, pairs: [...pooled.settings, ...settings.pairs], tellsServer: true } as const
    made.set(settings, whole)
    return whole
  }
}

/**
 * It remembers the openings of callers and the texts of statements with their checks.
 * @param ofConnection settings of the connections that other servers need to have as well
 */
export const createRunOnConnection = (ofConnection: SettingPairs = []): RunOnConnection => {
  const openings = { reading: openingsOfOneKind(), writing: openingsOfOneKind() }
  const addCheck = createAddCheck()
  const pooledSettings = createPooledSettings()
  return (connection, exchange, settings, evidence, reliance, settle, grow = null) => {
    const { pooled } = connection
    const statements = checked(addCheck, connection, exchange, evidence, reliance)
    const relied = mayRely(connection, exchange, reliance) ? (knownFacts(connection)?.server ?? null) : null
    const remembering: Settle = (given) => {
      const result = pooled === null ? given : onServer(connection, relied, given)
      remember(connection, exchange, evidence.mark, statements, result)
      settle(result)
    }
    const opening = openingOf(
      openings,
      exchange,
      pooled === null ? settings : pooledSettings(pooled, settings),
      ofConnection,
    )
    const sent = sentOf(exchange, opening, statements)
    const left = pooled !== null && exchange.leaves?.session === true ? leftBehind : []
    if (left.length > 0 || exchange.distributed === true)
      sendInBlock(connection, sent, { uncounted: opening.handedOn, left }, remembering, grow)
    else sendStatements(connection, sent, remembering, grow)
  }
}

/**
 * The result, without the rows of what relied on facts about another server, so that it counts as outdated.
 * @param relied null: it relied on none
 */
const onServer = (connection: Connection, relied: string | null, result: ExchangeResult): ExchangeResult => {
  if (result.kind !== 'rows') return result
  const server = result.rows[openingLength - 1]?.[0]?.[0]?.toString() ?? null
  if (knownFacts(connection)?.server !== server) newFacts(connection, server)
  const isReliable = relied === server || relied === null
  return isReliable ? result : { kind: 'rows', rows: result.rows.map(() => []) }
}

/**
 * Removes what a session keeps beyond its transactions: temporary tables (manual, DISCARD) and advisory locks (manual
 * 9.28.10). It runs after the transaction, so that a lock holds until the commit.
 */
const leftBehind: readonly WrittenStatement[] = [
  writeRun({ name: 'catalograph.discard', text: 'discard temp', values: [] }),
  writeRun({ name: 'catalograph.unlock', text: 'select pg_catalog.pg_advisory_unlock_all()', values: [] }),
]

/** Called with whether the connection is spoilt. Behind a pooler nothing is left by now. */
export const takeBack = (connection: Connection, settle: (spoilt: boolean) => void): void =>
  connection.pooled === null
    ? sendStatements(connection, leftBehind, ({ kind }) => settle(kind === 'failed'))
    : settle(false)

export const begin = writeRun({ name: 'catalograph.begin', text: 'begin', values: [] })
export const commit = writeRun({ name: 'catalograph.commit', text: 'commit', values: [] })
export const rollback = writeRun({ name: 'catalograph.rollback', text: 'rollback', values: [] })

/** What goes with the statements of a block and is none of theirs. */
interface Block {
  readonly uncounted: readonly SentStatement[]
  /** What takes back what is left behind. */
  readonly left: readonly SentStatement[]
}

/**
 * In an explicit transaction. Behind a pooler the backend belongs to whoever is next as soon as it is ready, so what is left on
 * it is taken back in the same exchange, after the commit; a transaction that failed and was not rolled back keeps its backend.
 */
const sendInBlock = (
  connection: Connection,
  statements: readonly SentStatement[],
  { uncounted, left }: Block,
  settle: Settle,
  grow: Grow | null,
): void => {
  const sent = [begin, ...statements, commit, ...left]
  const others = new Set([begin, commit, ...left, ...uncounted])
  const settleOwn: Settle = (result) => {
    const own = resultOf(result, (place) => !others.has(sent[place] ?? commit))
    if (result.kind === 'rows' || result.broken) settle(own)
    else sendStatements(connection, [rollback, ...left], () => settle(own))
  }
  sendStatements(connection, sent, settleOwn, grow)
}

/** The result as if only the statements at these places had been sent. */
const resultOf = (result: ExchangeResult, isOwn: (place: number) => boolean): ExchangeResult => {
  if (result.kind === 'rows') return { ...result, rows: result.rows.filter((_, place) => isOwn(place)) }
  const ownOf = (count: number): number =>
    Array.from({ length: count }, (_, place) => isOwn(place)).filter(Boolean).length
  return { ...result, begun: ownOf(result.begun), completed: ownOf(result.completed) }
}

/** True where a statement relied on a mark or snapshot that has changed, and so returned no row: the exchange has no result. */
export const isOutdated = (exchange: Exchange, result: ExchangeResult): boolean => {
  const { version, readOnly, statements } = exchange
  if (version === null || !readOnly || result.kind !== 'rows') return false
  return statements.some(
    ({ carriesCheck }, index) => carriesCheck && rowsOf(exchange, result.rows, index)?.length === 0,
  )
}

const isStale = (error: unknown): boolean => sqlstateOf(error) === 'CG001'

/**
 * The rows of the exchange's own statements. Throws DatabaseFailure; an error after the last statement, at commit,
 * belongs to none of them.
 */
export const outcome = (exchange: Exchange, result: ExchangeResult): readonly ResultRow[] => {
  const { statements } = exchange
  if (result.kind === 'rows') return statements.map((_, index) => rowsOf(exchange, result.rows, index)?.[0] ?? [])
  const index = placeOf(exchange, result.completed)
  const isOwn = index < 0 || (index === statements.length && needsBareCheck(exchange) && !exchange.condition)
  if (isOwn || isStale(result.error)) throw classifyOpening(result.error)
  throw classify(result.error, index < statements.length ? index : null)
}

/**
 * True after a failure of a statement before its check: if parameters do not fit, a type may have changed; and what another server
 * does (Citus) comes before what is compared here.
 */
export const isUnchecked = (exchange: Exchange, result: ExchangeResult): boolean => {
  const { version, statements } = exchange
  if (version === null || result.kind === 'rows' || result.broken) return false
  if (result.begun > result.completed && !isOfWorker(result.error)) return false
  const index = placeOf(exchange, result.completed)
  return index >= 0 && index < statements.length
}
