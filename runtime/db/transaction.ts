import type { BoundStatement, Exchange, Row } from '../contract/execution.ts'
import { classify, classifyOpening } from './classify.ts'
import { runStatements, type ExchangeResult, type Line } from './exchange.ts'
import { versionExpression } from './version.ts'

/**
 * What opens every request, in the same pipeline and transaction as its statements.
 *
 * `reset all` first: a function of the database may have set anything for the whole session, and only Sync-local settings
 * end by themselves. It restores what the startup packet asked for. It leaves `role` alone, so the role is always set anew.
 */
const reset: BoundStatement = { name: 'catalograph.reset', text: 'reset all', values: [] }

/**
 * Version check, claims, read-only mode and role, in this order: the arms of one CASE are evaluated in turn, where AND
 * has no order that one may rely on. The role comes last, because what precedes it needs rights of nobody in particular.
 *
 * Parameters: $1 role, $2 claims, $3 'on' for read-only, $4 expected version. Claims also become settings of their own,
 * `request.jwt.claim.NAME`, strings as they are and all else as JSON text; sub, role and email always, empty when absent,
 * and after the others, since the names of settings know no case.
 */
const openingText = (guarded: boolean): string => `select ${guarded ? `from (select ${versionExpression} as v offset 0) x` : ''}
where case
  ${guarded ? 'when v <> $4::text then catalograph.stale(v)' : ''}
  when (select pg_catalog.count(pg_catalog.set_config('request.jwt.claim.' || key, coalesce(value, ''), true))
        from pg_catalog.json_each_text($2::text::json)
        where key ~ '^[A-Za-z_][A-Za-z0-9_]*$' and pg_catalog.lower(key) not in ('sub', 'role', 'email')) < 0 then false
  when pg_catalog.set_config('request.jwt.claim.sub', coalesce($2::text::json ->> 'sub', ''), true) is null then false
  when pg_catalog.set_config('request.jwt.claim.role', coalesce($2::text::json ->> 'role', ''), true) is null then false
  when pg_catalog.set_config('request.jwt.claim.email', coalesce($2::text::json ->> 'email', ''), true) is null then false
  when pg_catalog.set_config('request.jwt.claims', $2::text, true) is null then false
  when $3::text = 'on' and pg_catalog.set_config('transaction_read_only', 'on', true) is null then false
  else pg_catalog.set_config('role', $1::text, true) is not null
end`

const guardedOpening = { name: 'catalograph.open.guarded', text: openingText(true) }
const plainOpening = { name: 'catalograph.open', text: openingText(false) }

const opening = ({ caller, version, readOnly }: Exchange): BoundStatement => {
  const values = [caller.role, caller.claims, readOnly ? 'on' : 'off']
  return version === null ? { ...plainOpening, values } : { ...guardedOpening, values: [...values, version] }
}

/** How many statements stand before the request's own. */
const openingLength = 2

/** Runs an exchange on a connection. Never rejects: see runStatements. */
export const runOnLine = (line: Line, exchange: Exchange): Promise<ExchangeResult> =>
  runStatements(line, [reset, opening(exchange), ...exchange.statements])

/**
 * The rows of the exchange's own statements. Throws DatabaseFailure; an error after the last statement, at commit, belongs
 * to none of them.
 */
export const outcome = (exchange: Exchange, result: ExchangeResult): readonly Row[] => {
  if (result.kind === 'rows') return result.rows.slice(openingLength)
  const index = result.completed - openingLength
  if (index < 0) throw classifyOpening(result.error)
  throw classify(result.error, index < exchange.statements.length ? index : null)
}
