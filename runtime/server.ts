import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProjectAnswer } from './console/admin/call.ts'
import type { DashboardLink } from './console/opening.ts'
import { type App, buildApp, toClientError, type AppParts } from './app.ts'
import { openAuth, type OpenAuth } from './auth/http/open.ts'
import { migrateAuth, upgradeAuth } from './auth/schema/migrate.ts'
import type { AuthState, ReadAuthState } from './auth/settings/store.ts'
import type { Revision, RevisionSource } from './contract/artifact.ts'
import { openServerPool, type ServerDatabase } from './database.ts'
import { createProjectKeysReader } from './db/connect/project-keys.ts'
import { createOutageLog, isUnprepared, reasonOf } from './db/failures/failures.ts'
import { createPoolerCheck, type PoolerCheck } from './db/pool/pooler-check.ts'
import { faultOfReplicas } from './db/replicas/replica.ts'
import { openReplicas, type Replicas } from './db/replicas/replicas.ts'
import { createShardWatch, type ShardWatch } from './db/shards/watch.ts'
import { startingWith, watchSource, type WatchedSource } from './graphql/run/watch-source.ts'
import { unavailableResponse, type Serving } from './graphql/http/route.ts'
import type { GraphqlService, ServiceParts } from './graphql/serve.ts'
import { createSourceOf } from './http/request-context.ts'
import { HttpFailure } from './http/boundary.ts'
import { createHealthChecks, type HealthChecks } from './http/health.ts'
import { bodiesSize, usualServerLimits } from './http/limits.ts'
import { createByteBudget } from './lib/byte-budget.ts'
import { createRateLimit, type RateLimit } from './http/rate-limit.ts'
import { createServers, type Servers, type TakeUpgrade } from './http/servers.ts'
import { createAuthenticate } from './identity/caller.ts'
import { createIssuers } from './identity/issuers.ts'
import { createTokenVerifier, type VerifyToken } from './identity/jwt.ts'
import { createKnownKeys, type KnownKeys } from './identity/revoked-keys.ts'
import { previousSecretOf } from './settings/rotation.ts'
import { goodKey, keysOf, ownerRole, type ListedKey } from './identity/project-keys.ts'
import { Hopeless, pauseMs, retries, retry } from './lib/retry.ts'
import { openChangeFeed } from './graphql/live/changes/feed.ts'
import { openLive, type Live } from './graphql/live/open.ts'
import type { ReadInterests } from './graphql/live/streams/stream-types.ts'
import type { Log } from './settings/log/events.ts'
import { writes } from './settings/log/logger.ts'
import { type Siblings, shareRateLimit } from './http/workers/siblings.ts'
import type { MetricsSources } from './console/observe/read-metrics.ts'
import { openObservers, type Observers } from './console/observe/observers.ts'
import { serveMetrics } from './console/observe/serve-metrics.ts'
import type { Settings } from './settings/keys.ts'
import { stopService } from './stop-service.ts'

/** The service of a database, without the address that it listens on. */

/** The settings of a process that serves: what it cannot do without is there. */
export type ServerSettings = Settings & { readonly databaseUrl: string; readonly jwtSecret: string }

export interface ServerParts {
  readonly settings: ServerSettings
  /** Closed when the server has stopped. */
  readonly database: ServerDatabase
  readonly source: RevisionSource
  /** Makes what answers GraphQL by that source. A server that needs no general one does not load it. */
  readonly createService: (parts: ServiceParts) => GraphqlService
  readonly log: Log
  /** The link that opens the dashboard signed in; left out: none. */
  readonly opening?: DashboardLink
  /** Left out: this process is the only one. */
  readonly siblings?: Siblings
  /** Of the bcrypt hashes of passwords; left out: as spec/auth.md 12 wants it. */
  readonly hashCost?: number
}

