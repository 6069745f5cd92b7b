import pg from 'pg'
import type { ClusterSource, Host, ThrowAwayCluster } from './cluster.ts'
import { arePublished, clusterOf, majors, type Major } from './clusters.ts'
import { openQuery, type Superuser, type TestDatabase } from './database.ts'
import type { Random } from './random.ts'
import { createReplicated, type DatabaseServer, type ReplicatedDatabase, type ReplicatedOptions } from './replicated.ts'

export interface TopologyOptions {
  readonly major?: Major
  /** The binaries of the servers; absent: those of that major in this run. Citus has its own. */
  readonly source?: ClusterSource
  /** The objects of the database besides those of compiler/following/prepare. */
  readonly sql: string
  /** Of each server, beside the usual ones. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A database of a topology. Commits of `query` have reached each of its servers when it resolves. */
export interface Standing extends TestDatabase {
  /** The server that takes writes; null: there are several. */
  readonly cluster: ThrowAwayCluster | null
  /** Settings of a service that serves it, beside `url` and `ownerUrl`. */
  readonly environment: Readonly<Record<string, string>>
  /** Tables can be spread over servers (Citus). */
  readonly distributed: boolean
  /** How old an answer may be to anyone who has written nothing, in milliseconds. */
  readonly staleMs: number
  /** URLs of the servers that answer reads beside the first, as the superuser. */
  readonly standbys: readonly string[]
  /** The process of the pooler; null: there is none. */
  readonly pooler: number | null
  /** A pooler that does not notice when a client, or a session of Postgres that waits for one, is gone (pgcat). */
  readonly missesEnds: boolean
  /** Where a service of it runs; null: on this host. */
  readonly host: Host | null
  /** Makes lines between its parts slow, lossy and parted by turns, until it is called; null: there are none. */
  readonly upset: ((random: Random) => () => Promise<void>) | null
  /** Ends the primary and promotes a replica; resolves with the new topology. Null: there is no replica. */
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

/** The owner on the server that takes writes, and superusers that look whether the others have them. */
const openQueries = async (
  first: DatabaseServer,
  others: readonly DatabaseServer[],
): Promise<Pick<Standing, 'query'> & { readonly leave: () => Promise<void> }> => {
  const [client, watch] = [await connect(first.ownerUrl), await connect(first.superuserUrl)]
  const standbys = await Promise.all(others.map(({ superuserUrl }) => connect(superuserUrl)))
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

/** The parts of a topology around its servers. */
type Around = Pick<Standing, 'environment' | 'drop'> & Partial<Standing>

/** Members that most of them lack. */
export const plain = {
  distributed: false,
  staleMs: 0,
  standbys: [],
  pooler: null,
  missesEnds: false,
  host: null,
  upset: null,
  promote: null,
} as const

export const standOn = async (
  first: DatabaseServer,
  others: readonly DatabaseServer[],
  { major = (arePublished() ? majors()[0] : undefined) ?? 18 }: TopologyOptions,
  around: Around,
): Promise<Standing> => {
  const { query, leave } = await openQueries(first, others)
  const { url, ownerUrl, superuserUrl, log, cluster } = first
  const superuser = (): Superuser => ({ url: superuserUrl, query: first.query })
  const asLogin = openQuery(around.url ?? url)
  const drop = async (): Promise<void> => {
    await asLogin.end()
    await leave().finally(around.drop)
  }
  const standbys = others.map((other) => other.superuserUrl)
  return {
    major,
    url,
    ownerUrl,
    query,
    queryAsLogin: asLogin.query,
    superuser,
    log,
    cluster,
    ...plain,
    standbys,
    ...around,
    drop,
  }
}

export const openReplicated = (
  standbys: number,
  { sql, major, source, settings }: TopologyOptions,
  more: Pick<ReplicatedOptions, 'hosts' | 'upstream'> = {},
): Promise<ReplicatedDatabase> =>
  createReplicated(standbys, sql, {
    ...more,
    ...(source !== undefined ? { source } : major !== undefined && { source: clusterOf(major) }),
    ...(settings !== undefined && { settings }),
  })

/** The least that a service takes (REPLICA_MAX_STALENESS_MS) is half a second, within which a busy machine may not come round. */
export const staleMs = 2_000

/** Settings of a service that asks them. */
export const replicas = (servers: readonly DatabaseServer[]): Readonly<Record<string, string>> => ({
  DATABASE_REPLICA_URLS: servers.map(({ url }) => url).join(),
  REPLICA_MAX_STALENESS_MS: String(staleMs),
})
