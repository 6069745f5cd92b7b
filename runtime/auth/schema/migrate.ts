import { inTransactionBlock, withSession, type Query } from '../../db/connect/session.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { migrations, type Migration } from './migrations.ts'
import { explainRefusal, giveToOwner, hasGivable } from './owners.ts'

export interface MigrateOptions {
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

const isApplied = async (query: Query, version: number): Promise<boolean> => {
  const { rows } = await query('select from catalograph_auth.migrations where version = $1', [version])
  return rows.length > 0
}

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
    if (await isApplied(query, version)) return false
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
