import { appendFile, chmod, chown, mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { clearOrphan } from '../../runtime/db/embedded/folder-claim.ts'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { serverAccount } from '../../runtime/db/embedded/postgres-account.ts'
import { runProgram, startServer } from '../../runtime/db/embedded/postgres-process.ts'
import type { Account, Binaries, ServerProcess } from '../../runtime/db/embedded/postgres-process.ts'
import { processIdentity } from '../../runtime/db/embedded/processes.ts'

export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** Where a program may run. */
export interface Host {
  readonly address: string
  /** A program that runs this one there, as that account; our own account must start it. */
  readonly launcher: (program: string, account: Account) => Promise<string>
}

const loopback = '127.0.0.1'

/** A throw-away server: nothing is synced to disk, every connection is trusted, and the folder is deleted with it. */
export interface ThrowAwayCluster extends Endpoint {
  readonly folder: string
  /** Starts it again on the same port and folder after `stop`. */
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Ends it without a checkpoint, and without sending standbys the rest (manual 18.5, immediate shutdown). */
  readonly kill: () => Promise<void>
  readonly remove: () => Promise<void>
}

const settings = (port: number): Readonly<Record<string, string>> => ({
  port: String(port),
  listen_addresses: loopback,
  unix_socket_directories: '',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '100',
  autovacuum: 'off',
  // Statements of tests run once or twice; JIT compilation takes a third of a second of each read of a catalogue.
  jit: 'off',
  // The log lies in memory, too.
  max_wal_size: '128MB',
  min_wal_size: '32MB',
})

/** Owns the databases of tests, and made the roles of the API. As on managed services, it is not a superuser. */
export const owner = 'owner'

/**
 * Roles are shared by all databases of a cluster, so they are made once. A superuser must do this for the owner:
 * service_role bypasses policies, and the schema public of databases to come, which belongs to their owner since PostgreSQL 15.
 */
const rolesSql = `
  create role ${owner} login createrole createdb;
  set role ${owner};
  create role anon nologin noinherit;
  create role authenticated nologin noinherit;
  create role service_role nologin noinherit;
  create role authenticator login noinherit;
  create role supabase_auth_admin login noinherit createrole;
  grant anon, authenticated, service_role to authenticator;
  reset role;
  alter role service_role bypassrls;
  do $$ begin
    if current_setting('server_version_num')::int < 150000 then alter schema public owner to ${owner}; end if;
  end $$;
`

const createRoles = async ({ address: host, port }: Endpoint): Promise<void> => {
  const client = new pg.Client({ host, port, user: 'postgres', database: 'template1' })
  await client.connect()
  await client.query(rolesSql)
  await client.end()
}

const prefix = 'catalograph-test-'

const memory = '/dev/shm'
const roomBytes = 2 * 2 ** 30

/**
 * Where clusters lie: in memory, where there is room for them. Each database is 300 files, and a file system on a disk
 * spends more time on making and forgetting them than all tests spend on what is in them.
 */
const clusterPlace = async (): Promise<string> => {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize < roomBytes ? tmpdir() : memory
}
const ownerFile = (parent: string): string => join(parent, 'owner')

const clustersIn = async (place: string): Promise<readonly string[]> => {
  const names = await readdir(place).catch(() => [])
  return names.filter((name) => name.startsWith(prefix)).map((name) => join(place, name))
}

/** Removes the clusters of test runs that were killed: their owner is gone, their server may still run. */
export const sweepClusters = async (): Promise<void> => {
  for (const parent of [...(await clustersIn(tmpdir())), ...(await clustersIn(memory))]) {
    const owner = await readFile(ownerFile(parent), 'utf8').catch(() => null)
    if (owner === null || (await processIdentity(Number.parseInt(owner, 10))) === owner) continue
    await clearOrphan(join(parent, 'data'))
    await rm(parent, { recursive: true, force: true })
  }
}

/** The parts of a cluster. */
export interface ClusterSource {
  readonly binaries: Binaries
  /**
   * The folder of a stopped cluster to copy, which has the roles of the API and, beside them, the databases of templateOf: that
   * takes a tenth of the time that making them takes. Null: a new cluster is made, which has the roles alone.
   */
  readonly pristine: string | null
  /** Left out: they run on this one. */
  readonly host?: Host
}

const newFolder = async (account: Account): Promise<string> => {
  const parent = await mkdtemp(join(await clusterPlace(), prefix))
  await writeFile(ownerFile(parent), (await processIdentity(process.pid)) ?? '')
  await chmod(parent, 0o755)
  if (account !== null) await chown(parent, account.uid, account.gid)
  return join(parent, 'data')
}

const everybody = ['all', 'replication'].map((database) => `host ${database} all all trust\n`).join('')

const fill = async (account: Account, folder: string, { binaries, pristine }: ClusterSource): Promise<void> => {
  const flags = ['--no-sync', '--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C']
  if (pristine !== null) return runProgram(account, 'cp', ['-a', pristine, folder])
  return runProgram(account, binaries.initdb, [`--pgdata=${folder}`, ...flags])
}

/** A cluster on a folder that is filled, and the server that runs on it. */
const runCluster = async (
  account: Account,
  { binaries, host }: Pick<ClusterSource, 'binaries' | 'host'>,
  folder: string,
  given: Readonly<Record<string, string>>,
  onLine?: (line: string) => void,
): Promise<ThrowAwayCluster> => {
  const port = await freePort()
  const address = host?.address ?? loopback
  const postgres = host === undefined ? binaries.postgres : await host.launcher(binaries.postgres, account)
  if (host !== undefined) await appendFile(join(folder, 'pg_hba.conf'), everybody)
  const all = { ...settings(port), listen_addresses: address, ...given }
  const start = (): Promise<ServerProcess> =>
    startServer(host === undefined ? account : null, { ...binaries, postgres }, folder, all, onLine)
  let server = await start()
  return {
    address,
    port,
    folder,
    restart: async () => {
      server = await start()
    },
    stop: () => server.stop(),
    kill: async () => {
      process.kill(server.pid, 'SIGQUIT')
      await server.stop()
    },
    remove: async () => {
      await server.stop()
      await rm(dirname(folder), { recursive: true, force: true })
    },
  }
}

/**
 * A hot standby that replays what a cluster commits, or whichever of the others is promoted; that one is stopped for a moment, to
 * be copied.
 * @param servers where it finds the primary, or the server that takes its place
 * @param name what the primary knows it by
 */
export const startStandby = async (
  source: Pick<ClusterSource, 'binaries' | 'host'>,
  primary: ThrowAwayCluster,
  servers: readonly Endpoint[],
  name: string,
  onLine?: (line: string) => void,
): Promise<ThrowAwayCluster> => {
  const account = await serverAccount()
  const folder = await newFolder(account)
  await primary.stop()
  await runProgram(account, 'cp', ['-a', primary.folder, folder])
  await primary.restart()
  await runProgram(account, 'touch', [join(folder, 'standby.signal')])
  const [hosts, ports] = [servers.map(({ address }) => address).join(), servers.map(({ port }) => port).join()]
  const given = {
    primary_conninfo: `host=${hosts} port=${ports} target_session_attrs=read-write user=postgres application_name=${name}`,
    wal_retrieve_retry_interval: '100',
  }
  return runCluster(account, source, folder, given, onLine)
}

/**
 * Makes a cluster with the roles of the API and starts it; `onLine` receives each line of its log.
 * @param given settings beside the usual ones
 */
export const startCluster = async (
  source: ClusterSource,
  onLine?: (line: string) => void,
  given: Readonly<Record<string, string>> = {},
): Promise<ThrowAwayCluster> => {
  const account = await serverAccount()
  const folder = await newFolder(account)
  await fill(account, folder, source)
  const cluster = await runCluster(account, source, folder, given, onLine)
  if (source.pristine === null) await createRoles(cluster)
  return cluster
}
