import { DatabaseFailure } from '../../db/failures/failures.ts'
import { statement, type RunStatement } from '../../db/pool/statements.ts'
import { inTransactionBlock, withSession, type Query } from '../../db/connect/session.ts'
import { explainRefusal, giveToOwner, hasGivable } from './owners.ts'
import { authSchema } from './auth-schema.ts'
import { hashKindsIndex } from './tables.ts'
import { stateSchema } from './state-schema.ts'

/** Tables of catalograph_auth that are queried periodically, whether or not auth was ever enabled. */
type PolledTable = 'bans' | 'mail_requests' | 'refresh_marks' | 'settings_version'

/**
 * Runs work on a table, or returns null if the login role has no such usable table: auth is not enabled. Until the
 * table is found the catalogue is queried: a failing statement would be an error in the database's log, and one every
 * few seconds hides the others.
 */
export type WhereReady = <T>(table: PolledTable, work: () => Promise<T>) => Promise<T | null>

/** No other role's schema or table is looked up by name here, which would be an error without privileges. */
const usable = statement<{ readonly name: PolledTable }>(
  'auth.where-ready.usable',
  `select c.relname as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'catalograph_auth' and c.relkind = 'r' and pg_catalog.has_schema_privilege(n.oid, 'usage')
    and pg_catalog.has_table_privilege(c.oid, 'select') and pg_catalog.has_table_privilege(c.oid, 'update')`,
)

/** Schema, table or privilege missing. */
const missing: ReadonlySet<string> = new Set(['3F000', '42P01', '42501'])

export function createWhereReady(run: RunStatement): WhereReady {
  let known: ReadonlySet<string> = new Set()
  return async (table, work) => {
    if (!known.has(table)) known = new Set((await run(usable)).map(({ name }) => name))
    if (!known.has(table)) return null
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof DatabaseFailure) || !missing.has(error.sqlstate ?? '')) throw error
      // It was removed in the meantime.
      known = new Set()
      return null
    }
  }
}

/** One step from one version of our tables to the next, in one transaction. The owner of auth gets its objects. */
interface Migration {
  readonly version: number
  readonly name: string
  readonly statements: readonly string[]
}

/** Answered requests for mails that are still to be made: see mail-requests.ts beside this folder. */
const mailRequests: readonly string[] = [
  `create table catalograph_auth.mail_requests (
    id bigint generated always as identity primary key,
    kind text not null,
    request jsonb not null,
    created_at timestamptz not null default now(),
    taken_at timestamptz not null default now()
  )`,
]

/** The times of a source address's guests in the last hour, oldest first (spec/auth.md 10). */
const guestWindows: readonly string[] = [
  `create table catalograph_auth.guest_windows (
    source text primary key,
    taken timestamptz[] not null,
    updated_at timestamptz not null default now()
  )`,
  // Guests had a token bucket before, which admitted twice as many within their first hour.
  `delete from catalograph_auth.throttles where limit_group = 'guests'`,
]

/**
 * Sessions from the mail of a reset: their users may set a password without the old one (spec/auth.md 5.2). Their
 * method is `otp`, as for every mail.
 */
const recoverySessions: readonly string[] = [
  `create table catalograph_auth.recovery_sessions (
    session_id uuid primary key references auth.sessions (id) on delete cascade
  )`,
]

/** The orders in which administrators read users and the log (spec/auth.md 11). */
const listOrders: readonly string[] = [
  'create index if not exists users_created_at_id_idx on auth.users (created_at, id)',
  'create index if not exists audit_logs_created_at_id_idx on auth.audit_log_entries (created_at desc, id)',
]

/**
 * The session that requested a provider's identity: it must exist, at its level, when the browser returns (spec/auth.md
 * 5.6).
 */
