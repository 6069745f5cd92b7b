import type { BoundStatement, Caller, Condition, Exchange, PreparedText, Row, Standing } from '../contract/execution.ts'
import { createLru, type Lru } from '../lib/lru.ts'
import { sha256Hex } from '../lib/sha256.ts'
import { claimSettings, type ClaimSettings } from './claims.ts'
import { classify, classifyOpening, sqlstateOf } from './classify.ts'
import { sendStatements, type ExchangeResult, type Line, type Settle } from './exchange.ts'
import { counterOf, currentCall } from './version.ts'
import { writeValues, type SentStatement, type WrittenValues } from './wire.ts'

/**
 * What opens every request, in the same pipeline and transaction as its statements.
 *
 * `reset all` first: a function of the database may have set anything for the whole session, and only what is set
 * locally ends by itself. It restores what the startup packet asked for. It leaves `role` alone, so the role is always
 * set anew.
 */
const reset: BoundStatement = { name: 'catalograph.reset', text: 'reset all', values: [] }

/** $1 role, $2 claims, then each claim; after these 'on' for read-only. */
const fixedParameters = 2

const setting = (name: string, value: string): string => `pg_catalog.set_config('${name}', ${value}::text, true)`

/** Claims become settings of their own beside request.jwt.claims. Names are checked by claimSettings. */
const claimArms = (names: readonly string[]): string =>
  names.map((name, index) => `when ${setting(name, `$${fixedParameters + 1 + index}`)} is null then false`).join('\n  ')

/**
 * Claims, read-only mode and role, in this order: the arms of one CASE are evaluated in turn, where AND has no order that
 * one may rely on. The role comes last, since whatever precedes it needs no right that PUBLIC lacks. The result has no
 * columns: claims are not echoed.
 */
const openingText = (names: readonly string[]): string => `select where case
  ${claimArms(names)}
  when ${setting('request.jwt.claims', '$2')} is null then false
  when $${fixedParameters + names.length + 1}::text = 'on' and ${setting('transaction_read_only', `'on'`)} is null then false
  else ${setting('role', '$1')} is not null
end`

const preparedOpening = (names: readonly string[]): PreparedText => {
  const text = openingText(names)
  return { name: `catalograph.open.${sha256Hex(text).slice(0, 16)}`, text }
}

interface Opening {
  readonly prepared: PreparedText
  /** The role, the claims and each claim. */
  readonly written: WrittenValues
}

const noClaims: ClaimSettings = { names: [], values: [] }

const createOpening = ({ role, claims }: Caller, together: boolean): Opening => {
  const { names, values } = together ? noClaims : claimSettings(claims)
  return { prepared: preparedOpening(names), written: writeValues([role, claims, ...values]) }
}

interface Known {
  readonly role: string
  readonly together: boolean
  readonly opening: Opening
}

/** Of some two thousand callers at once. */
const keptBytes = 4_000_000

/** A caller asks again and again with the same claims: they are taken apart and written once. */
const openings = createLru<string, Known>(
  keptBytes,
  ({ opening }, claims) => claims.length + opening.written.bytes.length,
)

const openingOf = (caller: Caller, together: boolean): Opening => {
  const { role, claims } = caller
  const known = openings.get(claims)
  if (known?.role === role && known.together === together) return known.opening
  const opening = createOpening(caller, together)
  openings.set(claims, { role, together, opening })
  return opening
}

/**
 * The snapshots under which a connection last found a version right, by role, since each has a standing of its own, and by
 * role and condition.
 */
interface Seen {
  readonly version: string
  readonly snapshots: Map<string, string>
}

/** By connection, because another one may reach another server, where the same text means something else. */
const seen = new WeakMap<Line, Seen>()

const mostSeen = 1_000
const noSnapshot = ''

/** What a snapshot is remembered for; null: for nothing. No role's name holds a zero byte. */
const subjectOf = ({ role }: Caller, condition: Condition | undefined): string | null => {
  if (condition === undefined) return role
  return condition.lasting === null ? null : `${role}\0${condition.lasting}`
}

const snapshotOf = (line: Line, subject: string | null, version: string): string => {
  const last = seen.get(line)
  return (subject !== null && last?.version === version ? last.snapshots.get(subject) : undefined) ?? noSnapshot
}

const see = (line: Line, subject: string, version: string, snapshot: string): void => {
  const last = seen.get(line)
  const isRoom = last !== undefined && (last.snapshots.size < mostSeen || last.snapshots.has(subject))
  if (last?.version === version && isRoom) last.snapshots.set(subject, snapshot)
  else seen.set(line, { version, snapshots: new Map([[subject, snapshot]]) })
}

const opening = ({ caller, claimsTogether = false, readOnly }: Exchange): SentStatement => {
  const { prepared, written } = openingOf(caller, claimsTogether)
  return { name: prepared.name, text: prepared.text, written, values: [readOnly ? 'on' : 'off'] }
}

/**
 * The version check is a condition of the request's own statement, which Postgres evaluates once and before anything
 * else of it, under the statement's snapshot. That is taken when the statement is planned and its relations are locked:
 * what changes the schema either shows in this snapshot, and the statement fails and does nothing, or comes after all that
 * it reads.
 *
 * What two snapshots with the same text see is the same (manual 9.26.8): as long as no transaction that wrote anything
 * has ended since the version was last seen right on this connection, it still is, and finding that out costs a tenth
 * of looking.
 */
const snapshot = 'pg_catalog.pg_current_snapshot()::text'

