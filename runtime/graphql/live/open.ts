import type { IncomingMessage } from 'node:http'
import type { ChangeFeed, ChangeListener } from '../../contract/live.ts'
import type { LiveObservation } from '../../contract/observations.ts'
import { keepAliveMs, type LiveStreams } from '../http/event-stream.ts'
import type { ObserveRequest } from '../http/observed.ts'
import type { RateLimit } from '../../http/rate-limit.ts'
import type { Servers } from '../../http/servers.ts'
import type { Authenticate } from '../../identity/caller.ts'
import type { ByteBudget } from '../../lib/byte-budget.ts'
import { createRounds } from '../../lib/rounds.ts'
import type { Log } from '../../settings/log/events.ts'
import type { Settings } from '../../settings/keys.ts'
import { createSockets, type Sockets } from './sockets/sockets.ts'
import { createHub } from './streams/hub.ts'
import { createSessions } from './streams/sessions.ts'
import type { AnswerRequest, ReadInterests } from './streams/stream-types.ts'

/** Live queries of one process: the streams, and the transports that they come by (spec/graphql.md 16.3, 16.4). */
export interface Live {
  readonly streams: LiveStreams
  readonly sockets: Sockets
  readonly stats: () => LiveObservation
  /** Ends every stream and socket in such a way that their clients come again. */
  readonly stop: () => void
  /** Leaves the database, once it is stopped. */
  readonly close: () => Promise<void>
}

export interface LiveParts {
  readonly settings: Pick<
    Settings,
    'liveStreams' | 'workers' | 'poolSize' | 'requestTimeoutMs' | 'corsOrigins' | 'pathPrefix' | 'bodyLimitBytes'
  >
  readonly watching: Watching
  /** Answers requests, those of streams as well; it reads where writes are seen at once. */
  readonly answer: AnswerRequest
  readonly authenticate: Authenticate
  readonly servers: Pick<Servers, 'carriesStreams' | 'onUpgrade'>
  readonly answers: ByteBudget
  readonly rateLimit: RateLimit | null
  readonly closedFor: (request: IncomingMessage) => number | Promise<number>
  readonly sourceOf: (request: IncomingMessage) => string
  readonly observe: ObserveRequest | null
  /** Receives how long it took from a change to its answer, in milliseconds. */
  readonly lag: (ms: number) => void
  readonly log: Log
}

/** What streams need beyond answers. */
export interface Watching {
  /** Makes the feed, which tells this listener. */
  readonly follow: (listener: ChangeListener) => ChangeFeed
  readonly read: ReadInterests
}

const streamsOfParty = 100
const socketsOfParty = 20

/** Of the connections that callers share, those that runs take together at most. */
const shareOfRuns = 1 / 4

/** From the beginning of a run of a watch to that of its next one: twenty a second. */
const pauseOfRunsMs = 50

/** Locks of owners may hold up the feed, for whose relations runs wait; it takes some milliseconds otherwise. */
const longestWatchMs = 5_000

export function openLive(parts: LiveParts): Live {
  const { settings, servers, watching } = parts
  const hub = createHub({
    ...watching,
    answer: parts.answer,
    lag: parts.lag,
    limits: {
      streams: Math.ceil(settings.liveStreams / settings.workers),
      streamsOfParty,
      runs: Math.max(1, Math.floor(settings.poolSize * shareOfRuns)),
      pauseMs: pauseOfRunsMs,
      runMs: settings.requestTimeoutMs,
      watchMs: longestWatchMs,
    },
  })
  const sessions = createSessions(parts.authenticate, Date.now)
  const rounds = createRounds(keepAliveMs)
  const sockets = createSockets({
    ...parts,
    serve: parts.answer,
    open: hub.open,
    sessions,
    rounds,
    requestTimeoutMs: settings.requestTimeoutMs,
    origins: settings.corsOrigins,
    pathPrefix: settings.pathPrefix,
    bodyLimitBytes: settings.bodyLimitBytes,
    socketsOfParty,
    carriesStreams: servers.carriesStreams,
  })
  servers.onUpgrade(sockets.upgrade)
  return {
    streams: { open: hub.open, sessions, rounds, carriesStreams: servers.carriesStreams },
    sockets,
    stats: () => ({ ...hub.stats(), sockets: sockets.open() }),
    stop: () => {
      hub.stop()
      sockets.stop()
    },
    close: hub.close,
  }
}