export interface AssembledServer {
  readonly app: App
  /** Takes the connection of a request to upgrade it to a WebSocket, where the server is not its own. */
  readonly upgrade: TakeUpgrade
  /**
   * Loads the first schema, however long its database takes to come up: until then every request is answered 503.
   * Resolves with false when it was given up before.
   */
  readonly start: (signal: AbortSignal) => Promise<boolean>
  /** No new connections; requests end within the grace period; the pools are closed. */
  readonly stop: () => Promise<void>
}

/** @param ownUrl where clients reach it; asked when the first request is there, since only then it may be known */
export async function assembleServer(given: ServerParts, ownUrl: () => string): Promise<AssembledServer> {
  const { siblings } = given
  const replicas = openServerReplicas(given)
  const sources: MetricsSources = {
    pool: given.database.stats,
    caches: () => assembly.service?.caches() ?? null,
    live: () => live.stats(),
    replicas: replicas?.stats ?? null,
  }
  const observers = await openObservers(given.settings, sources, given.log, siblings)
  const parts = { ...given, log: observers.log }
  const shards = createShardWatch(given.database.query, parts.log)
  const watched = watchSource(followedBy(shards, parts.source), { log: parts.log, now: Date.now })
  const auth = openServerAuth(parts, ownUrl)
  const pooler = createPoolerCheck(parts.settings, parts.database.pooler, parts.log)
  const fault = (): string | null =>
    pooler.fault() ?? shards.fault() ?? faultOfReplicas(replicas?.stats().replicas ?? [])
  const projectKeys = createKnownKeys({
    read: createProjectKeysReader(parts.database.query),
    now: Date.now,
    unknown: () => new HttpFailure('UNAVAILABLE'),
    reading: 'ahead',
  })
  const serving: Serving = { serve: () => unavailableResponse }
  const assembly: Assembly = {
    ...parts,
    replicas,
    observers,
    watched,
    auth,
    projectKeys,
    fault,
    ownUrl,
    serving,
    service: null,
    draining: false,
  }
  const { app, live, servers } = assemble(assembly)
  // The primary process serves those of all its workers.
  const metricsServer = siblings === undefined ? await openMetrics(parts.settings, observers) : null
  let upgraded: Promise<void> = Promise.resolve()
  const closeAuth = (): Promise<unknown> => Promise.all([upgraded, auth.close()])
  return {
    app,
    upgrade: live.sockets.upgrade,
    start: async (signal) => {
      // Checked now, so that the log reports it early; the warm-up reports an outage.
      auth.state().catch(() => undefined)
      projectKeys.look().catch(() => undefined)
      const revision = await warmUp(sourceBehind(watched.source, pooler), parts.log, signal)
      if (revision === null) return false
      serveFrom(assembly, revision)
      logRotation(parts)
      upgraded = upgrading(parts)
      return true
    },
    stop: async () => {
      await drainTime(assembly)
      shards.stop()
      projectKeys.stop()
      live.stop()
      await stopService({ ...assembly, app: app.fastify, servers, live, closeAuth })
      metricsServer?.close()
    },
  }
}

/** Null: there are none. */
function openServerReplicas({ settings, database, log, siblings }: ServerParts): Replicas | null {
  if (settings.replicaUrls === null) return null
  // Anyone who waits longer gets an answer that is too old by then; the primary is asked.
  const replaying = { lockTimeoutMs: settings.replicaMaxStalenessMs }
  return openReplicas({
    primary: database,
    servers: settings.replicaUrls.map((url) => openServerPool(settings, url, database.answers, replaying)),
    longestMs: settings.replicaMaxStalenessMs,
    log,
    ...(siblings !== undefined && { siblings }),
  })
}

/** Serves metrics on an address of their own, where the settings name one. */
const openMetrics = async ({ metrics: place }: Settings, { metrics }: Observers): Promise<Server | null> =>
  place === null || place === 'here' || metrics === null ? null : serveMetrics(place, metrics)