const linkingFlows: readonly string[] = [
  `create table catalograph_auth.linking_flows (
    flow_id uuid primary key references auth.flow_state (id) on delete cascade,
    session_id uuid not null references auth.sessions (id) on delete cascade
  )`,
  'create index linking_flows_session_id_idx on catalograph_auth.linking_flows (session_id)',
]

/**
 * Per session, by its refresh tokens' marks (spec/auth.md 7): the newest whose access token was used, and the last that
 * was issued twice.
 */
const refreshMarks: readonly string[] = [
  `create table catalograph_auth.refresh_marks (
    session_id uuid primary key references auth.sessions (id) on delete cascade,
    used text,
    handed_again text
  )`,
]

/** The mailbox that has confirmed a change of address, while the other one is pending (spec/auth.md 5.4). */
const changeConfirmations: readonly string[] = [
  `create table catalograph_auth.change_confirmations (
    user_id uuid primary key references auth.users (id) on delete cascade,
    slot text not null,
    email text not null
  )`,
  `insert into catalograph_auth.change_confirmations (user_id, slot, email)
  select id, case when email_change_token_new <> '' then 'email_change_current' else 'email_change_new' end, email_change
  from auth.users where email_change_confirm_status = 1 and email_change <> ''`,
]

/** ID tokens without a nonce are accepted once: the used ones, until they expire (spec/auth.md 4.7). */
const usedIdTokens: readonly string[] = [
  `create table catalograph_auth.used_id_tokens (
    token_hash bytea primary key,
    expires_at timestamptz not null
  )`,
]

/** Wrong codes of factors, the devices that passed, and wrong codes of sessions (spec/auth.md 5.7). */
const factorGuesses: readonly string[] = [
  `create table catalograph_auth.factor_guesses (
    factor_id uuid not null references auth.mfa_factors (id) on delete cascade,
    known boolean not null,
    failures smallint not null,
    last_at timestamptz not null,
    primary key (factor_id, known)
  )`,
  `create table catalograph_auth.factor_devices (
    factor_id uuid not null references auth.mfa_factors (id) on delete cascade,
    device bytea not null,
    passed_at timestamptz not null default now(),
    primary key (factor_id, device)
  )`,
  `create table catalograph_auth.session_guesses (
    session_id uuid primary key references auth.sessions (id) on delete cascade,
    failures smallint not null
  )`,
]

/** Wrong passwords by a hash of the address, and the devices that signed in to an account (spec/auth.md 4.4). */
const passwordGuesses: readonly string[] = [
  `create table catalograph_auth.password_guesses (
    address_hash bytea not null,
    known boolean not null,
    failures smallint not null,
    last_at timestamptz not null,
    primary key (address_hash, known)
  )`,
  `create table catalograph_auth.user_devices (
    user_id uuid not null references auth.users (id) on delete cascade,
    device bytea not null,
    passed_at timestamptz not null default now(),
    primary key (user_id, device)
  )`,
]

/** Of whom and what the mails of the last hour were (spec/auth.md 4.11); null: sent by an older version. */
const mailSources: readonly string[] = [
  'alter table catalograph_auth.accepted_mails add column if not exists kind text, add column if not exists source text',
  'alter table catalograph_auth.outbox add column if not exists source text',
]

/** All steps, in order. A released step is never changed: add one. */
const migrations: readonly Migration[] = [
  { version: 1, name: 'schema auth', statements: authSchema },
  { version: 2, name: 'schema catalograph_auth', statements: stateSchema },
  { version: 3, name: 'requests for mails', statements: mailRequests },
  { version: 4, name: 'windows of guests', statements: guestWindows },
  { version: 5, name: 'sessions of recoveries', statements: recoverySessions },
  { version: 6, name: 'orders of lists', statements: listOrders },
  { version: 7, name: 'sessions of linking', statements: linkingFlows },
  { version: 8, name: 'kinds of hashes', statements: [hashKindsIndex] },
  { version: 9, name: 'marks of refresh tokens', statements: refreshMarks },
  { version: 10, name: 'confirmations of changes', statements: changeConfirmations },
  { version: 11, name: 'used ID tokens', statements: usedIdTokens },
  { version: 12, name: 'guesses of factors', statements: factorGuesses },
  { version: 13, name: 'guesses of passwords', statements: passwordGuesses },
  { version: 14, name: 'sources of mails', statements: mailSources },
]

