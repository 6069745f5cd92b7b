import { DatabaseFailure } from '../../../runtime/db/failures/failures.ts'
import { withSession, type Query } from '../../../runtime/db/connect/session.ts'
import { loginExists, lackOfLogin, loginRemedy } from './login.ts'
import { type Migration, ownersMigration } from './migration.ts'
import { obstacleOf } from './obstacles.ts'
import { migrationsFor } from './prepare-statements.ts'

export interface PrepareOptions {
  /** The preparing role, which may create schemas and roles. */
  readonly url: string
  /** The login role of requests; by default that of `url`. */
  readonly login?: string
}

export type Preparation =
  /**
   * `followed` false: the schema is not watched until a superuser has run `statements`. `live` false: nothing can be
   * watched until then.
   */
  | { readonly ready: true; readonly followed: boolean; readonly live: boolean; readonly statements: readonly string[] }
  /**
   * Nothing was changed; an owner must run `statements`. `obstacle`: the missing privilege and its remedy, if known.
   */
  | { readonly ready: false; readonly obstacle: string | null; readonly statements: readonly string[] }

/** The owner's options if the database could not be prepared. */
export const wayOut = ({ obstacle, statements }: Extract<Preparation, { readonly ready: false }>): string =>
  `${obstacle === null ? '' : `${obstacle} or `}let an owner run what catalograph prepare --sql prints (${statements.length} statements)`

/** A constant that is the same in every process: concurrent preparations run one after the other. */
const lockKey = '7239146025771093'

/** The lock timeout in milliseconds: later transactions wait behind a preparation. It is tried again. */
const lockTimeoutMs = 3_000

const insufficientPrivilege = '42501'
const undefinedObject = '42704'

const currentUser = async (query: Query): Promise<string> =>
  (await query<{ name: string }>('select session_user::text as name')).rows[0]?.name ?? ''

/** One query, which writes nothing and needs no privilege. */
const missingOf = async (query: Query, all: readonly Migration[]): Promise<readonly Migration[]> => {
  const conditions = all.map(({ isApplied }, index) => `(${index}, (${isApplied}))`).join(',\n')
  const text = `select id from (values ${conditions}) migration (id, is_applied) where not is_applied order by id`
  const { rows } = await query<{ id: number }>(text)
  return rows.flatMap(({ id }) => all[id] ?? [])
}

const isRefusedWith = (error: unknown, sqlstate = insufficientPrivilege): error is DatabaseFailure =>
  error instanceof DatabaseFailure && error.sqlstate === sqlstate

const isRequired = ({ onlyFollowing, onlyLive }: Migration): boolean => !onlyFollowing && onlyLive !== true

/** Objects for following or live queries may be refused separately, without undoing the rest. */
const applyMigration = async (query: Query, migration: Migration): Promise<void> => {
  if (isRequired(migration)) {
    await query(migration.sql)
    return
  }
  await query('savepoint following')
  try {
    await query(migration.sql)
  } catch (error) {
    if (!isRefusedWith(error)) throw error
    await query('rollback to savepoint following')
  }
}

/** With the statements that give new objects to the owner of the rest, who may be another role. */
const withOwners = (all: readonly Migration[], missing: readonly Migration[]): readonly Migration[] =>
  missing.every(({ onlyFollowing }) => onlyFollowing)
    ? missing
    : all.filter((migration) => migration === ownersMigration || missing.includes(migration))

/** All required objects, or none: a GRANT without the privilege may only cause a warning (manual, GRANT). */
const applyAll = async (query: Query, all: readonly Migration[]): Promise<void> => {
  await query('begin')
  try {
    await query(`set local lock_timeout = ${lockTimeoutMs}`)
    await query(`select pg_catalog.pg_advisory_xact_lock(${lockKey})`)
    const missing = await missingOf(query, all)
    for (const migration of withOwners(all, missing)) await applyMigration(query, migration)
    const required = missing.filter(isRequired)
    const isWhole = required.length === 0 || (await missingOf(query, required)).length === 0
    await query(isWhole ? 'commit' : 'rollback')
  } catch (error) {
    await query('rollback').catch(() => undefined)
    throw error
  }
}

const checkPreparation = async (query: Query, all: readonly Migration[]): Promise<Preparation> => {
  const missing = await missingOf(query, all)
  const statements = withOwners(all, missing).map(({ sql }) => sql)
  const required = missing.filter(isRequired)
  if (required.length > 0) {
    const obstacle = await obstacleOf(
      query,
      required.flatMap((one) => one.obstacle ?? []),
    )
    return { ready: false, obstacle, statements }
  }
  const followed = missing.every(({ onlyLive }) => onlyLive === true)
  return { ready: true, followed, live: missing.length === 0, statements }
}

const applyMissing = async (query: Query, all: readonly Migration[], login: string): Promise<void> => {
  try {
    await applyAll(query, all)
  } catch (error) {
    if (isRefusedWith(error)) return
    if (!isRefusedWith(error, undefinedObject) || (await loginExists(query, login))) throw error
    const sentence = `${lackOfLogin(login)}: let an owner run ${loginRemedy(login)}`
    throw new DatabaseFailure(error.kind, sentence, error.sqlstate, null)
  }
}

/**
 * Creates the missing objects of a database to be served, in one transaction; a complete database is only read. Without
 * the privileges nothing is changed and the statements are returned. Rejects with DatabaseFailure if the database
 * cannot be reached or refuses for another reason.
 */
export const prepareDatabase = (options: PrepareOptions): Promise<Preparation> =>
  withSession({ url: options.url }, async (query) => {
    const login = options.login ?? (await currentUser(query))
    const all = migrationsFor(login)
    if ((await missingOf(query, all)).length > 0) await applyMissing(query, all, login)
    return checkPreparation(query, all)
  })

/** The result of prepareDatabase without changes: `statements` are the missing ones, in order. */
export const checkPrepared = (options: PrepareOptions): Promise<Preparation> =>
  withSession({ url: options.url }, async (query) =>
    checkPreparation(query, migrationsFor(options.login ?? (await currentUser(query)))),
  )

const manyRows = 32
const manyRecords = 1_024

/**
 * Keeps the version counter small: folds the rows of backends into one, and prunes their records. Does nothing while
 * they are few. The version is unchanged. Any role may call it. Rejects with DatabaseFailure.
 */
export const foldVersions = async (query: Query): Promise<void> => {
  const { rows } = await query<{ many: boolean }>(
    `select (select pg_catalog.count(*) from catalograph.schema_version) > ${manyRows}
      or (select pg_catalog.count(*) from catalograph.schema_record) > ${manyRecords} as many`,
  )
  if (rows[0]?.many === true) await query('select catalograph.fold_versions()')
}
