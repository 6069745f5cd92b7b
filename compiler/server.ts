import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { createService } from './additions/service.ts'
import type { Log } from '../runtime/settings/log/events.ts'
import { openServerDatabase } from '../runtime/database.ts'
import { assembleServer, type ServerSettings } from '../runtime/server.ts'
import { readSettings } from '../runtime/settings/read.ts'
import { createFollowedSource } from './following/serving/followed-source.ts'
import { liveTriggersBy } from './following/serving/live-triggers.ts'
import { createPrepareOnce } from './following/serving/prepare-once.ts'

/** The main export of the package: the service within another process. */

export type { LogEvent, Log } from '../runtime/settings/log/events.ts'

/** The settings of docs/operate.md by their names in camel case; an omitted one has its default. */
export interface ServerOptions extends Partial<Omit<ServerSettings, 'host' | 'port' | 'logLevel'>> {
  readonly databaseUrl: string
  readonly jwtSecret: string
  /** The clients' address of the service, without a path; mails and redirects of auth use it. */
  readonly baseUrl: string
  /** Receives every event; absent: events are dropped. */
  readonly log?: Log
}

export interface CatalographServer {
  /** Answers a request to /graphql/v1, /auth/v1, /admin/v1, /dashboard, /openapi.json, /health, /livez, /readyz or /metrics. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Upgrades the connection of a request to a WebSocket: `server.on('upgrade', ...)` of the caller's server. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Resolves when the first schema is loaded; until then requests are answered 503. Rejects if retries cannot help. */
  readonly ready: Promise<void>
  /** Lets requests end within the grace period, and closes the database connections. */
  readonly close: () => Promise<void>
}

/**
 * Creates the service, which prepares and follows the database of its options. The caller listens and passes requests
 * on: in Fastify `app.all('/graphql/v1', (request, reply) => { reply.hijack(); server.handle(request.raw, reply.raw)
 * })`, before any parser of bodies; `app.server.on('upgrade', server.upgrade)` for WebSockets. Limits of connections
 * are those of the caller's server.
 */
export async function createServer({ log = () => undefined, ...given }: ServerOptions): Promise<CatalographServer> {
  const usual = readSettings({})
  if (usual.kind === 'invalid') throw new Error(usual.problems.join('; '))
  const settings: ServerSettings = { ...usual.settings, ...given }
  const { databaseUrl, databaseOwnerUrl, schemas } = settings
  const database = openServerDatabase(settings)
  const ownerUrl = databaseOwnerUrl ?? databaseUrl
  const prepare = createPrepareOnce({ ownerUrl, loginUrl: databaseUrl, log })
  const triggers = liveTriggersBy(ownerUrl)
  const source = createFollowedSource({ schemas, query: database.query, prepare, triggers, log })
  const { app, upgrade, start, stop } = await assembleServer(
    { settings, database, source, createService, log },
    () => given.baseUrl,
  )
  await app.fastify.ready()
  const stopping = new AbortController()
  const ready = start(stopping.signal).then(() => undefined)
  // A caller that does not await it sees the failure in the answers.
  ready.catch(() => undefined)
  return {
    handle: app.handle,
    upgrade,
    ready,
    close: async () => {
      stopping.abort()
      await stop()
    },
  }
}
