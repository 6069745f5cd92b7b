import type { BoundStatement, Caller, Exchange, PreparedText, Row } from '../contract/execution.ts'
import { createLru } from '../lib/lru.ts'
import { sha256Hex } from '../lib/sha256.ts'
import { claimSettings } from './claims.ts'
import { classify, classifyOpening, sqlstateOf } from './classify.ts'
import { sendStatements, type ExchangeResult, type Line, type Settle } from './exchange.ts'
import { counterCall, versionCall } from './version.ts'
import { writeValues, type SentStatement, type WrittenValues } from './wire.ts'

/**
 * What opens every request, in the same pipeline and transaction as its statements.
 *
 * `reset all` first: a function of the database may have set anything for the whole session, and only what is set
 * locally ends by itself. It restores what the startup packet asked for. It leaves `role` alone, so the role is always
 * set anew.
 */
const reset: BoundStatement = { name: 'catalograph.reset', text: 'reset all', values: [] }

/** $1 role, $2 claims, then each claim; after these 'on' for read-only, then what the guard needs, where there is one. */
const fixedParameters = 2

const setting = (name: string, value: string): string => `pg_catalog.set_config('${name}', ${value}::text, true)`

/** Claims become settings of their own beside request.jwt.claims. Names are checked by claimSettings. */
const claimArms = (names: readonly string[]): string =>
  names.map((name, index) => `when ${setting(name, `$${fixedParameters + 1 + index}`)} is null then false`).join('\n  ')

/**
 * The version check. What two snapshots with the same text see is the same (manual 9.26.8): as long as no transaction
 * that wrote anything has ended since the version was last seen right on this connection, it still is, and finding that out costs a
 * tenth of looking. The closing check starts from this snapshot.
 */
const guardArms = (version: string, snapshot: string): string => `when case when s = ${snapshot}::text then false
    else ${versionCall} <> ${version}::text end then catalograph.stale(${versionCall})
  when ${setting('catalograph.snapshot', 's')} is null then false`

/**
 * Version check, claims, read-only mode and role, in this order: the arms of one CASE are evaluated in turn, where AND
 * has no order that one may rely on. The role comes last, since whatever precedes it needs no right that PUBLIC lacks.
 * The result is the snapshot, or has no columns: claims are not echoed.
 */
const openingText = (guarded: boolean, names: readonly string[]): string => {
  const readOnly = fixedParameters + names.length + 1
  return `select ${guarded ? 's from (select pg_catalog.pg_current_snapshot()::text as s offset 0) x' : ''}
where case
  ${guarded ? guardArms(`$${readOnly + 1}`, `$${readOnly + 2}`) : ''}
  ${claimArms(names)}
  when ${setting('request.jwt.claims', '$2')} is null then false
  when $${readOnly}::text = 'on' and ${setting('transaction_read_only', `'on'`)} is null then false
  else ${setting('role', '$1')} is not null
end`
}

const preparedOpening = (guarded: boolean, names: readonly string[]): PreparedText => {
  const text = openingText(guarded, names)
  return { name: `catalograph.open.${sha256Hex(text).slice(0, 16)}`, text }
}

interface Opening {
  readonly guarded: PreparedText
  readonly plain: PreparedText
  /** The role, the claims and each claim. */
  readonly written: WrittenValues
}

const createOpening = ({ role, claims }: Caller): Opening => {
  const { names, values } = claimSettings(claims)
  const written = writeValues([role, claims, ...values])
  return { guarded: preparedOpening(true, names), plain: preparedOpening(false, names), written }
}

interface Known {
  readonly role: string
  readonly opening: Opening
}

/** Of some two thousand callers at once. */
const keptBytes = 4_000_000

/** A caller asks again and again with the same claims: they are taken apart and written once. */
const openings = createLru<string, Known>(keptBytes, ({ opening }, claims) => claims.length + opening.written.bytes.length)

const openingOf = (caller: Caller): Opening => {
  const { role, claims } = caller
  const known = openings.get(claims)
  if (known?.role === role) return known.opening
  const opening = createOpening(caller)
  openings.set(claims, { role, opening })
  return opening
}

/** The snapshot under which a connection last found the version right. */
interface Seen {
  readonly version: string
  readonly snapshot: string
}

/** By connection, because another one may reach another server, where the same text means something else. */
const seen = new WeakMap<Line, Seen>()

const noSnapshot = ''

const snapshotOf = (line: Line, version: string): string => {
  const last = seen.get(line)
  return last?.version === version ? last.snapshot : noSnapshot
}

const opening = (line: Line, { caller, version, readOnly }: Exchange): SentStatement => {
  const { guarded, plain, written } = openingOf(caller)
  const mode = readOnly ? 'on' : 'off'
  if (version === null) return { name: plain.name, text: plain.text, written, values: [mode] }
  return { name: guarded.name, text: guarded.text, written, values: [mode, version, snapshotOf(line, version)] }
}

/**
 * A change that is committed after the opening has looked and before a statement has its locks would be met by a plan
 * of the schema before. Once the statements ran, nothing that they used can change any more; if no transaction ended
 * since, or the counter is still the same, it was the same for them. What changes the schema itself, by a function that
 * it calls, is left alone.
 */
const closingText = `select where case
  when pg_catalog.pg_current_snapshot()::text = pg_catalog.current_setting('catalograph.snapshot', true) then false
  when pg_catalog.starts_with($1::text, ${counterCall} || '.') then false
  when pg_catalog.current_setting('catalograph.changed', true) = 'on' then false
  else catalograph.stale(${counterCall})
end`

const closing = ({ version, statements }: Exchange): readonly BoundStatement[] =>
  version === null || statements.length === 0
    ? []
    : [{ name: 'catalograph.close', text: closingText, values: [version] }]

/** What stands before the request's own statements: the reset, then the opening. */
const openingLength = 2

const remember = (line: Line, { version }: Exchange, result: ExchangeResult): void => {
  const snapshot = result.kind === 'rows' ? result.rows[openingLength - 1]?.[0]?.[0] : undefined
  if (version === null || typeof snapshot !== 'string' || snapshot === snapshotOf(line, version)) return
  seen.set(line, { version, snapshot })
}

/** Runs an exchange on a connection; a failure is a result, see sendStatements. */
export const runOnLine = (line: Line, exchange: Exchange, settle: Settle): void => {
  const statements = [reset, opening(line, exchange), ...exchange.statements, ...closing(exchange)]
  sendStatements(line, statements, (result) => {
    remember(line, exchange, result)
    settle(result)
  })
}

const isStale = (error: unknown): boolean => sqlstateOf(error) === 'CG001'

/**
 * The rows of the exchange's own statements. Throws DatabaseFailure; an error after the last statement, at commit,
 * belongs to none of them.
 */
export const outcome = (exchange: Exchange, result: ExchangeResult): readonly Row[] => {
  if (result.kind === 'rows') return exchange.statements.map((_, index) => result.rows[openingLength + index]?.[0] ?? [])
  const index = result.completed - openingLength
  if (index < 0 || isStale(result.error)) throw classifyOpening(result.error)
  throw classify(result.error, index < exchange.statements.length ? index : null)
}