/** @param tells whether its last column is a new snapshot */
const checkedText = ({ text, values }: BoundStatement, condition: Condition | undefined, tells: boolean): string => {
  const parameter = (place: number): string => `$${values.length + place}::text`
  const last = parameter(1)
  const look = currentCall(parameter(2), parameter(3), parameter(4))
  const other = condition === undefined ? `else ${look}` : `when ${look} then ${condition.sql(values.length + 5)}`
  const told = tells ? `, case when ${snapshot} = ${last} then null else ${snapshot} end` : ''
  return `${text}${told} where case when ${snapshot} = ${last} then true ${other} end`
}

/** What a statement is compared with. */
interface Expected {
  readonly snapshot: string
  readonly version: string
  readonly standing: Standing | undefined
  readonly condition: Condition | undefined
}

/** In characters, of some hundred statements that are asked again and again. */
const keptTexts = 1_000_000

/** By the names of the statements that they are made of, and the marks of their conditions. */
const createCarriers = (): Lru<string, PreparedText> => createLru(keptTexts, ({ text }) => text.length)
const reading = createCarriers()
const writing = createCarriers()

/** The statement together with the check, prepared under a name of its own. */
const carrierOf = (statement: BoundStatement, condition: Condition | undefined, tells: boolean): PreparedText => {
  const carriers = tells ? reading : writing
  const key = condition === undefined ? statement.name : statement.name + condition.mark
  const known = carriers.get(key)
  if (known !== undefined) return known
  const made = { name: `${key}${tells ? '.r' : '.w'}`, text: checkedText(statement, condition, tells) }
  carriers.set(key, made)
  return made
}

/** A statement that writes ends the snapshot that it has seen, so it does not tell it. */
const withCheck = (statement: BoundStatement, expected: Expected, tells: boolean): BoundStatement => {
  const { snapshot, version, standing, condition } = expected
  const { name, text } = carrierOf(statement, condition, tells)
  const values = [...statement.values, snapshot, version, standing?.holders ?? null, standing?.held ?? null]
  return { name, text, values: condition === undefined ? values : values.concat(condition.values), carriesCheck: true }
}

/** What the first statement is compared with. */
const expectedOf = (line: Line, { caller, condition }: Exchange, version: string, standing?: Standing): Expected => ({
  snapshot: snapshotOf(line, subjectOf(caller, condition), version),
  version: standing === undefined ? version : counterOf(version),
  standing,
  condition,
})

/** Where nothing else carries the check, which is then about everything. */
const bareCheck: BoundStatement = { name: 'catalograph.check', text: 'select null', values: [], carriesCheck: true }

const needsBareCheck = ({ version, statements }: Exchange): boolean =>
  version !== null && !statements.some(({ carriesCheck }) => carriesCheck)

/**
 * The statements of an exchange with their checks. From the second on they are compared by the counter alone: roles that
 * changed meanwhile may be the first one's own doing.
 */
const checked = (line: Line, exchange: Exchange): readonly BoundStatement[] => {
  const { version, standing, readOnly, statements } = exchange
  if (version === null) return statements
  if (needsBareCheck(exchange))
    return [...statements, withCheck(bareCheck, expectedOf(line, exchange, version), readOnly)]
  let expected = expectedOf(line, exchange, version, standing)
  return statements.map((statement) => {
    if (!statement.carriesCheck) return statement
    const carrying = withCheck(statement, expected, readOnly)
    const { snapshot } = expected
    expected = { snapshot, version: counterOf(version), standing: undefined, condition: undefined }
    return carrying
  })
}

/** What stands before the request's own statements: the reset, then the opening. */
const openingLength = 2

/** Keeps the snapshot that the first check told, where it is a new one. */
const remember = (
  line: Line,
  { caller, version, condition, readOnly }: Exchange,
  statements: readonly BoundStatement[],
  result: ExchangeResult,
): void => {
  if (version === null || !readOnly || result.kind !== 'rows') return
  const at = statements.findIndex(({ carriesCheck }) => carriesCheck)
  const told = result.rows[openingLength + at]?.[0]?.at(-1)?.toString()
  const subject = subjectOf(caller, condition)
  if (told !== undefined && subject !== null) see(line, subject, version, told)
}

/** Runs an exchange on a connection; a failure is a result, see sendStatements. */
export const runOnLine = (line: Line, exchange: Exchange, settle: Settle): void => {
  const statements = checked(line, exchange)
  sendStatements(line, [reset, opening(exchange), ...statements], (result) => {
    remember(line, exchange, statements, result)
    settle(result)
  })
}

const isStale = (error: unknown): boolean => sqlstateOf(error) === 'CG001'

/**
 * The rows of the exchange's own statements. Throws DatabaseFailure; an error after the last statement, at commit,
 * belongs to none of them.
 */
export const outcome = (exchange: Exchange, result: ExchangeResult): readonly Row[] => {
  const { statements } = exchange
  if (result.kind === 'rows') return statements.map((_, index) => result.rows[openingLength + index]?.[0] ?? [])
  const index = result.completed - openingLength
  const isOwn = index < 0 || (index === statements.length && needsBareCheck(exchange) && !exchange.condition)
  if (isOwn || isStale(result.error)) throw classifyOpening(result.error)
  throw classify(result.error, index < statements.length ? index : null)
}

/**
 * True after a failure of a statement that had not come to its check: parameters that do not fit may be about a type that
 * has changed.
 */
export const isUnchecked = ({ version, statements }: Exchange, result: ExchangeResult): boolean => {
  if (version === null || result.kind === 'rows' || result.broken || result.begun > result.completed) return false
  const index = result.completed - openingLength
  return index >= 0 && index < statements.length
}
