import pg from 'pg'
import { splitSql } from '../../compiler/commands/advise/diff/script.ts'
import { startCluster, type ThrowAwayCluster } from './cluster.ts'
import { clusterOf, majors, type Major } from './clusters.ts'
import { asMaintenance, openQuery, prepareFor, type TestDatabase } from './database.ts'
import { isInstalled } from './programs.ts'

const databaseName = 'distributed'

/** Where Debian's servers look for extensions. */
const controlFile = (major: Major): string => `/usr/share/postgresql/${major}/extension/citus.control`

const isDebians = (major: Major): boolean => clusterOf(major).binaries.postgres.startsWith('/usr/lib/postgresql/')

/** The first of this run's majors for which Citus is installed; null: what needs it is skipped, and says so. */
export const citusMajor = (): Major | null =>
  majors().find((major) => isDebians(major) && isInstalled(controlFile(major))) ?? null

/** A missing program that must be installed; null: none. */
export const noCitus = (): string | null =>
  citusMajor() === null ? 'Install Citus for the PostgreSQL in /usr/lib/postgresql that tests run on.' : null

type Settings = Readonly<Record<string, string>>

const settings: Settings = {
  shared_preload_libraries: 'citus',
  'citus.shard_count': '4',
  max_prepared_transactions: '50',
}

interface Node {
  readonly cluster: ThrowAwayCluster
  readonly log: readonly string[]
  /** Connected as the superuser. */
  readonly client: pg.Client
}

const urlOn = ({ port }: ThrowAwayCluster, user: string): string =>
  `postgres://${user}@127.0.0.1:${port}/${databaseName}`

const startNode = async (major: Major, given: Settings): Promise<Node> => {
  const log: string[] = []
  const cluster = await startCluster(clusterOf(major), (line) => log.push(line), { ...settings, ...given })
  await asMaintenance(cluster.port, `create database ${databaseName}`)
  const client = new pg.Client(urlOn(cluster, 'postgres'))
  client.on('error', () => undefined)
  await client.connect()
  await client.query('create extension citus')
  return { cluster, log, client }
}

const stopNode = async ({ client, cluster }: Node): Promise<void> => {
  await client.end()
  await cluster.remove()
}

/**
 * A database of Citus, a coordinator and two workers that hold the shards; all of them go when it is dropped.
 * @param sql what it holds beside what compiler/following/prepare makes
 * @param given settings of each node beside the usual ones
 */
export async function createDistributed(major: Major, sql: string, given: Settings = {}): Promise<TestDatabase> {
  const nodes = await Promise.all([startNode(major, given), startNode(major, given), startNode(major, given)])
  const [coordinator, ...workers] = nodes
  const { client, cluster, log } = coordinator
  const asLogin = openQuery(urlOn(cluster, 'authenticator'))
  const drop = async (): Promise<void> => {
    await asLogin.end()
    await Promise.all(nodes.map(stopNode))
  }
  try {
    await client.query(`select citus_set_coordinator_host('127.0.0.1', ${cluster.port})`)
    for (const worker of workers) await client.query(`select citus_add_node('127.0.0.1', ${worker.cluster.port})`)
    await prepareFor('auth', () => urlOn(cluster, 'postgres'))
    // Citus hands the whole text on that a command stands in.
    for (const { text } of splitSql(sql)) await client.query(text)
  } catch (error) {
    await drop()
    throw error
  }
  const superuserUrl = urlOn(cluster, 'postgres')
  const query: TestDatabase['query'] = (text, values = []) => client.query(text, [...values])
  return {
    major,
    url: urlOn(cluster, 'authenticator'),
    // Its nodes know this role alone.
    ownerUrl: superuserUrl,
    query,
    queryAsLogin: asLogin.query,
    superuser: () => ({ url: superuserUrl, query }),
    log,
    drop,
  }
}
