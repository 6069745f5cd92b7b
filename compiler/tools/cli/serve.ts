import type { RevisionSource } from '../../../runtime/contract/revision.ts'
import type { Query } from '../../../runtime/db/connect/session.ts'
import { loadRevision } from '../../../runtime/engine/load.ts'
import { runServer } from '../../../runtime/main.ts'
import { openServerDatabase } from '../../../runtime/server.ts'
import type { Log } from '../../../runtime/log/events.ts'
import type { Command } from './command.ts'
import { exitCodes } from './command.ts'
import { logOf } from './log.ts'
import { demand, neededSettingsOf } from './needed-settings.ts'
import type { SettingsWith } from './needed-settings.ts'
import { keepHeapSmall, keepYoungSpaceSmall } from './small-heap.ts'

/** Serves the database of DATABASE_URL. */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve the GraphQL API of the database that DATABASE_URL names.',
  description:
    'Prepares the database where something is missing (DATABASE_OWNER_URL may name a role with the privileges),\n' +
    'compiles it, and follows it: the next request after a schema change is served on the new schema. With --artifacts\n' +
    'it compiles nothing.',
  options: { artifacts: { value: 'DIR', help: 'Serve what `compile` wrote to this folder, without compiling.' } },
  run: async ({ artifacts }, terminal) => {
    keepYoungSpaceSmall()
    const stopRequested = terminal.stopRequested()
    const settings = demand(neededSettingsOf(terminal), ['databaseUrl', 'jwtSecret'])
    const log = logOf(settings, terminal)
    const stored = typeof artifacts === 'string' ? await loadRevision(artifacts) : null
    const database = openServerDatabase(settings)
    const source = stored === null ? await followedSource(settings, database, log) : () => Promise.resolve(stored)
    await runServer({ settings, database, source, log, onReady: keepHeapSmall, stopRequested })
    return exitCodes.done
  },
}

/** The compiler, which a server that is given artifacts need not load. */
async function followedSource(
  settings: SettingsWith<'databaseUrl'>,
  { query }: { readonly query: Query },
  log: Log,
): Promise<RevisionSource> {
  const [{ createFollowedSource }, { createPrepareOnce }] = await Promise.all([
    import('../../serving/followed-source.ts'),
    import('../../serving/prepare-once.ts'),
  ])
  const { databaseUrl, databaseOwnerUrl, schemas } = settings
  const prepare = createPrepareOnce({ ownerUrl: databaseOwnerUrl ?? databaseUrl, loginUrl: databaseUrl, log })
  return createFollowedSource({ schemas, query, prepare, log })
}