/** How much of the database each role finds in its API: an empty one is a missing grant far more often than a wish. */
async function logVisible({ summary }: GraphqlService, log: Log): Promise<void> {
  const found = await summary()
  if (found === null) return
  const { relations, visible, missingGrants } = found
  log({ kind: 'schema-summary', relations, visible })
  if (missingGrants !== null) log({ kind: 'nothing-visible', grants: missingGrants })
}

/** As whom the tables of auth are made. */
const authMakerUrl = ({ databaseOwnerUrl, databaseAuthUrl, databaseUrl }: ServerSettings): string =>
  databaseOwnerUrl ?? databaseAuthUrl ?? databaseUrl

/** Brings what an older version made of auth up to date, beside the first requests. */
async function upgrading({ settings, log }: ServerParts): Promise<void> {
  try {
    for (const name of await upgradeAuth({ url: authMakerUrl(settings) })) log({ kind: 'auth-upgraded', name })
  } catch (error) {
    log({ kind: 'auth-not-upgraded', reason: reasonOf(error) })
  }
}

/** An operator should not forget that another secret is accepted. */
function logRotation({ settings, log }: ServerParts): void {
  const previous = previousSecretOf(settings)
  if (previous !== null && previous.until > Date.now())
    log({ kind: 'secret-rotated', until: new Date(previous.until).toISOString() })
}

/** The source, which hands over nothing while the pooler cannot be worked with. */
const sourceBehind =
  (source: RevisionSource, { look }: PoolerCheck): RevisionSource =>
  async () => {
    const [looked, made] = await Promise.allSettled([look(), source()])
    // A fault of the pooler explains why the source fails, and not the other way round.
    if (looked.status === 'rejected') throw looked.reason
    if (made.status === 'rejected') throw made.reason
    return made.value
  }

/** The source; what watches the servers that rows lie on learns of each schema, and that there is none. */
const followedBy =
  (shards: ShardWatch, source: RevisionSource): RevisionSource =>
  async (isOutdated) => {
    try {
      const revision = await source(isOutdated)
      shards.follow(revision.manifest)
      return revision
    } catch (error) {
      shards.follow(null)
      throw error
    }
  }

/** The address of the process, unless the settings name another. */
const addressOf = ({ baseUrl }: ServerSettings, listeningUrl: string): string => baseUrl ?? listeningUrl

interface Assembly extends ServerParts {
  /** Null: there are none. */
  readonly replicas: Replicas | null
  readonly observers: Observers
  readonly watched: WatchedSource
  readonly auth: OpenAuth
  readonly projectKeys: KnownKeys
  /** Why no request can be answered. */
  readonly fault: () => string | null
  readonly ownUrl: () => string
  readonly serving: Serving
  /** Null: no schema was loaded yet, and every request is answered 503. */
  service: GraphqlService | null
  /** The process has been asked to stop, and serves until balancers know. */
  draining: boolean
}

/** `listeningUrl` is asked when the first request is there: only then is it known. */
function openServerAuth({ settings, log, hashCost }: ServerParts, listeningUrl: () => string): OpenAuth {
  const auth = openAuth({
    url: settings.databaseAuthUrl ?? settings.databaseOwnerUrl ?? settings.databaseUrl,
    poolSize: settings.authPoolSize,
    processes: settings.workers,
    pooler: settings.pooler,
    secret: settings.jwtSecret,
    previousSecret: previousSecretOf(settings),
    baseUrl: () => addressOf(settings, listeningUrl()),
    issuers: { google: settings.googleIssuer },
    now: Date.now,
    smtpUrl: settings.smtpUrl,
    mailFrom: settings.mailFrom,
    ...(hashCost !== undefined && { hashCost }),
    log,
  })
  return { ...auth, state: loggingOnce(auth.state, log, settings.smtpUrl === null) }
}

/** Logs once, as soon as auth is enabled, that mails are kept and not sent, and which settings are ignored. */
function loggingOnce(state: ReadAuthState, log: Log, keepsMails: boolean): ReadAuthState {
  let logged = false
  const logOnce = (now: AuthState): AuthState => {
    if (!logged && now.kind === 'enabled') {
      logged = true
      if (keepsMails) log({ kind: 'mails-kept' })
      for (const fault of now.ignored) log({ kind: 'role-setting-ignored', ...fault })
    }
    return now
  }
  return () => (logged ? state() : state().then(logOnce))
}

