import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import { prepareDatabase } from '../../compiler/following/prepare/prepare.ts'
import { migrateAuth } from '../../runtime/auth/schema/migrate.ts'
import { owner, startCluster, type ClusterSource } from './cluster.ts'
import { clusterOf, majors, templateOf, type Major, type Prepared } from './clusters.ts'

export { majors, type Major } from './clusters.ts'

type RunSql = (text: string, values?: readonly unknown[]) => Promise<pg.QueryResult>

/** The role `postgres`; `query` runs on a connection of its own that stays open, too. */
export interface Superuser {
  readonly url: string
  readonly query: RunSql
}

export interface TestDatabase {
  readonly major: Major
  /** As the login role `authenticator`: noinherit, member of anon, authenticated and service_role. */
  readonly url: string
  /** As its owner, who may create roles and databases and is not a superuser. */
  readonly ownerUrl: string
  /** Runs as the owner, on one connection that stays open: several calls may form one transaction. */
  readonly query: RunSql
  /** Runs as the login role, who may become the roles of the API; on a connection of its own that stays open, too. */
  readonly queryAsLogin: RunSql
  /** For what the owner may not do, which the reason names. */
  readonly superuser: (reason: string) => Superuser
  /** The log of its server so far, where the server is its own; else empty. */
  readonly log: readonly string[]
  readonly drop: () => Promise<void>
}

export interface TestDatabaseOptions {
  readonly sql?: string
  readonly major?: Major
  /**
   * True gives the database a server to itself, at the cost of a second. Roles are shared by all databases of a server
   * and count in the schema version, so a test that creates, grants or alters roles must take one.
   */
  readonly isolated?: boolean
  /** Why `sql`, `query` and `ownerUrl` have to be a superuser's. */
  readonly superuser?: string
  /** The server of another database, which goes on after this one is dropped; `major` is that one's. */
  readonly beside?: TestDatabase
  /** True: what compiler/following/prepare makes is there, schema catalograph, event triggers, schema auth; 'auth': its tables too. */
  readonly prepare?: true | 'auth'
}

/** The same database as another role. */
export const asRole = (url: string, role: string): string => Object.assign(new URL(url), { username: role }).href

/** As who sees what sessions of other roles do, and may end them. */
export const overSessions = ({ superuser }: Pick<TestDatabase, 'superuser'>): Superuser =>
  superuser('sees and ends sessions of other roles')

/** Why SQL needs a superuser, where it creates PostGIS. */
export const forPostgis = (sql: string): Pick<TestDatabaseOptions, 'superuser'> =>
  /create extension postgis\b/.test(sql) ? { superuser: 'PostGIS is no trusted extension' } : {}

