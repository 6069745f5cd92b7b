import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startCluster, sweepClusters, type ClusterSource } from '../../test/support/cluster.ts'
import type { TestDatabase } from '../../test/support/database.ts'
import { pristineOf, publishClusters, type Major } from '../../test/support/clusters.ts'
import { binariesOf, isMissing } from '../../test/support/major-binaries.ts'

/** The temporary Postgres of a run: nothing is synced to disk, so the cost of writes is CPU. */
export interface BenchPostgres {
  readonly major: Major
  readonly port: number
  /** Of the postmaster. */
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** The programs of that version. */
export const postgresSource = async (major: Major = 18): Promise<ClusterSource> => {
  await sweepClusters()
  const binaries = await binariesOf(major)
  if (binaries === null) throw new Error(isMissing(major))
  return { binaries, pristine: pristineOf(major) }
}

/** Starts one; `createDatabase` of test/support then makes databases on it. */
export const startPostgres = async (major: Major = 18): Promise<BenchPostgres> => {
  const source = await postgresSource(major)
  const cluster = await startCluster(source)
  publishClusters([{ major, port: cluster.port, postgis: false, ...source }])
  return { major, port: cluster.port, pid: await postmasterOf(cluster.folder), stop: cluster.remove }
}

/** The process of a server by its data folder (manual 65.1). */
const postmasterOf = async (folder: string): Promise<number> => {
  const [pid] = (await readFile(join(folder, 'postmaster.pid'), 'utf8')).split('\n')
  return Number(pid)
}

/** The postmaster of a database. */
export const serverPid = async ({ query }: Pick<TestDatabase, 'query'>): Promise<number> => {
  const { rows } = await query('show data_directory')
  return postmasterOf((rows[0] as { readonly data_directory: string }).data_directory)
}
