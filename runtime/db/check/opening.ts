import type { BoundStatement, Exchange, PreparedText } from '../../contract/execution.ts'
import { createLru, type Lru } from '../../lib/caches.ts'
import { sha256Hex } from '../../lib/text.ts'
import { localArms, type SettingPairs } from '../connect/startup.ts'
import type { Pooled } from '../wire/exchange.ts'
import { writeRun, type SentStatement, type WrittenStatement } from '../wire/wire.ts'
import { claimSettings, type ClaimSettingLists } from './claims.ts'
import { forwardedSettings } from './distributed.ts'
import type { RoleSettings } from './role-settings.ts'

/**
 * The opening of every request, in the same pipeline and transaction as its statements.
 *
 * `reset all` first: a function of the database may have set a parameter for the whole session, and only local settings
 * end by themselves. It restores the values of the startup packet. It leaves `role` alone, so the role is always set
 * after it.
 */
export const resetAll = writeRun({ name: 'catalograph.reset', text: 'reset all', values: [] })

/** The opening of an exchange, and the settings that Citus forwards to other servers. */
export interface TransactionOpening {
  readonly statement: SentStatement
  readonly forwarded: readonly WrittenStatement[]
}

/** $1 role, $2 claims, then each claim. */
const fixedParameters = 2

const setting = (name: string, value: string): string => `pg_catalog.set_config('${name}', ${value}::text, true)`

/** Claims become settings of their own beside request.jwt.claims. Names are checked by claimSettings. */
const claimArms = (names: readonly string[]): string =>
  names.map((name, index) => `when ${setting(name, `$${fixedParameters + 1 + index}`)} is null then false`).join('\n  ')

/** Behind a pooler any transaction may be on another server than the one before: its opening returns when that one started. */
const serverExpression = "pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())"

/** The inputs of an opening besides its exchange. */
interface OpeningContext {
  /** Of the caller's role. */
  readonly settings: RoleSettings
  readonly pooled: Pooled | null
}

/**
 * The role's settings, claims, which may replace them, read-only mode and role, in this order: Postgres evaluates the
 * arms of one CASE in turn, but not the operands of AND. The role comes last, since the arms before it need no right that
 * PUBLIC lacks. The result has no columns but the server's: claims are not echoed.
 */
const openingText = (
  { settings, pooled }: OpeningContext,
  names: readonly string[],
  { readOnly, label }: Exchange,
): string => `select ${pooled === null ? '' : serverExpression} where case
  ${localArms(pooled === null ? settings.pairs : [...pooled.settings, ...settings.pairs])}
  ${claimArms(names)}
  ${label === undefined ? '' : `when ${setting('application_name', `$${fixedParameters + 1 + names.length}`)} is null then false`}
  when ${setting('request.jwt.claims', '$2')} is null then false
  ${readOnly || settings.readOnly ? `when ${setting('transaction_read_only', `'on'`)} is null then false` : ''}
  else ${setting('role', '$1')} is not null
end`

const noClaims: ClaimSettingLists = { names: [], values: [] }

/** A remembered opening. A label, which is of one request, is the last value and not remembered. */
interface CachedOpening extends OpeningContext {
  readonly role: string
  readonly together: boolean
  readonly labelled: boolean
  readonly distributed: boolean
  readonly statement: WrittenStatement | BoundStatement
  readonly forwarded: readonly WrittenStatement[]
}

const prepared = (text: string): PreparedText => ({ name: `catalograph.open.${sha256Hex(text).slice(0, 16)}`, text })

const buildOpening = (exchange: Exchange, around: OpeningContext, ofConnection: SettingPairs): CachedOpening => {
  const { caller, claimsTogether: together = false, distributed = false, label } = exchange
  const { role, claims } = caller
  const { names, values } = together ? noClaims : claimSettings(claims)
  const statement: BoundStatement = {
    ...prepared(openingText(around, names, exchange)),
    values: [role, claims, ...values],
  }
  return {
    ...around,
    role,
    together,
    labelled: label !== undefined,
    distributed,
    statement: label === undefined ? writeRun(statement) : statement,
    forwarded: distributed ? forwardedSettings(caller, together, ofConnection) : [],
  }
}

const isFor = (known: CachedOpening, exchange: Exchange, { settings, pooled }: OpeningContext): boolean =>
  known.role === exchange.caller.role &&
  known.settings === settings &&
  known.pooled === pooled &&
  known.together === (exchange.claimsTogether ?? false) &&
  known.labelled === (exchange.label !== undefined) &&
  known.distributed === (exchange.distributed ?? false)

/** Of some two thousand callers at once. */
const keptBytes = 4_000_000

const lengthOf = ({ statement, forwarded: more }: CachedOpening, claims: string): number => {
  const own =
    'run' in statement ? statement.run.length : statement.values.reduce((sum, value) => sum + (value?.length ?? 0), 0)
  return more.reduce((sum, { text, run }) => sum + text.length + run.length, claims.length + own)
}

export type OpeningOf = (exchange: Exchange, settings: RoleSettings, pooled: Pooled | null) => TransactionOpening

/**
 * Makes what opens exchanges. A caller sends the same claims with every request, so they are parsed and encoded once.
 * @param ofConnection settings of the connections that other servers need to have as well
 */
export const createOpenings = (ofConnection: SettingPairs): OpeningOf => {
  const create = (): Lru<string, CachedOpening> => createLru(keptBytes, lengthOf)
  const [reading, writing] = [create(), create()]
  return (exchange, settings, pooled) => {
    const { caller, readOnly, label } = exchange
    const around = { settings, pooled }
    const openings = readOnly ? reading : writing
    let known = openings.get(caller.claims)
    if (known === undefined || !isFor(known, exchange, around)) {
      known = buildOpening(exchange, around, ofConnection)
      openings.set(caller.claims, known)
    }
    const { statement } = known
    if (label === undefined || 'run' in statement) return known
    return { statement: { ...statement, values: [...statement.values, label] }, forwarded: known.forwarded }
  }
}
