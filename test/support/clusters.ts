import type { ClusterSource } from './cluster.ts'

/** The Postgres servers of one test run, as the global set-up hands them to the workers through the environment. */

export const allMajors = [14, 15, 16, 17, 18] as const
export type Major = (typeof allMajors)[number]

/** The objects that a database may have from its beginning: those of compiler/following/prepare, and the tables of auth. */
export type Prepared = 'api' | 'auth'

/** The databases to copy that hold it, which have no sessions; every copied cluster has them. */
export const templateOf: Readonly<Record<Prepared, string>> = { api: 'template_api', auth: 'template_auth' }

/** The source is for tests that need a server of their own. */
export interface Cluster extends ClusterSource {
  readonly major: Major
  readonly port: number
  /** Whether PostGIS can be created on it. */
  readonly postgis: boolean
}

const variable = 'CATALOGRAPH_TEST_CLUSTERS'

export const publishClusters = (clusters: readonly Cluster[]): void => {
  process.env[variable] = JSON.stringify(clusters)
}

/** Of a run that a test starts: the servers of the run around it serve it, too. */
export const arePublished = (): boolean => process.env[variable] !== undefined

const clusters = (): readonly Cluster[] => {
  const text = process.env[variable]
  if (text === undefined) throw new Error('No test cluster is running: test/support/global-setup.ts has not run.')
  return JSON.parse(text) as readonly Cluster[]
}

/** Majors that this run can test on, the default one first: that of TEST_PG, else the newest. */
export const majors = (): readonly Major[] => {
  const known = clusters().map((cluster) => cluster.major)
  const wanted = wantedMajor() ?? Math.max(...known)
  return [...known].sort((a, b) => Number(b === wanted) - Number(a === wanted))
}

/** The major that TEST_PG names; null: it names none. */
export const wantedMajor = (): Major | null => {
  const text = process.env['TEST_PG'] ?? ''
  if (text === '') return null
  const found = allMajors.find((major) => String(major) === text)
  if (found === undefined) throw new Error(`TEST_PG=${text}: it is one of ${allMajors.join(', ')}.`)
  return found
}

/** The first of them with PostGIS, null where none has it: what needs it is then skipped, and says so. */
export const postgisMajor = (): Major | null => majors().find((major) => clusterOf(major).postgis) ?? null

/** The template of clusters of that major; null outside of a test run. */
export const pristineOf = (major: Major): string | null =>
  process.env[variable] === undefined ? null : (clusters().find((one) => one.major === major)?.pristine ?? null)

export const clusterOf = (major: Major): Cluster => {
  const found = clusters().find((cluster) => cluster.major === major)
  if (found === undefined) throw new Error(`PostgreSQL ${major} is not available in this test run.`)
  return found
}
