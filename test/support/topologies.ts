import pg from 'pg'
import type { ClusterSource, ThrowAwayCluster } from './cluster.ts'
import { clusterOf, majors, type Major } from './clusters.ts'
import type { TestDatabase } from './database.ts'
import { citusMajor, createDistributed } from './distributed.ts'
import { pgbouncerThat, startPgbouncer } from './pgbouncer.ts'
import { createReplicated, type DatabaseServer } from './replicated.ts'

/** What docs/scale.md puts between a service and its data: each topology is a row, which starts all of it on loopback. */

export interface Topology {
  readonly name: string
  /** What it starts. */
  readonly has: string
  /** What has to be installed first; null: nothing. */
  readonly missing: () => string | null
  readonly open: (options: TopologyOptions) => Promise<Standing>
}

export interface TopologyOptions {
  readonly major?: Major
  /** What the servers are made of; left out: what that major is in this run. Citus has its own. */
  readonly source?: ClusterSource
  /** What the database holds beside what compiler/prepare makes. */
  readonly sql: string
  /** Of each server, beside the usual ones. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A database of a topology. What `query` commits has reached each of its servers when that resolves. */
export interface Standing extends TestDatabase {
  /** The server that takes writes; null: there are several. */
  readonly cluster: ThrowAwayCluster | null
  /** Settings of a service that serves it, beside `url` and `adminUrl`. */
  readonly environment: Readonly<Record<string, string>>
  /** How old an answer may be to whoever has written nothing, in milliseconds. */
  readonly staleMs: number
  /** Ends the server that takes writes and has another one do so; resolves with what stands there then. Null: there is no other. */
  readonly promote: (() => Promise<Standing>) | null
}

const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  return client
}

/** Resolves when each of the others has replayed all that the first has committed. */
const replayed = async (first: pg.Client, others: readonly pg.Client[]): Promise<void> => {
  if (others.length === 0) return
  // Commits are written after they are answered (synchronous_commit = off), but for this one and all before it.
  await first.query(`set synchronous_commit = on; select pg_logical_emit_message(true, 'catalograph', '')`)
  const { rows } = await first.query('select pg_current_wal_flush_lsn()::text as position')
  const isThere = `select pg_last_wal_replay_lsn() >= '${rows[0].position}' as "isThere"`
  for (const other of others) while (!(await other.query(isThere)).rows[0].isThere) continue
}

/** The superuser on the server that takes writes, and those that look whether the others have them. */
const openQuery = async (
  first: DatabaseServer,
  others: readonly DatabaseServer[],
): Promise<Pick<Standing, 'query'> & { readonly leave: () => Promise<void> }> => {
  const [client, watch] = [await connect(first.adminUrl), await connect(first.adminUrl)]
  const standbys = await Promise.all(others.map(({ adminUrl }) => connect(adminUrl)))
  return {
    query: async (text, values = []) => {
      const result = await client.query(text, [...values])
      await replayed(watch, standbys)
      return result
    },
    leave: async () => {
      for (const one of [client, watch, ...standbys]) await one.end()
    },
  }
}

type Around = Pick<Standing, 'environment' | 'drop'> & Partial<Standing>

const standOn = async (
  first: DatabaseServer,
  others: readonly DatabaseServer[],
  { major = majors()[0] ?? 18 }: TopologyOptions,
  around: Around,
): Promise<Standing> => {
  const { query, leave } = await openQuery(first, others)
  const { url, adminUrl, log, cluster } = first
  const drop = (): Promise<void> => leave().then(around.drop)
  return { major, url, adminUrl, query, log, cluster, staleMs: 0, promote: null, ...around, drop }
}

const openReplicated = (standbys: number, { sql, major, source, settings }: TopologyOptions) =>
  createReplicated(standbys, sql, {
    ...(source !== undefined ? { source } : major !== undefined && { source: clusterOf(major) }),
    ...(settings !== undefined && { settings }),
  })

const withSettings =
  (environment: Readonly<Record<string, string>>): Topology['open'] =>
  async (options) => {
    const servers = await openReplicated(0, options)
    return standOn(servers.primary, [], options, { environment, drop: servers.remove })
  }

const throughPgbouncer =
  (keeps: boolean): Topology['open'] =>
  async (options) => {
    const found = pgbouncerThat(keeps)
    if (found === null) throw new Error(noPgbouncer(keeps) ?? '')
    const servers = await openReplicated(0, options)
    const lines = ['default_pool_size = 20', 'min_pool_size = 12', 'max_client_conn = 200']
    const pooler = await startPgbouncer({
      program: found.path,
      serverPort: servers.primary.cluster.port,
      lines: keeps ? [...lines, 'max_prepared_statements = 200'] : lines,
    })
    const through = (url: string): string => Object.assign(new URL(url), { port: String(pooler.port) }).href
    return standOn(servers.primary, [], options, {
      url: through(servers.primary.url),
      environment: { DATABASE_OWNER_URL: through(servers.primary.adminUrl) },
      drop: () => pooler.close().then(servers.remove),
    })
  }

