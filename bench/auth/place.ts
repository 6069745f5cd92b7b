import { join } from 'node:path'
import { withAuthDatabase } from '../../compiler/commands/auth-database.ts'
import { loadDemo } from '../../compiler/commands/start.ts'
import { makeHash } from '../../runtime/auth/secrets/algorithms.ts'
import { migrateAuth } from '../../runtime/auth/schema/migrate.ts'
import { setFirstSettings } from '../../runtime/auth/settings/store.ts'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import { createDatabase, type TestDatabase } from '../../test/support/database.ts'
import { httpRequest } from '../support/http-client.ts'
import { startPostgres } from '../support/postgres.ts'
import { commandLine, projectFolder } from '../support/record.ts'
import { startServer, type Server } from '../support/servers.ts'

/** The subjects of a run: our server and the limit, each a separate process, on one database of one Postgres. */
export interface Place {
  readonly db: TestDatabase
  readonly secret: string
  readonly anon: string
  readonly password: string
  readonly storedHash: string
  /** Id of the postmaster. */
  readonly postgres: number
  readonly ours: Server
  readonly limit: Server
}

const secret = 'a secret that has more than thirty-two characters'
const password = 'a good password'
/** Header with the source address of a request: every request of a run has one, as in production. */
export const addressHeader = 'x-bench-address'
const poolSize = '6'

/** Mails stay in the outbox and all other settings have defaults, including every limit by address. */
const settings = { auth_enabled: 'on', site_url: 'https://app.example.com', mail_ceiling: '1000000' }

async function enableAuth(db: TestDatabase): Promise<void> {
  await migrateAuth({ url: db.ownerUrl })
  await withAuthDatabase(db.ownerUrl, ({ run }) => setFirstSettings(run, settings))
}

const ready = (path: string, headers = {}): Buffer => httpRequest({ method: 'GET', path, headers })

/** Starts everything; `later` receives the cleanups. */
export async function openPlace(later: (close: () => unknown) => void): Promise<Place> {
  const postgres = await startPostgres()
  later(postgres.stop)
  const db = await createDatabase({ prepare: true })
  later(db.drop)
  await enableAuth(db)
  await loadDemo(db.ownerUrl, () => undefined)
  const { anon } = projectKeys(secret)
  const storedHash = await makeHash(password)
  const shared = { JWT_SECRET: secret, AUTH_POOL_SIZE: poolSize }
  const ours = await startServer({
    name: 'ours',
    args: [...profiling(), commandLine, 'serve'],
    env: { ...shared, DATABASE_URL: db.url, DATABASE_OWNER_URL: db.ownerUrl, CLIENT_ADDRESS_HEADER: addressHeader },
    ready: ready('/readyz'),
  })
  later(ours.stop)
  const limit = await startServer({
    name: 'limit',
    args: [join(projectFolder, 'bench/dist/bench/auth/limit-server.js')],
    env: { ...shared, DATABASE_URL: db.ownerUrl, ANON_KEY: anon, STORED_HASH: storedHash },
    ready: ready('/health', { apikey: anon }),
  })
  later(limit.stop)
  return { db, secret, anon, password, storedHash, postgres: postgres.pid, ours, limit }
}

/** BENCH_PROFILE=FOLDER writes a CPU profile of our server there at the end of the run. */
function profiling(): readonly string[] {
  const folder = process.env['BENCH_PROFILE']
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}
