import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ChangeFeed, ChangeListener } from '../../contract/live.ts'
import type { LiveObservation } from '../../contract/observations.ts'
import { keepAliveMs, type LiveStreams } from '../http/event-stream.ts'
import type { ObserveRequest } from '../http/observed.ts'
import type { RateLimit } from '../../http/rate-limit.ts'
import { carryStreams, type Servers } from '../../http/servers.ts'
import type { Authenticate } from '../../identity/caller.ts'
import type { ByteBudget } from '../../lib/byte-budget.ts'
import { createRounds } from '../../lib/timers.ts'
import type { Log } from '../../settings/log/events.ts'
import type { Settings } from '../../settings/keys.ts'
import { createSockets, type Sockets } from './sockets/sockets.ts'
import { createHub } from './streams/hub.ts'
import { createSessions } from './streams/sessions.ts'
import type { AnswerRequest, ReadInterests } from './streams/stream-types.ts'

/** Live queries of one process: the streams, and their transports (spec/graphql.md 16.3, 16.4). */
export interface Live {
  readonly streams: LiveStreams
  readonly sockets: Sockets
  readonly stats: () => LiveObservation
  /** Ends every stream and socket so that their clients reconnect. */
  readonly stop: () => void
  /** Closes the database connections, after `stop`. */
  readonly close: () => Promise<void>
}

export interface LiveParts {
  readonly settings: Pick<
    Settings,
    'liveStreams' | 'workers' | 'poolSize' | 'requestTimeoutMs' | 'corsOrigins' | 'pathPrefix' | 'bodyLimitBytes'
  >
  readonly watching: Watching
  /** Answers requests, including those of streams; it must see writes immediately. */
  readonly answer: AnswerRequest
  readonly authenticate: Authenticate
  readonly servers: Servers
  readonly answers: ByteBudget
  /** The memory that incomplete bodies and messages share. */
  readonly bodies: ByteBudget
  readonly rateLimit: RateLimit | null
  readonly closedFor: (request: IncomingMessage) => number | Promise<number>
  readonly sourceOf: (request: IncomingMessage) => string
  readonly observe: ObserveRequest | null
  /** Receives the delay from a change to its answer, in milliseconds. */
  readonly lag: (ms: number) => void
  readonly log: Log
}

/** The needs of streams beyond answers. */
export interface Watching {
  readonly follow: (listener: ChangeListener) => ChangeFeed
  readonly read: ReadInterests
}

const streamsOfParty = 100
const socketsOfParty = 20

const shareOfSlowRuns = 1 / 4
/** No caller has both. */
const fewestSlowRuns = 2

/** Places for runs that are not slow. */
const otherRuns = 3

/** Between the starts of two runs of a watch: at most twenty per second. */
const pauseOfRunsMs = 50

/** Runs wait for the feed, which locks of the owner may delay; normally it takes some milliseconds. */
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
      runs: Math.max(fewestSlowRuns, Math.floor(settings.poolSize * shareOfSlowRuns)) + otherRuns,
      pauseMs: pauseOfRunsMs,
      runMs: settings.requestTimeoutMs,
      watchMs: longestWatchMs,
    },
  })
  const carriesStreams = (socket: Socket): (() => void) => carryStreams(servers, socket)
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
    carriesStreams,
  })
  servers.takeUpgrade = sockets.upgrade
  return {
    streams: { open: hub.open, sessions, rounds, carriesStreams },
    sockets,
    stats: () => ({ ...hub.stats(), sockets: sockets.open() }),
    stop: () => {
      hub.stop()
      sockets.stop()
    },
    close: hub.close,
  }
}