/** Runs on the database that every server has. */
export const asMaintenance = async (port: number, sql: string, host = '127.0.0.1'): Promise<void> => {
  const client = new pg.Client({ host, port, user: 'postgres', database: 'postgres' })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

interface Place {
  readonly port: number
  readonly log: readonly string[]
  readonly leave: () => Promise<void>
}

const sharedPlace = (major: Major): Place => ({ ...clusterOf(major), log: [], leave: () => Promise.resolve() })

const placeBeside = ({ ownerUrl }: TestDatabase): Place => ({
  port: Number(new URL(ownerUrl).port),
  log: [],
  leave: () => Promise.resolve(),
})

const isolatedPlace = async (major: Major): Promise<Place> => {
  const log: string[] = []
  const cluster = await startCluster(clusterOf(major), (line) => log.push(line))
  return { port: cluster.port, log, leave: cluster.remove }
}

const placeOf = async (major: Major, { beside, isolated }: TestDatabaseOptions): Promise<Place> => {
  if (beside !== undefined) return placeBeside(beside)
  return isolated === true ? isolatedPlace(major) : sharedPlace(major)
}

/** As the owner, and then as a superuser, since an owner may not create event triggers. */
export const prepareFor = async (kind: Prepared, url: (user: string) => string): Promise<void> => {
  for (const user of [owner, 'postgres']) await prepareDatabase({ url: url(user), login: 'authenticator' })
  if (kind === 'auth') await migrateAuth({ url: url(owner) })
}

/** Most tests begin with one of these: copying is several times as fast as making what they hold. */
export const makeTemplates = async (port: number): Promise<void> => {
  for (const kind of ['api', 'auth'] as const) {
    await asMaintenance(port, `create database ${templateOf[kind]} owner ${owner}`)
    await prepareFor(kind, (user) => `postgres://${user}@127.0.0.1:${port}/${templateOf[kind]}`)
  }
}

/**
 * The first session of a database writes facts of its catalogue to a file that a copy has, too; a server that starts
 * removes it.
 */
export const warmTemplates = async (port: number): Promise<void> => {
  for (const name of ['template1', ...Object.values(templateOf)]) {
    const client = new pg.Client(`postgres://postgres@127.0.0.1:${port}/${name}`)
    await client.connect()
    await client.query('select')
    await client.end()
  }
}

/** Files are copied as files: by way of the log, which is the default since PostgreSQL 15, it takes twice the time. */
const copied = (major: Major): string => (major < 15 ? '' : ' strategy file_copy')

/** Roles of a server to itself can be dropped once nothing in these depends on them. */
export const dropTemplates = async ({ query }: TestDatabase): Promise<void> => {
  for (const name of Object.values(templateOf)) await query(`drop database ${name}`)
}

/** The database to copy for one that holds that, and what the copy then lacks. */
export const beginningOf = (
  { pristine }: ClusterSource,
  prepared: Prepared | null,
): { readonly template: string; readonly missing: Prepared | null } =>
  prepared === null || pristine === null
    ? { template: 'template1', missing: prepared }
    : { template: templateOf[prepared], missing: null }

/** The query of the catalogue is planned once in a session, which takes longer than to run it. */
const longText = 10_000

/** A connection that begins with the first query. */
export const openQuery = (url: string): { readonly query: RunSql; readonly end: () => Promise<void> } => {
  let opened: Promise<pg.Client> | null = null
  const open = async (): Promise<pg.Client> => {
    const client = new pg.Client(url)
    client.on('error', () => undefined)
    await client.connect()
    return client
  }
  return {
    query: async (text, values = []) => {
      const client = await (opened ??= open())
      if (text.length < longText || values.length === 0) return client.query(text, [...values])
      return client.query({ name: createHash('sha1').update(text).digest('hex'), text, values: [...values] })
    },
    end: async () => (await opened)?.end(),
  }
}

/** A fresh, empty, randomly named database on a server of that major version, by default the run's shared one. */
export const createDatabase = async (options: TestDatabaseOptions = {}): Promise<TestDatabase> => {
  const major = options.beside?.major ?? options.major ?? majors()[0] ?? 18
  const { port, log, leave } = await placeOf(major, options)
  const name = `t_${randomBytes(6).toString('hex')}`
  const url = (user: string): string => `postgres://${user}@127.0.0.1:${port}/${name}`
  const prepared = options.prepare === true ? 'api' : (options.prepare ?? null)
  const { template, missing } = beginningOf(clusterOf(major), prepared)
  await asMaintenance(port, `create database ${name} owner ${owner} template ${template}${copied(major)}`)
  const ownerUrl = url(options.superuser === undefined ? owner : 'postgres')
  const asOwner = openQuery(ownerUrl)
  const asLogin = openQuery(url('authenticator'))
  const asSuperuser = openQuery(url('postgres'))
  const drop = async (): Promise<void> => {
    await Promise.all([asOwner, asLogin, asSuperuser].map(({ end }) => end()))
    await asMaintenance(port, `drop database if exists ${name} with (force)`)
    await leave()
  }
  const { query } = asOwner
  const superuser = (): Superuser => ({ url: url('postgres'), query: asSuperuser.query })
  try {
    if (missing !== null) await prepareFor(missing, url)
    if (options.sql !== undefined) await query(options.sql)
  } catch (error) {
    await drop()
    throw error
  }
  return { major, url: url('authenticator'), ownerUrl, query, queryAsLogin: asLogin.query, superuser, log, drop }
}
