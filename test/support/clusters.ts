import type { ClusterSource } from './cluster.ts'

/** The Postgres servers of one test run, as the global set-up hands them to the workers through the environment. */

export type Major = 15 | 18

/** What a database may hold from its beginning: what compiler/prepare makes, and the tables of auth beside it. */
export type Prepared = 'api' | 'auth'

/** The source is for tests that need a server of their own. */
export interface Cluster extends ClusterSource {
  readonly major: Major
  readonly port: number
  /** Whether PostGIS can be created on it. */
  readonly postgis: boolean
  /** Names of databases to copy, to which nobody connects; null: there are none. */
  readonly templates: Readonly<Record<Prepared, string>> | null
}

const variable = 'CATALOGRAPH_TEST_CLUSTERS'

export const publishClusters = (clusters: readonly Cluster[]): void => {
  process.env[variable] = JSON.stringify(clusters)
}

const clusters = (): readonly Cluster[] => {
  const text = process.env[variable]
  if (text === undefined) throw new Error('No test cluster is running: test/support/global-setup.ts has not run.')
  return JSON.parse(text) as readonly Cluster[]
}

/** Majors that this run can test on, the default one first. */
export const majors = (): readonly Major[] => {
  const wanted = process.env['TEST_PG'] === '15' ? 15 : 18
  const known = clusters().map((cluster) => cluster.major)
  return [...known].sort((a, b) => Number(b === wanted) - Number(a === wanted))
}

/** The first of them with PostGIS, null where none has it: what needs it is then skipped, and says so. */
export const postgisMajor = (): Major | null => majors().find((major) => clusterOf(major).postgis) ?? null

export const clusterOf = (major: Major): Cluster => {
  const found = clusters().find((cluster) => cluster.major === major)
  if (found === undefined) throw new Error(`PostgreSQL ${major} is not available in this test run.`)
  return found
}
