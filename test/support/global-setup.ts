import pg from 'pg'
import type { Binaries } from '../../runtime/embedded-postgres/postgres-process.ts'
import { initClusterFolder, removeClusterFolder, startCluster, sweepClusters } from './cluster.ts'
import type { ThrowAwayCluster } from './cluster.ts'
import { publishClusters, wantedMajor, type Cluster, type Major } from './clusters.ts'
import { asMaintenance, prepareAs } from './database.ts'
import { binariesOf, embeddedMajor, isMissing } from './major-binaries.ts'

/**
 * One server per major version for the whole run: the embedded PostgreSQL 18, and 15 where it is installed. TEST_PG names
 * one major, on which alone the tests then run.
 */
const wanted = async (): Promise<readonly (readonly [Major, Binaries])[]> => {
  const one = wantedMajor()
  const found: (readonly [Major, Binaries])[] = []
  for (const major of one === null ? ([embeddedMajor, 15] as const) : [one]) {
    const binaries = await binariesOf(major)
    if (binaries !== null) found.push([major, binaries])
    else if (one !== null) throw new Error(isMissing(major))
    else console.warn(`\n${isMissing(major)} This run leaves it out.\n`)
  }
  return found
}

async function offers(port: number, extension: string): Promise<boolean> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_available_extensions where name = $1', [extension])
    return rowCount === 1
  } finally {
    await client.end()
  }
}

/** Most tests begin with one of these: copying is several times as fast as making what they hold. */
async function makeTemplates(port: number): Promise<Cluster['templates']> {
  const templates = { api: 'template_api', auth: 'template_auth' } as const
  for (const kind of ['api', 'auth'] as const) {
    await asMaintenance(port, `create database ${templates[kind]}`)
    await prepareAs(kind, `postgres://postgres@127.0.0.1:${port}/${templates[kind]}`)
  }
  return templates
}

export default async function setUp(): Promise<() => Promise<void>> {
  const running: ThrowAwayCluster[] = []
  const folders: string[] = []
  const tearDown = async (): Promise<void> => {
    await Promise.all([...running.map((cluster) => cluster.remove()), ...folders.map(removeClusterFolder)])
    // Isolated clusters of workers that ended before their test could drop them.
    await sweepClusters()
  }
  try {
    await sweepClusters()
    const started = await Promise.all(
      (await wanted()).map(async ([major, binaries]) => {
        const pristine = await initClusterFolder(binaries)
        folders.push(pristine)
        const cluster = await startCluster({ binaries, pristine })
        running.push(cluster)
        const { port } = cluster
        const [postgis, templates] = [await offers(port, 'postgis'), await makeTemplates(port)]
        return { major, port, binaries, pristine, postgis, templates }
      }),
    )
    if (!started.some(({ postgis }) => postgis)) {
      console.warn(
        '\nPostGIS is installed for none of these servers (Debian: postgresql-15-postgis-3): geo is not tested.\n',
      )
    }
    publishClusters(started)
  } catch (error) {
    await tearDown()
    throw error
  }
  return tearDown
}