interface MigrateOptions {
  /** The migrating role, which may create schemas and roles. */
  readonly url: string
}

/** A constant that is the same in every process: concurrent migrations run one after the other. */
const lockKey = '7239146025771094'

const ledger = [
  'create schema if not exists catalograph_auth',
  `create table if not exists catalograph_auth.migrations (
    version integer primary key,
    name text not null,
    applied_at timestamptz not null default now()
  )`,
]

const versionsOf = async (query: Query): Promise<readonly number[]> => {
  const { rows } = await query<{ version: number }>('select version from catalograph_auth.migrations')
  return rows.map(({ version }) => version)
}

/** The lock ends with the transaction. */
const locked = <T>(query: Query, work: () => Promise<T>): Promise<T> =>
  inTransactionBlock(query, async () => {
    await query(`select pg_catalog.pg_advisory_xact_lock(${lockKey})`)
    return work()
  })

/** True if there was work. */
const apply = (query: Query, { version, name, statements }: Migration): Promise<boolean> =>
  locked(query, async () => {
    if (!(await hasLedger(query))) for (const text of ledger) await query(text)
    if ((await versionsOf(query)).includes(version)) return false
    for (const text of statements) await query(text)
    await query('insert into catalograph_auth.migrations (version, name) values ($1, $2)', [version, name])
    await query(giveToOwner)
    return true
  })

const hasLedger = async (query: Query): Promise<boolean> => {
  const { rows } = await query<{ there: boolean }>(
    `select pg_catalog.to_regclass('catalograph_auth.migrations') is not null as there`,
  )
  return rows[0]?.there === true
}

/** Objects that an older version, or a person, left with another owner. */
const repairOwners = async (query: Query): Promise<readonly string[]> => {
  if (!(await hasGivable(query))) return []
  await locked(query, () => query(giveToOwner))
  return (await hasGivable(query)) ? [] : ['owner of the tables']
}

async function migrate(query: Query): Promise<readonly string[]> {
  const done = (await hasLedger(query)) ? await versionsOf(query) : []
  const applied: string[] = []
  for (const migration of migrations)
    if (!done.includes(migration.version) && (await apply(query, migration))) applied.push(migration.name)
  return [...applied, ...(await repairOwners(query))]
}

const insufficientPrivilege = '42501'

const inSession = (url: string, work: (query: Query) => Promise<readonly string[]>): Promise<readonly string[]> =>
  withSession({ url }, (query) =>
    work(query).catch(async (error: unknown) => {
      const isRefused = error instanceof DatabaseFailure && error.sqlstate === insufficientPrivilege
      throw isRefused ? await explainRefusal(query, error) : error
    }),
  )

/**
 * Migrates the database to the newest version of our tables, if necessary. Returns the names of the applied steps.
 * Rejects with DatabaseFailure if the database cannot be reached or the role lacks privileges.
 */
export const migrateAuth = ({ url }: MigrateOptions): Promise<readonly string[]> => inSession(url, migrate)

/** Whether auth was ever enabled here, by a role whose tables the login role may use. */
const isOurs = `select from pg_catalog.pg_namespace n join pg_catalog.pg_class c on c.relnamespace = n.oid
  where n.nspname = 'catalograph_auth' and c.relname = 'migrations' and pg_catalog.has_schema_privilege(n.oid, 'USAGE')`

/** The same for a database with auth; does nothing for others. */
export const upgradeAuth = ({ url }: MigrateOptions): Promise<readonly string[]> =>
  inSession(url, async (query) => ((await query(isOurs)).rows.length > 0 ? migrate(query) : []))
