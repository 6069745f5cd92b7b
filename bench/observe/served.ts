import { openServerDatabase } from '../../runtime/database.ts'
import type { ServerSettings } from '../../runtime/server.ts'
import { createService } from '../../compiler/additions/service.ts'
import { runServer } from '../../runtime/main.ts'
import { readSettings } from '../../runtime/settings/read.ts'
import { createFollowedSource } from '../../compiler/following/serving/followed-source.ts'
import { createPrepareOnce } from '../../compiler/following/serving/prepare-once.ts'
import { keepHeapSmall, keepYoungSpaceSmall } from '../../compiler/commands/small-heap.ts'
import type { Served } from './together.ts'

/** Serves one database several times, one after the other as SERVED has them; the process ends all with itself. */
const served = JSON.parse(process.env['SERVED'] ?? '[]') as readonly Served[]

const settingsOf = ({ port, settings: own }: Served): ServerSettings => {
  const read = readSettings({ ...process.env, ...own, PORT: String(port) })
  if (read.kind === 'invalid') throw new Error(read.problems.join('; '))
  const { databaseUrl, jwtSecret } = read.settings
  if (databaseUrl === null || jwtSecret === null) throw new Error('DATABASE_URL or JWT_SECRET is missing.')
  return { ...read.settings, databaseUrl, jwtSecret }
}

const log = (): void => undefined

const serve = (one: Served): Promise<void> =>
  new Promise((resolve, reject) => {
    const settings = settingsOf(one)
    const { databaseUrl, databaseOwnerUrl, schemas } = settings
    const database = openServerDatabase(settings)
    const prepare = createPrepareOnce({ ownerUrl: databaseOwnerUrl ?? databaseUrl, loginUrl: databaseUrl, log })
    const source = createFollowedSource({ schemas, query: database.query, prepare, log })
    const stopRequested = new Promise<string>(() => undefined)
    runServer({
      settings,
      database,
      source,
      createService,
      log,
      onReady: () => resolve(),
      listensEarly: true,
      stopRequested,
    }).catch(reject)
  })

keepYoungSpaceSmall()
for (const one of served) await serve(one)
keepHeapSmall()
