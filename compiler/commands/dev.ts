import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { startEmbedded } from '../../runtime/db/embedded/embedded.ts'
import { refuseBusyAddress } from '../../runtime/main.ts'
import type { Settings } from '../../runtime/settings/keys.ts'
import { codegenCommand } from './codegen.ts'
import { watch, type CodegenWatchOptions } from './codegen/watch.ts'
import { exitCodes, textOption, type Command, type GivenOptions, type Terminal } from './command.ts'
import { demand, neededSettingsOf } from './needed-settings.ts'
import { keepYoungSpaceSmall } from './small-heap.ts'
import { enableLocalAuth, renderPlaces, serveLocal, type LocalDatabase, type Welcome } from './start.ts'
import { startBeside, type Beside } from './create/beside.ts'
import { applyOnce, loadMigrations } from './create/migrate-once.ts'

/** Where Vite serves an application in development. */
const usualSite = 'http://localhost:5173'

export const devCommand: Command = {
  name: 'dev',
  summary: 'Serve an application in development, with its migrations.',
  description:
    'Starts the embedded Postgres, or uses the database of DATABASE_URL and DATABASE_OWNER_URL with JWT_SECRET. Applies the\n' +
    'files *.sql of a folder, each once, in one transaction, in the order of names; they are recorded in\n' +
    'catalograph_migrations.applied. New files are applied while it runs. Auth is on, with guests; on the embedded Postgres\n' +
    'accounts need no confirmation. Later settings of yours stay.',
  options: {
    migrations: { value: 'DIR', help: 'The folder of migrations (default: db/migrations).' },
    client: { value: 'DIR', help: 'Write the typed client of the role authenticated, again after each new migration.' },
    'site-url': { value: 'URL', help: `Where the application is, for links in mails (default: ${usualSite}).` },
    temporary: {
      value: null,
      help: 'Use a new embedded Postgres and a free port, and remove them at the end: for tests.',
    },
    run: {
      value: 'COMMAND',
      help: 'Run it once the service answers, with PROJECT_URL and ANON_KEY, and end with it.',
    },
  },
  run: async (given, shell) => {
    keepYoungSpaceSmall()
    const terminal = { ...shell, environment: { ...(await ownVariables()), ...shell.environment } }
    const stopRequested = terminal.stopRequested()
    if (given['temporary'] !== true) return develop(given, terminal, stopRequested)
    const folder = await mkdtemp(join(tmpdir(), 'catalograph-dev-'))
    try {
      // The account of Postgres must be able to enter it.
      await chmod(folder, 0o755)
      const quiet = { LOG_LEVEL: 'error', ...withoutDatabase(terminal.environment) }
      const environment = { ...quiet, CATALOGRAPH_DATA: folder, PORT: '0' }
      return await develop(given, { ...terminal, environment }, stopRequested)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** Of a database that only this machine reaches: no stranger can claim an address, or guess passwords. */
const onlyHere = { autoconfirm: 'on', limit_guests: '0', limit_sign_up: '0', limit_token: '0' }

/** The variables of the application's own .env; those of the process take precedence. */
const ownVariables = async (): Promise<NodeJS.Dict<string>> => parseEnv(await readFile('.env', 'utf8').catch(() => ''))

const withoutDatabase = (environment: Terminal['environment']): Terminal['environment'] =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('DATABASE_')))

async function develop(given: GivenOptions, terminal: Terminal, stopRequested: Promise<string>): Promise<number> {
  const migrations = textOption(given, 'migrations') ?? join('db', 'migrations')
  // Faults of the files are reported before anything is made.
  await loadMigrations(migrations)
  const settings = neededSettingsOf(terminal)
  await refuseBusyAddress(settings)
  const line = textOption(given, 'run')
  const isOwn = settings.databaseUrl !== null || settings.databaseOwnerUrl !== null
  const database = isOwn ? givenDatabase(settings) : await openEmbedded(settings, terminal)
  const folder = createFolder(migrations, database.adminUrl, terminal)
  const site = { site_url: textOption(given, 'site-url') ?? usualSite, anonymous_enabled: 'on' }
  const ran: { beside?: Beside; failure?: unknown } = {}
  let end: (reason: string) => void = () => undefined
  const stop = Promise.race([stopRequested, new Promise<string>((resolve) => (end = resolve))])
  const begin = async (welcome: Welcome): Promise<void> => {
    const write = (): Promise<void> => writeClient(textOption(given, 'client'), welcome, terminal)
    const onChange = async (): Promise<void> => {
      if (await folder.apply()) await write()
    }
    await write()
    if (given['temporary'] !== true) {
      terminal.print(renderPlaces(welcome).join('\n'))
      void watch({ ...folder, onChange, stopRequested: stop })
    }
    if (line === null) return
    ran.beside = startBeside(line, environmentOf(terminal, welcome))
    await ran.beside.ended
    end('its command has ended')
  }
  try {
    await serveLocal(settings, database, terminal, {
      fill: async (adminUrl) => {
        await enableLocalAuth(adminUrl, isOwn ? site : { ...site, ...onlyHere })
        await folder.apply()
      },
      onReady: (welcome) =>
        void begin(welcome).catch((error: unknown) => {
          ran.failure = error
          end('it failed')
        }),
      stopRequested: stop,
    })
  } finally {
    await ran.beside?.stop()
    await database.stop()
  }
  if (ran.failure !== undefined) throw ran.failure
  return ran.beside?.ended ?? exitCodes.done
}

type Stoppable = LocalDatabase & { readonly stop: () => Promise<void> }

function givenDatabase(settings: Settings): Stoppable {
  const { databaseUrl, databaseOwnerUrl } = demand(settings, ['databaseUrl', 'jwtSecret'])
  return { adminUrl: databaseOwnerUrl ?? databaseUrl, serveUrl: databaseUrl, stop: () => Promise.resolve() }
}

const openEmbedded = ({ dataFolder, embeddedPort }: Settings, { note }: Terminal): Promise<Stoppable> =>
  startEmbedded({ folder: join(dataFolder, 'postgres'), port: embeddedPort ?? undefined, onProgress: note })

const environmentOf = ({ environment }: Terminal, { url, keys }: Welcome): Terminal['environment'] => ({
  ...environment,
  PROJECT_URL: url,
  ANON_KEY: keys.anon,
})

/** Writes the typed client, once the service has the present schema: its live tables have triggers then. */
async function writeClient(out: string | null, { url, keys, adminUrl }: Welcome, terminal: Terminal): Promise<void> {
  if (out === null) return
  const headers = { apikey: keys.anon, 'content-type': 'application/json' }
  await fetch(`${url}/graphql/v1`, { method: 'POST', headers, body: '{"query":"{ __typename }"}' })
  await codegenCommand.run({ out, role: 'authenticated', from: adminUrl }, terminal, [])
}

interface MigrationFolder extends Pick<CodegenWatchOptions, 'version' | 'onFailure'> {
  /** Applies new migrations; false: there are none. */
  readonly apply: () => Promise<boolean>
}

const createFolder = (folder: string, adminUrl: string, { note }: Terminal): MigrationFolder => ({
  version: async () => (await loadMigrations(folder)).map(({ digest }) => digest).join(),
  apply: async () => {
    const applied = await applyOnce(adminUrl, await loadMigrations(folder))
    for (const name of applied) note(`Applied: ${name}`)
    return applied.length > 0
  },
  onFailure: (reason) => note(`catalograph: ${reason}`),
})