/** The issuers whose tokens each part accepts. */
function createVerifiers({ settings, auth, projectKeys }: Assembly): Record<'own' | 'bearer' | 'open', VerifyToken> {
  const { keys, believed } = auth
  const { trustedIssuers } = settings
  const { isRevoked, wasRevoked } = projectKeys
  const shared = { secret: settings.jwtSecret, previous: previousSecretOf(settings), now: Date.now, keys }
  const others = trustedIssuers === null ? {} : { issuers: createIssuers(trustedIssuers) }
  // Auth believes its own tokens alone: those of others name other people.
  const own = createTokenVerifier({ ...shared, isRevoked, believed })
  return {
    own,
    bearer: trustedIssuers === null ? own : createTokenVerifier({ ...shared, isRevoked, believed, ...others }),
    // Tokens of streams were seen when these were opened.
    open: createTokenVerifier({ ...shared, isRevoked: wasRevoked, ...others }),
  }
}

function assemble(
  assembly: Assembly,
): Pick<AssembledServer, 'app'> & { readonly live: Live; readonly servers: Servers } {
  const { settings, database, observers, auth, serving, log } = assembly
  const verify = createVerifiers(assembly)
  const limits = usualServerLimits({ ...settings, behindProxy: settings.addressHeader !== null }, database.answers)
  const servers = createServers(limits, toClientError)
  const bodies = createByteBudget(bodiesSize(settings.bodyLimitBytes, settings.workers))
  const rateLimit = rateLimitOf(settings, assembly.siblings)
  const sourceOf = createSourceOf(settings.addressHeader)
  const live = openLive({
    settings,
    watching: {
      follow: (listener) => openChangeFeed({ url: settings.databaseListenUrl ?? settings.databaseUrl, listener }),
      read: (...asked) => interestsOf(assembly.service, ...asked),
    },
    answer: (request, caller, context) => serving.serve(request, caller, context),
    authenticate: createAuthenticate(verify.open, verify.open),
    servers,
    answers: database.answers,
    bodies,
    rateLimit,
    closedFor: (request) => auth.tools.throttle.closedFor(() => sourceOf(request)),
    sourceOf,
    observe: observers.request,
    lag: observers.metrics?.lag ?? (() => undefined),
    log,
  })
  const health = healthOf(assembly)
  const app = buildApp({
    servers,
    live: live.streams,
    answers: database.answers,
    bodies,
    authenticate: createAuthenticate(verify.own, verify.bearer),
    serving,
    explaining: {
      authenticate: createAuthenticate(verify.own, verify.bearer, ownerRole),
      serving: { serve: async (...asked) => assembly.service?.explain(...asked) ?? unavailableResponse },
    },
    requestTimeoutMs: settings.requestTimeoutMs,
    health,
    log,
    logsRequests: (settings.accessLog && writes(settings.logLevel, 'request')) || settings.logLevel === 'debug',
    rateLimit,
    origins: settings.corsOrigins,
    pathPrefix: settings.pathPrefix,
    observers: { ...observers, metrics: settings.metrics === 'here' ? observers.metrics : null },
    bodyLimitBytes: settings.bodyLimitBytes,
    workers: settings.workers,
    docs: settings.docs === true,
    opening: assembly.opening ?? null,
    auth: authOf(assembly, verify.own, health),
  })
  return { app, live, servers }
}

function healthOf(assembly: Assembly): HealthChecks {
  const { watched, fault, database, replicas } = assembly
  return createHealthChecks({
    isDraining: () => assembly.draining,
    revision: watched.revision,
    compileFailedAt: watched.failedAt,
    fault,
    lastAnswer: database.answeredAt,
    ...(replicas !== null && { replicas: () => replicas.stats().replicas.map(({ fault: found }) => found) }),
    ping: database.ping,
    isPrepared: () =>
      watched.source().then(
        () => true,
        (error: unknown) => !isUnprepared(error),
      ),
    now: () => performance.now(),
  })
}

