import type { RevisionSource } from '../../runtime/contract/artifact.ts'
import type { Query } from '../../runtime/db/connect/session.ts'
import { documentsIn, readDocumentFile } from '../../runtime/graphql/compiled/read-document.ts'
import { createCompiledSource } from '../../runtime/graphql/compiled/source.ts'
import { openServerDatabase, type ServerDatabase } from '../../runtime/database.ts'
import { loadRevision } from '../../runtime/engine/load.ts'
import { begun } from '../../runtime/graphql/run/watch-source.ts'
import type { GraphqlService, ServiceParts } from '../../runtime/graphql/serve.ts'
import { within } from '../../runtime/lib/timers.ts'
import type { ServerSettings } from '../../runtime/server.ts'
import type { Log } from '../../runtime/settings/log/events.ts'
import { workerPlace } from '../../runtime/http/workers/worker-process.ts'
import { type Command, type GivenOptions, type Terminal, exitCodes, misuse } from './command.ts'
import { logOf } from './log.ts'
import { demand, neededSettingsOf, type SettingsWith } from './needed-settings.ts'
import { keepHeapSmall, keepYoungSpaceSmall } from './small-heap.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve the GraphQL API of the database that DATABASE_URL names.',
  description:
    'Prepares the database where something is missing (DATABASE_OWNER_URL may name a role with the privileges),\n' +
    'compiles it, and follows it: the next request after a schema change is served on the new schema. With --artifacts\n' +
    'it compiles nothing; with --only-compiled it answers the documents that were compiled with `compile --documents`,\n' +
    'and no others, and picks up new artifacts while it serves. With several workers SIGHUP replaces them one after the other, and no request is lost.',
  options: {
    artifacts: { value: 'DIR', help: 'Serve what `compile` wrote to this folder, without compiling.' },
    'only-compiled': {
      value: null,
      help: 'With --artifacts: answer the compiled documents of the folder, and no others.',
    },
    workers: {
      value: 'N|auto',
      help: 'Processes that answer requests; auto: one on each processor. By default WORKERS.',
    },
  },
  run: async (given, terminal) => {
    keepYoungSpaceSmall()
    const settings = servingSettings(given, terminal)
    if (given['only-compiled'] === true && typeof given['artifacts'] !== 'string')
      throw misuse('--only-compiled goes with --artifacts')
    const place = workerPlace(terminal.environment)
    if (place === null && settings.workers === 1) return serveAlone(given, settings, terminal)
    const { superviseServers, serveAmongOthers } = await import('./workers.ts')
    return place === null
      ? superviseServers(settings, terminal, (log) => sourceOf(given, settings, log))
      : serveAmongOthers(settings, terminal, place, await serviceFor(given))
  },
}

/** The command line takes precedence over the environment. Problems and hints are reported once, by the primary. */
function servingSettings({ workers }: GivenOptions, terminal: Terminal): ServerSettings {
  const { environment, note } = terminal
  const given = typeof workers === 'string' ? { ...environment, WORKERS: workers } : environment
  const hear = workerPlace(environment) === null ? note : (): void => undefined
  return demand(neededSettingsOf({ ...terminal, environment: given, note: hear }), ['databaseUrl', 'jwtSecret'])
}

async function serveAlone(given: GivenOptions, settings: ServerSettings, terminal: Terminal): Promise<number> {
  const stopRequested = terminal.stopRequested()
  const log = logOf(settings, terminal)
  const database = openServerDatabase(settings)
  const make = (): Promise<RevisionSource> => sourceOf(given, settings, log, database)
  const source = await (given['only-compiled'] === true ? askedEarly(database, make) : make())
  const [{ runServer }, createService] = await Promise.all([import('../../runtime/main.ts'), serviceFor(given)])
  await runServer({
    settings,
    database,
    source,
    createService,
    log,
    onReady: keepHeapSmall,
    listensEarly: true,
    stopRequested,
  })
  return exitCodes.done
}

/** How long a server waits for a connection before it loads the rest and listens: its database may be unavailable. */
const connectingMs = 100

/**
 * Postgres looks up the needs of compiled documents while the server is loaded. It connects while their index is read,
 * so that the statement is sent without a delay.
 */
async function askedEarly({ ping }: ServerDatabase, make: () => Promise<RevisionSource>): Promise<RevisionSource> {
  const connected = ping().catch(() => undefined)
  const source = await make()
  await within(connectingMs, connected)
  return begun(source)
}

/** The service for requests. For compiled documents it loads neither a parser nor a schema. */
async function serviceFor(given: GivenOptions): Promise<(parts: ServiceParts) => GraphqlService> {
  if (given['only-compiled'] !== true) return (await import('../additions/service.ts')).createService
  const [{ createCompiledService }, { createReadApart }] = await Promise.all([
    import('../../runtime/graphql/compiled/serve.ts'),
    import('../../runtime/graphql/compiled/apart.ts'),
  ])
  return (parts) => createCompiledService(parts, readDocumentFile, createReadApart())
}

/** The output of `compile`, or the compiler, which a server with artifacts need not load. */
async function sourceOf(
  { artifacts, 'only-compiled': onlyCompiled }: GivenOptions,
  settings: ServerSettings,
  log: Log,
  database: { readonly query: Query } = openServerDatabase(settings),
): Promise<RevisionSource> {
  if (typeof artifacts !== 'string') return followedSource(settings, database, log)
  if (onlyCompiled === true)
    return createCompiledSource({ documents: documentsIn(artifacts), query: database.query, log })
  const stored = await loadRevision(artifacts)
  return () => Promise.resolve(stored)
}

async function followedSource(
  settings: SettingsWith<'databaseUrl'>,
  { query }: { readonly query: Query },
  log: Log,
): Promise<RevisionSource> {
  const [{ createFollowedSource }, { liveTriggersBy }, { createPrepareOnce }] = await Promise.all([
    import('../following/serving/followed-source.ts'),
    import('../following/serving/live-triggers.ts'),
    import('../following/serving/prepare-once.ts'),
  ])
  const { databaseUrl, databaseOwnerUrl, schemas } = settings
  const ownerUrl = databaseOwnerUrl ?? databaseUrl
  const prepare = createPrepareOnce({ ownerUrl, loginUrl: databaseUrl, log })
  return createFollowedSource({ schemas, query, prepare, triggers: liveTriggersBy(ownerUrl), log })
}
