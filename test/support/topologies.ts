import type { Major } from './clusters.ts'
import { citusMajor, noCitus, createDistributed } from './distributed.ts'
import { owner } from './cluster.ts'
import { noHosts } from './hosts/hosts.ts'
import { openSeveralHosts } from './hosts/several.ts'
import { findPgcat, noPgcat, startPgcat } from './pgcat.ts'
import { noPgbouncer, pgbouncerThat, startPgbouncer } from './pgbouncer.ts'
import type { PoolerProcess } from './pooler-process.ts'
import { openReplicated, plain, replicas, staleMs, standOn, type Standing, type TopologyOptions } from './standing.ts'
import type { DatabaseServer } from './replicated.ts'

/** The topologies of docs/scale.md between a service and its data: each is a row, which starts all of its servers on loopback. */

export interface Topology {
  readonly name: string
  /** Its servers. */
  readonly has: string
  /** A missing program that must be installed first; null: none. */
  readonly missing: () => string | null
  readonly open: (options: TopologyOptions) => Promise<Standing>
}

const withSettings =
  (environment: Readonly<Record<string, string>>): Topology['open'] =>
  async (options) => {
    const servers = await openReplicated(0, options)
    return standOn(servers.primary, [], options, { environment, drop: servers.remove })
  }

/** @param start before the server at that port */
const through =
  (start: (serverPort: number) => Promise<PoolerProcess>, more: Partial<Standing> = {}): Topology['open'] =>
  async (options) => {
    const servers = await openReplicated(0, options)
    const pooler = await start(servers.primary.cluster.port)
    const along = (url: string): string => Object.assign(new URL(url), { port: String(pooler.port) }).href
    return standOn(servers.primary, [], options, {
      url: along(servers.primary.url),
      environment: {
        DATABASE_OWNER_URL: along(servers.primary.ownerUrl),
        DATABASE_LISTEN_URL: servers.primary.url,
      },
      pooler: pooler.pid,
      ...more,
      drop: () => pooler.close().then(servers.remove),
    })
  }

const throughPgbouncer = (keeps: boolean): Topology['open'] =>
  through((serverPort) => {
    const found = pgbouncerThat(keeps)
    if (found === null) throw new Error(noPgbouncer(keeps) ?? '')
    const lines = ['default_pool_size = 20', 'min_pool_size = 12', 'max_client_conn = 200', 'server_login_retry = 1']
    return startPgbouncer({
      program: found.path,
      serverPort,
      lines: keeps ? [...lines, 'max_prepared_statements = 200'] : lines,
    })
  })

const throughPgcat = through(
  (serverPort) => {
    const found = findPgcat()
    if (found === null) throw new Error(noPgcat() ?? '')
    return startPgcat({ program: found.path, serverPort, size: 20 })
  },
  { missesEnds: true },
)

const openReplica: Topology['open'] = async (options) => {
  const servers = await openReplicated(1, options)
  const { primary, standbys } = servers
  return standOn(primary, standbys, options, { environment: replicas(standbys), staleMs, drop: servers.remove })
}

const listing = (servers: readonly DatabaseServer[], user: string): string =>
  `postgresql://${user}@${servers.map(({ cluster }) => `127.0.0.1:${cluster.port}`).join()}/replicated` +
  '?target_session_attrs=read-write'

/** Anyone who may read it knows at once which timeline a replica follows (docs/scale.md). */
const timelineSql = 'grant pg_monitor to authenticator'

const openPromotion: Topology['open'] = async (options) => {
  const servers = await openReplicated(2, options)
  const { primary, standbys } = servers
  await primary.query(timelineSql)
  const [heir, ...others] = standbys
  if (heir === undefined) throw new Error('There is nobody to promote.')
  const around = {
    url: listing([primary, heir], 'authenticator'),
    environment: { DATABASE_OWNER_URL: listing([primary, heir], owner), ...replicas(standbys) },
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
  const database = await createDistributed(major, sql)
  return { ...plain, ...database, cluster: null, environment: {}, distributed: true }
}

const nothing = (): null => null

const noSeveralHosts = (): string | null => (noPgbouncer(true) === null ? null : noPgbouncer(false)) ?? noHosts()

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
  {
    name: 'pgcat',
    has: 'a server behind pgcat in transaction mode',
    missing: noPgcat,
    open: throughPgcat,
  },
  { name: 'replica', has: 'a primary and a hot standby, which answers reads', missing: nothing, open: openReplica },
  {
    name: 'promotion',
    has: 'a primary and two hot standbys, one of which takes its place',
    missing: nothing,
    open: openPromotion,
  },
  { name: 'citus', has: 'a coordinator and two worker nodes', missing: noCitus, open: openCitus },
  {
    name: 'hosts',
    has: 'a server, a pooler, a primary and a replica, each on a host of its own (network namespaces)',
    missing: noSeveralHosts,
    open: openSeveralHosts,
  },
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

/** Of these majors those that the run asks of: Citus has one. */
export const chosenMajors = (all: readonly Major[]): readonly Major[] => {
  const major = chosenTopology()?.name === 'citus' ? citusMajor() : null
  return major === null ? all : [major]
}

const openDirectly = withSettings({})

/** Opens the one that was chosen, behind its promotion where it has one. */
export const openChosen = async (options: TopologyOptions): Promise<Standing> => {
  const standing = await (chosenTopology()?.open ?? openDirectly)(options)
  return standing.promote === null ? standing : standing.promote()
}