const noPgbouncer = (keeps: boolean): string | null => {
  if (pgbouncerThat(keeps) !== null) return null
  return keeps
    ? 'Install PgBouncer 1.21 or newer, and let TEST_PGBOUNCER name it.'
    : 'Install PgBouncer older than 1.21 as /usr/sbin/pgbouncer (Debian 12: apt-get install pgbouncer).'
}

/** The least that a service takes (REPLICA_MAX_STALENESS_MS) is half a second, within which a busy machine may not come round. */
const staleMs = 2_000
const replicas = (servers: readonly DatabaseServer[]): Readonly<Record<string, string>> => ({
  DATABASE_REPLICA_URLS: servers.map(({ url }) => url).join(),
  REPLICA_MAX_STALENESS_MS: String(staleMs),
})

const openReplica: Topology['open'] = async (options) => {
  const servers = await openReplicated(1, options)
  const { primary, standbys } = servers
  return standOn(primary, standbys, options, { environment: replicas(standbys), staleMs, drop: servers.remove })
}

const listing = (servers: readonly DatabaseServer[], user: string): string =>
  `postgresql://${user}@${servers.map(({ cluster }) => `127.0.0.1:${cluster.port}`).join()}/replicated` +
  '?target_session_attrs=read-write'

/** Whoever may read it knows at once which timeline a replica follows (docs/scale.md). */
const timelineSql = 'grant pg_monitor to authenticator;'

const openPromotion: Topology['open'] = async (options) => {
  const servers = await openReplicated(2, { ...options, sql: `${options.sql}\n${timelineSql}` })
  const { primary, standbys } = servers
  const [heir, ...others] = standbys
  if (heir === undefined) throw new Error('There is nobody to promote.')
  const around = {
    url: listing([primary, heir], 'authenticator'),
    environment: { DATABASE_OWNER_URL: listing([primary, heir], 'postgres'), ...replicas(standbys) },
    staleMs,
    drop: servers.remove,
  }
  const before = await standOn(primary, standbys, options, { ...around, drop: () => Promise.resolve() })
  const promote = async (): Promise<Standing> => {
    await before.drop()
    // It sends them the rest before it ends, so that none of them is ahead of the heir (manual 18.5, fast shutdown).
    await primary.cluster.stop()
    await heir.query('select pg_promote()')
    return standOn(heir, others, options, around)
  }
  return { ...before, promote, drop: () => before.drop().then(servers.remove) }
}

const openCitus: Topology['open'] = async ({ sql }) => {
  const major = citusMajor()
  if (major === null) throw new Error(noCitus() ?? '')
  return { ...(await createDistributed(major, sql)), cluster: null, environment: {}, staleMs: 0, promote: null }
}

const noCitus = (): string | null =>
  citusMajor() === null ? 'Install Citus for the PostgreSQL in /usr/lib/postgresql that tests run on.' : null

const nothing = (): null => null

export const topologies: readonly Topology[] = [
  {
    name: 'workers',
    has: 'a server, and a service of two workers',
    missing: nothing,
    open: withSettings({ WORKERS: '2' }),
  },
  {
    name: 'pooler',
    has: 'a server behind PgBouncer in transaction mode, which keeps prepared statements',
    missing: () => noPgbouncer(true),
    open: throughPgbouncer(true),
  },
  {
    name: 'pooler-without-statements',
    has: 'a server behind PgBouncer in transaction mode, which keeps none',
    missing: () => noPgbouncer(false),
    open: throughPgbouncer(false),
  },
  { name: 'replica', has: 'a primary and a hot standby, which answers reads', missing: nothing, open: openReplica },
  {
    name: 'promotion',
    has: 'a primary and two hot standbys, one of which takes its place',
    missing: nothing,
    open: openPromotion,
  },
  { name: 'citus', has: 'a coordinator and two worker nodes', missing: noCitus, open: openCitus },
]

/** The one of that name; throws where there is none. */
export const topologyNamed = (name: string): Topology => {
  const found = topologies.find((one) => one.name === name)
  if (found !== undefined) return found
  throw new Error(`There is no topology ${name}; there are ${topologies.map((one) => one.name).join(', ')}.`)
}

/** That of TEST_TOPOLOGY; null: tests ask one server directly. Throws where something is not installed. */
export const chosenTopology = (): Topology | null => {
  const name = process.env['TEST_TOPOLOGY'] ?? ''
  if (name === '') return null
  const topology = topologyNamed(name)
  const missing = topology.missing()
  if (missing !== null) throw new Error(missing)
  return topology
}

const openDirectly = withSettings({})

/** Opens the one that was chosen, behind its promotion where it has one. */
export const openChosen = async (options: TopologyOptions): Promise<Standing> => {
  const standing = await (chosenTopology()?.open ?? openDirectly)(options)
  return standing.promote === null ? standing : standing.promote()
}
