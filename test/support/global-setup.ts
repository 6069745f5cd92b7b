import { readFileSync } from 'node:fs'
import pg from 'pg'
import type { Binaries } from '../../runtime/db/embedded/postgres-process.ts'
import { startCluster, sweepClusters } from './cluster.ts'
import type { ThrowAwayCluster } from './cluster.ts'
import { arePublished, publishClusters, wantedMajor, type Major } from './clusters.ts'
import { makeTemplates, warmTemplates } from './database.ts'
import { binariesOf, embeddedMajor, isMissing } from './major-binaries.ts'
import { isWhole } from './whole.ts'

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

/** A budget that no test asserts: a machine may be slow or busy. */
function reportSeconds(since: number): void {
  const { seconds } = JSON.parse(readFileSync('test/budgets.json', 'utf8')) as { readonly seconds: number }
  const took = Math.round((performance.now() - since) / 1_000)
  if (took > seconds) console.warn(`\nThe tests took ${took} s; their budget on two cores is ${seconds} s.\n`)
}

export default async function setUp(): Promise<() => Promise<void>> {
  if (arePublished()) return () => Promise.resolve()
  const began = performance.now()
  const made: ThrowAwayCluster[] = []
  const tearDown = async (): Promise<void> => {
    reportSeconds(began)
    await Promise.all(made.map((cluster) => cluster.remove()))
    // Isolated clusters of workers that ended before their test could drop them.
    await sweepClusters()
  }
  try {
    await sweepClusters()
    const started = await Promise.all(
      (await wanted()).map(async ([major, binaries]) => {
        const first = await startCluster({ binaries, pristine: null })
        made.push(first)
        await makeTemplates(first.port)
        await first.stop()
        const cluster = await startCluster({ binaries, pristine: first.folder })
        made.push(cluster)
        const { port } = cluster
        await warmTemplates(port)
        return { major, port, binaries, pristine: first.folder, postgis: await offers(port, 'postgis') }
      }),
    )
    if (!started.some(({ postgis }) => postgis)) {
      console.warn(
        '\nPostGIS is installed for none of these servers (Debian: postgresql-15-postgis-3): geo is not tested.\n',
      )
    }
    publishClusters(started)
    if (!isWhole) console.info('\nLaws are asked of the newest PostgreSQL, and briefly: npm run test:whole asks all.\n')
  } catch (error) {
    await tearDown()
    throw error
  }
  return tearDown
}
