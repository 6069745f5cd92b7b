import type { AddressInfo } from 'node:net'
import { createCompiler } from '../../compiler/compile.ts'
import { createFollower } from '../../compiler/following/serving/followed-source.ts'
import { buildApp } from '../../runtime/app.ts'
import type { Change, ChangeListener, Interest } from '../../runtime/contract/live.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { counterExpression, versionExpression } from '../../runtime/db/check/version.ts'
import { failureResponse } from '../../runtime/graphql/protocol/failures.ts'
import { createService } from '../../compiler/additions/service.ts'
import { answersSizeOf, bodiesSize, usualServerLimits } from '../../runtime/http/limits.ts'
import { closeIdle, createServers, destroyConnections } from '../../runtime/http/servers.ts'
import { createAuthenticate } from '../../runtime/identity/caller.ts'
import { createTokenVerifier, signToken } from '../../runtime/identity/jwt.ts'
import { createByteBudget } from '../../runtime/lib/byte-budget.ts'
import { openLive, type Live } from '../../runtime/graphql/live/open.ts'
import type { ReadInterests } from '../../runtime/graphql/live/streams/stream-types.ts'
import { readSettings } from '../../runtime/settings/read.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { healthy } from './healthy.ts'
import { apart } from './service.ts'

/**
 * Streams over real HTTP and WebSockets on a real database. The reads of a document are given, and the test reports changes: so
 * a test decides in which order commits, changes and runs come.
 */
export interface LiveServer {
  readonly db: TestDatabase
  readonly url: string
  readonly live: Live
  readonly listener: ChangeListener
  /** Writes, and then reports that the relation changed. */
  readonly write: (sql: string, values?: Readonly<Record<string, readonly string[]>>) => Promise<void>
  readonly token: (claims: object) => string
  readonly headers: (claims: object) => Record<string, string>
  /** Requests that were run for streams. */
  readonly runs: () => number
  readonly lags: readonly number[]
  /** The watched relations of the feed. */
  readonly watched: ReadonlySet<string>
  /** Holds runs until the result is called. */
  readonly holdRuns: () => () => void
  readonly close: () => Promise<void>
}

const liveSql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table public.posts (id int primary key, owner text not null default 'ada', title text, big bigint, body json);
  alter table public.posts enable row level security;
  create policy own on public.posts using (owner = coalesce(current_setting('request.jwt.claims', true)::json ->> 'sub', owner));
  grant usage on schema public to anon, authenticated, service_role;
  grant select, insert, update, delete on public.posts to anon, authenticated, service_role;
  insert into public.posts (id, title, big) values (1, 'one', 9007199254740993), (2, 'two', 2);`

const secret = 'a secret that has more than thirty-two characters'

export interface LiveServerOptions {
  readonly sql?: string
  readonly settings?: Readonly<Record<string, string>>
  /** The reads of a request; absent: all of public.posts. */
  readonly interests?: (variables: Readonly<Record<string, unknown>>) => readonly Interest[]
  readonly now?: () => number
}

const all: readonly Interest[] = [{ relation: { schema: 'public', name: 'posts' }, pins: [] }]

export async function openLiveServer(options: LiveServerOptions = {}): Promise<LiveServer> {
  const db = await createDatabase({ prepare: true, sql: options.sql ?? liveSql })
  const read = readSettings({ ...options.settings })
  if (read.kind === 'invalid') throw new Error(read.problems.join())
  const { settings } = read
  const answers = createByteBudget(answersSizeOf(1))
  const bodies = createByteBudget(bodiesSize(settings.bodyLimitBytes, 1))
  const database = openDatabase({ url: db.url, schemas: ['public'], poolSize: settings.poolSize, answers })
  const { query } = database
  const followed = { version: versionExpression, query }
  const compiler = createCompiler({ ...followed, schemas: ['public'], counter: counterExpression })
  const source = createFollower({ ...followed, compiler, guarded: true, report: () => undefined, now: Date.now })
  const service = createService({ database, source, apart })
  const watched = new Set<string>()
  const lags: number[] = []
  let runs = 0
  let held: Promise<void> | null = null
  let listener: ChangeListener | null = null

  const asQuery = (text: string | null): string => (text ?? '').replace(/^\s*subscription/, 'query')
  const answer: Parameters<typeof openLive>[0]['answer'] = async (request, caller, context) => {
    if (!/^\s*subscription/.test(request.query ?? '')) return service.serve(request, caller, context)
    if (request.live !== true) return failureResponse('STREAM_REQUIRED', 'A subscription needs a stream.')
    runs += 1
    await held
    return service.serve({ ...request, query: asQuery(request.query) }, caller, context)
  }
  const readInterests: ReadInterests = async (request, caller, context) => {
    const response = await service.serve({ ...request, query: asQuery(request.query) }, caller, context)
    if (response.outcome === 'invalid') return response
    return { interests: options.interests?.(request.variables) ?? all, revision: response.revision }
  }
  const limits = usualServerLimits({ ...settings }, answers)
  const servers = createServers(limits)
  const authenticate = createAuthenticate(createTokenVerifier({ secret, now: options.now ?? Date.now }))
  const live = openLive({
    settings,
    watching: {
      follow: (told) => {
        listener = told
        return {
          watch: async ({ schema, name }) => void watched.add(objectId(schema, name)),
          unwatch: ({ schema, name }) => void watched.delete(objectId(schema, name)),
          fault: () => null,
          close: () => Promise.resolve(),
        }
      },
      read: readInterests,
    },
    answer,
    authenticate,
    servers,
    answers,
    bodies,
    rateLimit: null,
    closedFor: () => 0,
    sourceOf: ({ socket }) => socket.remoteAddress ?? '',
    observe: null,
    lag: (ms) => lags.push(ms),
    log: () => undefined,
  })
  const { fastify: app } = buildApp({
    servers,
    answers,
    authenticate,
    serving: { serve: answer },
    live: live.streams,
    health: healthy,
    log: () => undefined,
    bodyLimitBytes: settings.bodyLimitBytes,
    origins: settings.corsOrigins,
    logsRequests: false,
    requestTimeoutMs: settings.requestTimeoutMs,
    auth: null,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const told = (): ChangeListener => {
    if (listener === null) throw new Error('nobody listens')
    return listener
  }
  const token = (claims: object): string => signToken({ role: 'anon', ...claims }, secret)
  return {
    db,
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/graphql/v1`,
    live,
    listener: told(),
    write: async (sql, values = {}) => {
      await db.query(sql)
      const change: Change = {
        relation: objectId('public', 'posts'),
        values: new Map(Object.entries(values).map(([column, list]) => [column, new Set(list)])),
      }
      told().changed([change])
    },
    token,
    headers: (claims) => ({ apikey: token({}), authorization: `Bearer ${token(claims)}` }),
    runs: () => runs,
    lags,
    watched,
    holdRuns: () => {
      let release: () => void = () => undefined
      held = new Promise((resolve) => (release = resolve))
      return () => {
        held = null
        release()
      }
    },
    close: async () => {
      live.stop()
      closeIdle(servers)
      setTimeout(destroyConnections, 200, servers).unref()
      await app.close()
      await database.close()
      await db.drop()
    },
  }
}
