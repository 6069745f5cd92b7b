import type { FastifyInstance } from 'fastify'
import type { ServerDatabase } from './database.ts'
import type { Replicas } from './db/replicas/replicas.ts'
import type { Live } from './graphql/live/open.ts'
import {
  closeIdle,
  closeUnused,
  destroyConnections,
  drain,
  endWithAnswers,
  giveUp,
  type Servers,
} from './http/servers.ts'
import type { Siblings } from './http/workers/siblings.ts'
import { within } from './lib/timers.ts'
import type { Settings } from './settings/keys.ts'
import type { Log } from './settings/log/events.ts'

/** The end of a service: its requests, then its connections to the database. */

export interface StopParts {
  readonly app: FastifyInstance
  readonly servers: Servers
  readonly live: Live
  readonly closeAuth: () => Promise<unknown>
  readonly settings: Pick<Settings, 'shutdownGraceMs'>
  readonly database: Pick<ServerDatabase, 'stop' | 'close'>
  /** Null: there are none. */
  readonly replicas: Replicas | null
  readonly siblings?: Siblings | undefined
  readonly log: Log
}

/** How the second after the grace period is spent: on answers of what was given up, on bare ones, on leaving the database. */
const answersMs = 500
const lastWordsMs = 150
const leavingMs = 250
/** A statement that outlived its request ends with its connection, which ends with this process. */
const databaseGraceMs = 1_000

/**
 * Lets requests end within the grace period. Then running requests are cancelled and answered; a request that still has
 * no answer, such as one that waits for a mail server, gets a bare one.
 */
export async function stopService({ app, servers, live, closeAuth, ...parts }: StopParts): Promise<void> {
  const { settings, database, log, siblings, replicas } = parts
  const graceMs = settings.shutdownGraceMs
  if (siblings?.isReplaced() === true) await within(graceMs, drain(servers))
  endWithAnswers(servers)
  const closed = closeApp(app, servers)
  const inTime = await within(graceMs, closed)
  if (!inTime) {
    log({ kind: 'stop-forced', graceMs })
    database.stop()
    replicas?.stop()
    await within(answersMs, closed)
    giveUp(servers, 'SERVER_STOPPING')
    await within(lastWordsMs, closed)
    destroyConnections(servers)
  }
  await within(
    inTime ? databaseGraceMs : leavingMs,
    Promise.all([live.close(), replicas?.close(), database.close(), closeAuth()]),
  )
}

const sweepMs = 20

/**
 * A connection whose last request ended after the closing began would be kept alive for the next one, and one that has sent
 * nothing would be waited for: sweep them up.
 */
async function closeApp(app: FastifyInstance, servers: Servers): Promise<void> {
  const sweeping = setInterval(() => {
    closeIdle(servers)
    closeUnused(servers)
  }, sweepMs)
  try {
    await app.close()
  } finally {
    clearInterval(sweeping)
  }
}
