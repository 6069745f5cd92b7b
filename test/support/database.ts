import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { prepareDatabase } from '../../compiler/prepare/prepare.ts'
import { migrateAuth } from '../../runtime/auth/schema/migrate.ts'
import { startCluster, type ClusterSource } from './cluster.ts'
import { clusterOf, majors, templateOf, type Major, type Prepared } from './clusters.ts'

export { majors, type Major } from './clusters.ts'

export interface TestDatabase {
  readonly major: Major
  /** As the login role `authenticator`: noinherit, member of anon, authenticated and service_role. */
  readonly url: string
  /** As the superuser `postgres`. */
  readonly adminUrl: string
  /** Runs as the superuser, on one connection that stays open: several calls may form one transaction. */
  readonly query: (text: string, values?: readonly unknown[]) => Promise<pg.QueryResult>
  /** What its server has logged so far, where the server is its own; else nothing. */
  readonly log: readonly string[]
  readonly drop: () => Promise<void>
}

export interface TestDatabaseOptions {
  readonly sql?: string
  readonly major?: Major
  /**
   * True gives the database a server to itself, at the cost of a second. Roles are shared by all databases of a server
   * and count in the schema version, so whoever creates, grants or alters roles has to take one.
   */
  readonly isolated?: boolean
  /** The server of another database, which goes on after this one is dropped; `major` is that one's. */
  readonly beside?: TestDatabase
  /** True: what compiler/prepare makes is there, schema catalograph, event triggers, schema auth; 'auth': its tables too. */
  readonly prepare?: true | 'auth'
}

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

const placeBeside = ({ adminUrl }: TestDatabase): Place => ({
  port: Number(new URL(adminUrl).port),
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

export const prepareAs = async (kind: Prepared, url: string): Promise<void> => {
  await prepareDatabase({ url, login: 'authenticator' })
  if (kind === 'auth') await migrateAuth({ url })
}

/** Most tests begin with one of these: copying is several times as fast as making what they hold. */
export const makeTemplates = async (port: number): Promise<void> => {
  for (const kind of ['api', 'auth'] as const) {
    await asMaintenance(port, `create database ${templateOf[kind]}`)
    await prepareAs(kind, `postgres://postgres@127.0.0.1:${port}/${templateOf[kind]}`)
  }
}

/**
 * What the first session of a database finds out of its catalogue is written to a file that a copy has, too; a server that starts
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

/** A fresh, empty, randomly named database on a server of that major version, by default the run's shared one. */
export const createDatabase = async (options: TestDatabaseOptions = {}): Promise<TestDatabase> => {
  const major = options.beside?.major ?? options.major ?? majors()[0] ?? 18
  const { port, log, leave } = await placeOf(major, options)
  const name = `t_${randomBytes(6).toString('hex')}`
  const url = (user: string): string => `postgres://${user}@127.0.0.1:${port}/${name}`
  const prepared = options.prepare === true ? 'api' : (options.prepare ?? null)
  const { template, missing } = beginningOf(clusterOf(major), prepared)
  await asMaintenance(port, `create database ${name} template ${template}${copied(major)}`)
  const client = new pg.Client(url('postgres'))
  client.on('error', () => undefined)
  await client.connect()
  const drop = async (): Promise<void> => {
    await client.end()
    await asMaintenance(port, `drop database if exists ${name} with (force)`)
    await leave()
  }
  try {
    if (missing !== null) await prepareAs(missing, url('postgres'))
    if (options.sql !== undefined) await client.query(options.sql)
  } catch (error) {
    await drop()
    throw error
  }
  const query: TestDatabase['query'] = (text, values = []) => client.query(text, [...values])
  return { major, url: url('authenticator'), adminUrl: url('postgres'), query, log, drop }
}
