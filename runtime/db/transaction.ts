import type { BoundStatement, Exchange, PreparedText, Row } from '../contract/execution.ts'
import { createLru } from '../lib/lru.ts'
import { sha256Hex } from '../lib/sha256.ts'
import { claimSettings } from './claims.ts'
import { classify, classifyOpening, sqlstateOf } from './classify.ts'
import { runStatements, type ExchangeResult, type Line } from './exchange.ts'
import { counterExpression, versionExpression } from './version.ts'

/**
 * What opens every request, in the same pipeline and transaction as its statements.
 *
 * `reset all` first: a function of the database may have set anything for the whole session, and only what is set
 * locally ends by itself. It restores what the startup packet asked for. It leaves `role` alone, so the role is always
 * set anew.
 */
const reset: BoundStatement = { name: 'catalograph.reset', text: 'reset all', values: [] }

/** $1 role, $2 claims, $3 'on' for read-only; then each claim; last the expected version, where one is expected. */
const fixedParameters = 3

const setting = (name: string, value: string): string => `pg_catalog.set_config('${name}', ${value}::text, true)`

/** Claims become settings of their own beside request.jwt.claims. Names are checked by claimSettings. */
const claimArms = (names: readonly string[]): string =>
  names.map((name, index) => `when ${setting(name, `$${fixedParameters + 1 + index}`)} is null then false`).join('\n  ')

/**
 * Version check, claims, read-only mode and role, in this order: the arms of one CASE are evaluated in turn, where AND
 * has no order that one may rely on. The role comes last, since whatever precedes it needs no right that PUBLIC lacks.
 * The result has no columns, so that claims are not echoed.
 */
const openingText = (guarded: boolean, names: readonly string[]): string =>
  `select ${guarded ? `from (select ${versionExpression} as v offset 0) x` : ''}
where case
  ${guarded ? `when v <> $${fixedParameters + names.length + 1}::text then catalograph.stale(v)` : ''}
  ${claimArms(names)}
  when ${setting('request.jwt.claims', '$2')} is null then false
  when $3::text = 'on' and ${setting('transaction_read_only', `'on'`)} is null then false
  else ${setting('role', '$1')} is not null
end`

const preparedOpening = (guarded: boolean, names: readonly string[]): PreparedText => {
  const text = openingText(guarded, names)
  return { name: `catalograph.open.${sha256Hex(text).slice(0, 16)}`, text }
}

interface Opening {
  readonly guarded: PreparedText
  readonly plain: PreparedText
  readonly values: readonly string[]
}

const createOpening = (claims: string): Opening => {
  const { names, values } = claimSettings(claims)
  return { guarded: preparedOpening(true, names), plain: preparedOpening(false, names), values }
}

/** A caller asks again and again with the same claims: they are taken apart once. */
const openings = createLru<string, Opening>(1_000)

const openingOf = (claims: string): Opening => {
  const known = openings.get(claims)
  if (known !== undefined) return known
  const made = createOpening(claims)
  openings.set(claims, made)
  return made
}

const opening = ({ caller, version, readOnly }: Exchange): BoundStatement => {
  const { guarded, plain, values } = openingOf(caller.claims)
  const bound = [caller.role, caller.claims, readOnly ? 'on' : 'off', ...values]
  return version === null ? { ...plain, values: bound } : { ...guarded, values: [...bound, version] }
}

/**
 * A change that is committed after the opening has looked and before a statement has its locks would be met by a plan
 * of the schema before. Once the statements ran, nothing that they used can change any more; if the counter is still
 * the same now, it was the same for them. It costs some 5 µs, where the whole version costs 20. What changes the schema
 * itself, by a function that it calls, is left alone.
 */
const closingText = `select from (select ${counterExpression} as v offset 0) x
where case
  when pg_catalog.starts_with($1::text, v || '.') then false
  when pg_catalog.current_setting('catalograph.changed', true) = 'on' then false
  else catalograph.stale(v)
end`

const preparedClosing: PreparedText = { name: 'catalograph.close', text: closingText }

const closing = ({ version, statements }: Exchange): readonly BoundStatement[] =>
  version === null || statements.length === 0 ? [] : [{ ...preparedClosing, values: [version] }]

/** How many statements stand before the request's own. */
const openingLength = 2

/** Runs an exchange on a connection; a failure is a result, see runStatements. */
export const runOnLine = (line: Line, exchange: Exchange): Promise<ExchangeResult> =>
  runStatements(line, [reset, opening(exchange), ...exchange.statements, ...closing(exchange)])

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