function authOf(assembly: Assembly, verify: VerifyToken, health: HealthChecks): AppParts['auth'] {
  const { settings, observers, auth, database, replicas, projectKeys } = assembly
  return {
    ...auth,
    verify,
    addressHeader: settings.addressHeader,
    origins: settings.corsOrigins,
    log: assembly.log,
    requests: observers.requests,
    live: observers.live,
    slowMs: settings.slowRequestMs,
    schemas: settings.schemas,
    asCaller: database.run,
    wrote: replicas?.wrote,
    project: () => projectOf(settings, projectKeys.listed(), assembly.ownUrl()),
    overview: async () => ({ health: await health.ready(), summary: (await assembly.service?.summary()) ?? null }),
    prepare: () => migrateAuth({ url: authMakerUrl(settings) }),
    describe: async (role) => {
      if (assembly.service === null) throw new HttpFailure('UNAVAILABLE')
      return assembly.service.describe(role)
    },
    report: async (role) => {
      if (assembly.service === null) throw new HttpFailure('UNAVAILABLE')
      return assembly.service.report(role)
    },
  }
}

/** Ends the time in which every request is answered 503. */
function serveFrom(assembly: Assembly, revision: Revision): void {
  const { database, replicas, watched, serving, log } = assembly
  const on = replicas === null ? { run: database.run } : { run: replicas.write, read: replicas.read }
  const failed = createOutageLog(log, () => performance.now(), database.ping)
  assembly.service = assembly.createService({ database: on, source: startingWith(revision, watched.source), failed })
  serving.serve = assembly.service.serve
  // Beside the first requests, which wait for the same.
  logVisible(assembly.service, log).catch(() => undefined)
}

/** The relations that a request watches; or the refusal that a query would get. */
async function interestsOf(
  service: GraphqlService | null,
  ...asked: Parameters<GraphqlService['watch']>
): ReturnType<ReadInterests> {
  if (service === null) return unavailableResponse
  const found = await service.watch(...asked)
  if (found.kind === 'refused') return found.response
  return found.kind === 'watch' ? found : { interests: [], revision: undefined }
}

function rateLimitOf({ rateLimit }: Settings, siblings: Siblings | undefined): RateLimit | null {
  if (rateLimit === 0) return null
  const limit = createRateLimit(rateLimit)
  return siblings === undefined ? limit : shareRateLimit(limit, siblings)
}

const projectOf = (settings: ServerSettings, listed: readonly ListedKey[], listeningUrl: string): ProjectAnswer => ({
  url: addressOf(settings, listeningUrl),
  anon_key: goodKey(keysOf(settings.jwtSecret, listed), 'anon') ?? '',
  mails: settings.smtpUrl === null ? 'kept' : 'sent',
})

/** Loads the first schema, however long its database takes to come up; null when the process stops before. */
async function warmUp(source: RevisionSource, log: Log, signal: AbortSignal): Promise<Revision | null> {
  const isHopeful = (error: unknown, attempt: number): boolean => {
    if (error instanceof Hopeless) return false
    const retryInMs = pauseMs(retries.firstSchema, attempt)
    log({ kind: 'not-ready', attempt, retryInMs, reason: reasonOf(error) })
    return true
  }
  try {
    return await retry(retries.firstSchema, source, isHopeful, signal)
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}

/** Lets balancers notice that the process is not ready, before it stops serving; a successor that listens makes this needless. */
async function drainTime(assembly: Assembly): Promise<void> {
  const { settings, siblings, service, log } = assembly
  const drainMs = settings.shutdownDrainMs
  if (drainMs === 0 || service === null || siblings?.isReplaced() === true) return
  assembly.draining = true
  log({ kind: 'draining', drainMs })
  await sleep(drainMs)
}
