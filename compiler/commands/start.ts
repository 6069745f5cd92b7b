import { join } from 'node:path'
import { startEmbedded } from '../../runtime/db/embedded/embedded.ts'
import { createService } from '../../additions/service.ts'
import { goodKey, keysOf, ownerRole, type KeyRole, type ProjectKeys } from '../../runtime/identity/project-keys.ts'
import { runServer } from '../../runtime/main.ts'
import { createProjectKeysReader } from '../../runtime/db/connect/project-keys.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { openServerDatabase } from '../../runtime/database.ts'
import type { Settings } from '../../runtime/settings/keys.ts'
import type { Command, Terminal } from './command.ts'
import { exitCodes } from './command.ts'
import { renderWelcome } from './welcome.ts'
import { enableDemoAuth } from './demo-auth.ts'
import { loadDemo } from './demo.ts'
import { createFollowedSource } from '../following/serving/followed-source.ts'
import { liveTriggersBy } from '../following/serving/live-triggers.ts'
import { ensureLocalSecret } from './local-secret.ts'
import { logOf } from './log.ts'
import { neededSettingsOf } from './needed-settings.ts'
import { createPrepareOnce } from '../following/serving/prepare-once.ts'
import { keepHeapSmall, keepYoungSpaceSmall } from './small-heap.ts'

/** Serves an embedded Postgres with the demo: a first look without any setup. */
export const startCommand: Command = {
  name: 'start',
  summary: 'Start an embedded Postgres with a demo and serve it; needs no settings.',
  description:
    'The data is kept in CATALOGRAPH_DATA between starts. Change the schema of the database, and the API follows.\n' +
    'DATABASE_URL is not used; see serve.',
  options: {},
  run: async (_given, terminal) => {
    keepYoungSpaceSmall()
    const stopRequested = terminal.stopRequested()
    const settings = neededSettingsOf(terminal)
    const postgres = await startEmbedded({
      folder: join(settings.dataFolder, 'postgres'),
      port: settings.embeddedPort ?? undefined,
      onProgress: terminal.note,
    })
    try {
      await serveEmbedded(settings, postgres, terminal, stopRequested)
    } finally {
      await postgres.stop()
    }
    return exitCodes.done
  },
}

interface EmbeddedUrls {
  readonly adminUrl: string
  readonly serveUrl: string
}

async function serveEmbedded(
  given: Settings,
  { adminUrl, serveUrl }: EmbeddedUrls,
  terminal: Terminal,
  stopRequested: Promise<string>,
): Promise<void> {
  const jwtSecret = given.jwtSecret ?? (await ensureLocalSecret(given.dataFolder))
  const settings = { ...given, jwtSecret, databaseUrl: serveUrl, databaseOwnerUrl: adminUrl }
  const log = logOf(settings, terminal)
  const prepare = createPrepareOnce({ ownerUrl: adminUrl, loginUrl: serveUrl, log })
  await prepare()
  await enableDemoAuth(adminUrl)
  await loadDemo(adminUrl, terminal.note)
  const database = openServerDatabase(settings)
  const triggers = liveTriggersBy(adminUrl)
  const source = createFollowedSource({ schemas: settings.schemas, query: database.query, prepare, triggers, log })
  const keys = await shownKeys(jwtSecret, adminUrl)
  const onReady = (url: string): void => {
    keepHeapSmall()
    terminal.print(renderWelcome({ url, keys, adminUrl }))
  }
  await runServer({ settings, database, source, createService, log, onReady, listensEarly: true, stopRequested })
}

/** The valid ones, or how to get one. */
async function shownKeys(secret: string, adminUrl: string): Promise<ProjectKeys> {
  const keys = keysOf(secret, await withSession({ url: adminUrl }, (query) => createProjectKeysReader(query)()))
  const shown = (role: KeyRole): string => goodKey(keys, role) ?? `(revoked: npx catalograph keys add ${role})`
  return { anon: shown('anon'), serviceRole: shown(ownerRole) }
}
