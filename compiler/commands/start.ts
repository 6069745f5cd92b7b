import { readFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { inTransactionBlock, withSession, type Query } from '../../runtime/db/connect/session.ts'
import { packageFolder } from '../../runtime/lib/package.ts'
import { migrateAuth } from '../../runtime/auth/schema/migrate.ts'
import { setFirstSettings } from '../../runtime/auth/settings/store.ts'
import { withAuthDatabase } from './auth-database.ts'
import { type ProjectKeys, goodKey, keysOf, ownerRole, type KeyRole } from '../../runtime/identity/project-keys.ts'
import type { Settings } from '../../runtime/settings/keys.ts'
import { startEmbedded } from '../../runtime/db/embedded/embedded.ts'
import { createService } from '../additions/service.ts'
import { refuseBusyAddress, runServer } from '../../runtime/main.ts'
import { areDocsBuilt } from '../../runtime/console/docs.ts'
import { createDashboardLink } from '../../runtime/console/opening.ts'
import { createProjectKeysReader } from '../../runtime/db/connect/project-keys.ts'
import { openServerDatabase } from '../../runtime/database.ts'
import { type Command, type Terminal, exitCodes } from './command.ts'
import { createFollowedSource } from '../following/serving/followed-source.ts'
import { liveTriggersBy } from '../following/serving/live-triggers.ts'
import { createDemoAccounts, demoPassword, presentDemoAccounts } from './demo-accounts.ts'
import { logOf } from './log.ts'
import { neededSettingsOf } from './needed-settings.ts'
import { createPrepareOnce } from '../following/serving/prepare-once.ts'
import { keepHeapSmall, keepYoungSpaceSmall } from './small-heap.ts'

/** Loads the demo, in one transaction, into a database whose schema public is empty; false: it was not, and nothing was done. */
export async function loadDemo(ownerUrl: string, note: (line: string) => void): Promise<boolean> {
  return withSession({ url: ownerUrl }, async (query) => {
    if (!(await isEmpty(query))) return false
    note('Loading the demo: a blog with users, posts and comments')
    const folder = join(packageFolder(), 'fixtures', 'demo')
    const scripts = await Promise.all(['schema.sql', 'seed.sql'].map((file) => readFile(join(folder, file), 'utf8')))
    await inTransactionBlock(query, async () => {
      for (const text of ['set local search_path to public', ...scripts]) await query(text)
    })
    await query('analyze')
    return true
  })
}

async function isEmpty(query: Query): Promise<boolean> {
  const { rows } = await query<{ empty: boolean }>(
    "select not exists (select from pg_class where relnamespace = to_regnamespace('public')) as empty",
  )
  return rows[0]?.empty === true
}

/** The usual address of an application in development; trying mails out takes several in a row. */
const demoSite = 'http://localhost:3000'

/** Prepares auth and enables it once; later settings of the owner stay. */
export async function enableLocalAuth(adminUrl: string, first: FirstSettings): Promise<void> {
  await migrateAuth({ url: adminUrl })
  await withAuthDatabase(adminUrl, ({ run }) =>
    setFirstSettings(run, { auth_enabled: 'on', mail_cooldown: '1', ...first }),
  )
}

type FirstSettings = Parameters<typeof setFirstSettings>[1]

export const enableDemoAuth = (adminUrl: string): Promise<void> => enableLocalAuth(adminUrl, { site_url: demoSite })

export interface Welcome {
  readonly url: string
  readonly keys: ProjectKeys
  /** Of the local database, which only this machine reaches. */
  readonly adminUrl: string
  /** The code of the link that opens the dashboard signed in; left out: none. */
  readonly opening?: string
  /** Addresses of accounts with the demo's password. */
  readonly accounts?: readonly string[]
  /** Whether the pages of the documentation are served. */
  readonly docs?: boolean
}

const firstQuery = '{ postCollection(first: 3, orderBy: [{id: DescNullsLast}]) { edges { node { id title } } } }'

/** The addresses and keys of a local service. */
export const renderPlaces = ({ url, keys, adminUrl, opening, docs = false }: Welcome): readonly string[] => [
  '',
  `GraphQL       ${url}/graphql/v1`,
  `Auth          ${url}/auth/v1`,
  `Dashboard     ${url}/dashboard${opening === undefined ? '' : `#opening=${opening}`}`,
  ...(opening === undefined ? [] : ['              opens signed in, once and on this machine']),
  ...(docs ? [`Docs          ${url}/docs/`] : []),
  `Postgres      ${adminUrl}`,
  `anon          ${keys.anon}`,
  `service_role  ${keys.serviceRole}`,
]

/** The text once the embedded set-up serves: its address, its keys, and a working command line. */
export function renderWelcome(welcome: Welcome): string {
  const { url, keys, accounts = [] } = welcome
  return [
    ...renderPlaces(welcome),
    ...accounts.map((email) => `account       ${email}, password ${demoPassword}`),
    '',
    'Try:',
    `curl -s ${url}/graphql/v1 -H 'content-type: application/json' -H 'apikey: ${keys.anon}' \\`,
    `  -d '${JSON.stringify({ query: firstQuery })}'`,
    '',
    'Ctrl-C stops it.',
  ].join('\n')
}

/** The secret that `start` created for a data folder, or null if there is none yet. */
export async function readLocalSecret(dataFolder: string): Promise<string | null> {
  try {
    return (await readFile(secretFile(dataFolder), 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The secret that `start` created, for the embedded database; null if the settings configure a secret. */
export const embeddedSecret = async (settings: Settings): Promise<string | null> =>
  settings.databaseUrl === null && settings.databaseOwnerUrl === null ? readLocalSecret(settings.dataFolder) : null

/** The secret of a data folder; created if missing, readable by its owner only. */
export async function ensureLocalSecret(dataFolder: string): Promise<string> {
  const known = await readLocalSecret(dataFolder)
  if (known !== null) return known
  const secret = randomBytes(32).toString('base64url')
  await mkdir(dataFolder, { recursive: true })
  await writeFile(secretFile(dataFolder), `${secret}\n`, { mode: 0o600, flag: 'wx' })
  return secret
}

function secretFile(dataFolder: string): string {
  return join(dataFolder, 'jwt-secret')
}

/** Serves an embedded Postgres with the demo: a first look without any setup. */
export const startCommand: Command = {
  name: 'start',
  summary: 'Start an embedded Postgres with a demo, and serve it.',
  description:
    'The data is kept in CATALOGRAPH_DATA between starts. Change the schema of the database, and the API follows.\n' +
    'DATABASE_URL is not used; see serve.',
  options: {},
  run: async (_given, terminal) => {
    keepYoungSpaceSmall()
    const stopRequested = terminal.stopRequested()
    const settings = neededSettingsOf(terminal)
    await refuseBusyAddress(settings)
    const postgres = await startEmbedded({
      folder: join(settings.dataFolder, 'postgres'),
      port: settings.embeddedPort ?? undefined,
      onProgress: terminal.note,
    })
    try {
      await serveLocal(settings, postgres, terminal, {
        fill: async (adminUrl) => {
          await enableDemoAuth(adminUrl)
          if (await loadDemo(adminUrl, terminal.note)) await createDemoAccounts(adminUrl)
        },
        onReady: (welcome) => terminal.print(renderWelcome(welcome)),
        stopRequested,
      })
    } finally {
      await postgres.stop()
    }
    return exitCodes.done
  },
}

export interface LocalDatabase {
  readonly adminUrl: string
  readonly serveUrl: string
}

interface LocalService {
  /** Called when the database is prepared. */
  readonly fill: (adminUrl: string) => Promise<void>
  /** Called when it answers. */
  readonly onReady: (welcome: Welcome) => void
  readonly stopRequested: Promise<string>
}

/** Serves a database on this machine, until it is asked to stop. */
export async function serveLocal(
  given: Settings,
  { adminUrl, serveUrl }: LocalDatabase,
  terminal: Terminal,
  { fill, onReady, stopRequested }: LocalService,
): Promise<void> {
  const jwtSecret = given.jwtSecret ?? (await ensureLocalSecret(given.dataFolder))
  const docs = given.docs ?? true
  const settings = { ...given, docs, jwtSecret, databaseUrl: serveUrl, databaseOwnerUrl: adminUrl }
  const log = logOf(settings, terminal)
  const prepare = createPrepareOnce({ ownerUrl: adminUrl, loginUrl: serveUrl, log })
  await prepare()
  await fill(adminUrl)
  const database = openServerDatabase(settings)
  const triggers = liveTriggersBy(adminUrl)
  const source = createFollowedSource({ schemas: settings.schemas, query: database.query, prepare, triggers, log })
  const keys = await shownKeys(jwtSecret, adminUrl)
  const accounts = await presentDemoAccounts(adminUrl)
  const opening = createDashboardLink(keys.serviceRole)
  const served = { settings, database, source, createService, log, opening }
  const ready = (url: string): void => {
    keepHeapSmall()
    onReady({ url, keys, adminUrl, opening: opening.code, docs: docs && areDocsBuilt(), accounts })
  }
  await runServer({ ...served, onReady: ready, listensEarly: true, stopRequested })
}

/** The valid ones, or how to get one. */
async function shownKeys(secret: string, adminUrl: string): Promise<ProjectKeys> {
  const keys = keysOf(secret, await withSession({ url: adminUrl }, (query) => createProjectKeysReader(query)()))
  const shown = (role: KeyRole): string => goodKey(keys, role) ?? `(revoked: npx catalograph keys add ${role})`
  return { anon: shown('anon'), serviceRole: shown(ownerRole) }
}
