import pg from 'pg'
import {
  owner,
  startCluster,
  startStandby,
  type ClusterSource,
  type Endpoint,
  type Host,
  type ThrowAwayCluster,
} from './cluster.ts'
import { clusterOf, majors } from './clusters.ts'
import { asMaintenance, beginningOf, prepareFor } from './database.ts'

/** One server of a replicated database. */
export interface DatabaseServer {
  readonly cluster: ThrowAwayCluster
  /** As the login role of requests. */
  readonly url: string
  /** As the owner of the database. */
  readonly ownerUrl: string
  readonly superuserUrl: string
  /** Runs as the superuser, who promotes a server and looks at its log; on a connection of its own. */
  readonly query: (text: string) => Promise<pg.QueryResult>
  /** Its log so far. */
  readonly log: readonly string[]
}

/** A primary, and as many servers that replay what it commits; they are standby0, standby1 and so on to it. */
export interface ReplicatedDatabase {
  readonly primary: DatabaseServer
  readonly standbys: readonly DatabaseServer[]
  readonly remove: () => Promise<void>
}

const name = 'replicated'

const urlOn = ({ address, port }: Endpoint, user: string): string => `postgres://${user}@${address}:${port}/${name}`

const runOn = async (url: string, text: string): Promise<pg.QueryResult> => {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

const serverOn = (cluster: ThrowAwayCluster, log: readonly string[]): DatabaseServer => {
  const superuserUrl = urlOn(cluster, 'postgres')
  return {
    cluster,
    url: urlOn(cluster, 'authenticator'),
    ownerUrl: urlOn(cluster, owner),
    superuserUrl,
    log,
    query: (text) => runOn(superuserUrl, text),
  }
}

export interface ReplicatedOptions {
  /** Left out: the first major of the run. */
  readonly source?: ClusterSource
  /** Of each server, beside the usual ones. */
  readonly settings?: Readonly<Record<string, string>>
  /** Of the primary and the standbys; left out: this one. */
  readonly hosts?: readonly Host[]
  /** The address under which standbys reach a server; absent: its usual one. */
  readonly upstream?: (server: Endpoint) => Promise<Endpoint>
}

/** @param sql what the database holds beside what compiler/following/prepare makes */
export async function createReplicated(
  standbyCount: number,
  sql: string,
  { source = clusterOf(majors()[0] ?? 18), settings = {}, hosts = [], upstream }: ReplicatedOptions = {},
): Promise<ReplicatedDatabase> {
  const log: string[] = []
  const on = (place: number): ClusterSource => ({ ...source, ...(hosts[place] && { host: hosts[place] }) })
  const cluster = await startCluster(on(0), (line) => log.push(line), settings)
  const primary = serverOn(cluster, log)
  const { template, missing } = beginningOf(source, 'auth')
  await asMaintenance(cluster.port, `create database ${name} owner ${owner} template ${template}`, cluster.address)
  if (missing !== null) await prepareFor(missing, (user) => urlOn(cluster, user))
  await runOn(primary.ownerUrl, sql)
  const standbys: DatabaseServer[] = []
  for (let number = 0; number < standbyCount; number += 1) {
    const lines: string[] = []
    const all = [cluster, ...standbys.map((standby) => standby.cluster)]
    const servers = upstream === undefined ? all : await Promise.all(all.map(upstream))
    const tell = (line: string): void => void lines.push(line)
    standbys.push(serverOn(await startStandby(on(number + 1), cluster, servers, `standby${number}`, tell), lines))
  }
  const remove = async (): Promise<void> => {
    for (const { cluster: one } of [...standbys, primary]) await one.remove()
  }
  return { primary, standbys, remove }
}
