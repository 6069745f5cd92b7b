import { DatabaseFailure } from '../../runtime/db/failures/failures.ts'
import { withSession, type Query } from '../../runtime/db/connect/session.ts'
import type { Need } from './need.ts'
import { needs } from './statements.ts'

export interface PrepareOptions {
  /** As whom to prepare: an owner who may create schemas and roles, at best a superuser. */
  readonly url: string
  /** The role that requests log in as; the one of `url` when it is left out. */
  readonly login?: string
}

export type Preparation =
  /**
   * `followed` false: the schema is not watched until a superuser ran `statements`. `live` false: nothing can be watched until
   * then.
   */
  | { readonly ready: true; readonly followed: boolean; readonly live: boolean; readonly statements: readonly string[] }
  /** Nothing was changed; an owner has to run `statements`. */
  | { readonly ready: false; readonly statements: readonly string[] }

/** Any number of its own, the same in every process: two that start at once prepare one after the other. */
const lockKey = '7239146025771093'

/**
 * How long a lock is waited for, in milliseconds: behind a waiting preparation all later transactions wait too. A
 * preparation that gave up is tried again.
 */
const lockTimeoutMs = 3_000

const insufficientPrivilege = '42501'

const currentUser = async (query: Query): Promise<string> =>
  (await query<{ name: string }>('select session_user::text as name')).rows[0]?.name ?? ''

/** One query, which writes nothing and needs no right. */
const missingOf = async (query: Query, all: readonly Need[]): Promise<readonly Need[]> => {
  const conditions = all.map(({ present }, index) => `(${index}, (${present}))`).join(',\n')
  const text = `select id from (values ${conditions}) need (id, present) where not present order by id`
  const { rows } = await query<{ id: number }>(text)
  return rows.flatMap(({ id }) => all[id] ?? [])
}

const isRefusal = (error: unknown): boolean =>
  error instanceof DatabaseFailure && error.sqlstate === insufficientPrivilege

/** What only following or live queries need may be refused by itself, without taking the rest back. */
const makeOne = async (query: Query, need: Need): Promise<void> => {
  if (!need.onlyFollowing && need.onlyLive !== true) {
    await query(need.make)
    return
  }
  await query('savepoint following')
  try {
    await query(need.make)
  } catch (error) {
    if (!isRefusal(error)) throw error
    await query('rollback to savepoint following')
  }
}

const makeAll = async (query: Query, all: readonly Need[]): Promise<void> => {
  await query('begin')
  try {
    await query(`set local lock_timeout = ${lockTimeoutMs}`)
    await query(`select pg_catalog.pg_advisory_xact_lock(${lockKey})`)
    for (const need of await missingOf(query, all)) await makeOne(query, need)
    await query('commit')
  } catch (error) {
    await query('rollback').catch(() => undefined)
    throw error
  }
}

const verdict = (missing: readonly Need[]): Preparation => {
  const statements = missing.map(({ make }) => make)
  const needed = missing.filter(({ onlyLive }) => onlyLive !== true)
  return needed.every(({ onlyFollowing }) => onlyFollowing)
    ? { ready: true, followed: needed.length === 0, live: missing.length === 0, statements }
    : { ready: false, statements }
}

const makeMissing = async (query: Query, all: readonly Need[]): Promise<void> => {
  try {
    await makeAll(query, all)
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
}

/**
 * Makes what a database lacks to be served, in one transaction and nothing else anywhere; a database that lacks
 * nothing is only read. Where the role may not, nothing is changed and the statements come back. Rejects with
 * DatabaseFailure when the database cannot be reached or refuses for another reason.
 */
export const prepareDatabase = (options: PrepareOptions): Promise<Preparation> =>
  withSession({ url: options.url }, async (query) => {
    const all = needs(options.login ?? (await currentUser(query)))
    const missing = await missingOf(query, all)
    if (missing.length === 0) return verdict(missing)
    await makeMissing(query, all)
    return verdict(await missingOf(query, all))
  })

/** What prepareDatabase would find, without making anything: `statements` are what is missing, in order. */
export const checkPrepared = (options: PrepareOptions): Promise<Preparation> =>
  withSession({ url: options.url }, async (query) =>
    verdict(await missingOf(query, needs(options.login ?? (await currentUser(query))))),
  )

const manyRows = 32
const manyRecords = 1_024

/**
 * Keeps the version counter small: folds the rows of backends that counted into one, and prunes what they recorded.
 * Does nothing while they are few. The version stays what it is. Any role may call it. Rejects with DatabaseFailure.
 */
export const foldVersions = async (query: Query): Promise<void> => {
  const { rows } = await query<{ many: boolean }>(
    `select (select pg_catalog.count(*) from catalograph.schema_version) > ${manyRows}
      or (select pg_catalog.count(*) from catalograph.schema_record) > ${manyRecords} as many`,
  )
  if (rows[0]?.many === true) await query('select catalograph.fold_versions()')
}
