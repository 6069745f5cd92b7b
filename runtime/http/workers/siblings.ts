import type { KeptRequest, LiveObservation, OwnObservations, SharedObservations } from '../../contract/observations.ts'
import type { NotedWrite } from '../../contract/execution.ts'
import type { LaterState, Revision, RevisionSource } from '../../contract/artifact.ts'
import { DatabaseFailure } from '../../db/failures/failures.ts'
import { applyChange, changeFromTravel } from './change.ts'
import {
  createCalls,
  fromTravel,
  writeFromTravel,
  writeToTravel,
  type FromWorker,
  type RequestCounts,
  type ToWorker,
} from './worker-messages.ts'
import type { RateLimit } from '../rate-limit.ts'
import type { Settings } from '../../settings/keys.ts'

/** The other workers, for one of them: through the primary process, which compiles for all. */
export interface Siblings extends SharedObservations {
  readonly source: RevisionSource
  readonly ready: (url: string) => void
  readonly spread: (requests: RequestCounts) => void
  readonly onSpread: (hear: (requests: RequestCounts) => void) => void
  /** Resolves when every other worker has received a write, or is too long silent to answer from a replica. */
  readonly shareWrite: (write: NotedWrite) => Promise<void>
  readonly onWrite: (hear: (write: NotedWrite) => void) => void
  /** Resolves with the reason for which the primary asks this process to end, including the primary's own end. */
  readonly stopRequested: Promise<string>
  /** Whether another worker has taken over, so that connections may end in their own time. */
  readonly isReplaced: () => boolean
}

interface PrimaryPort {
  readonly send: (message: FromWorker) => void
  readonly onMessage: (hear: (message: ToWorker) => void) => void
  readonly onDisconnect: (hear: () => void) => void
}

const primaryDisconnected = (): Error => new DatabaseFailure('unavailable', 'The primary process is gone.', null, null)

export function joinWorkers({ send, onMessage, onDisconnect }: PrimaryPort): Siblings {
  const calls = {
    revision: createCalls<Revision>(),
    later: createCalls<LaterState | null>(),
    metrics: createCalls<string>(),
    requests: createCalls<readonly KeptRequest[]>(),
    live: createCalls<readonly LiveObservation[]>(),
    wrote: createCalls<undefined>(),
  }
  let last: Revision | null = null
  let replaced = false
  const none = (): Promise<readonly never[]> => Promise.resolve([])
  let own: OwnObservations = { metrics: none, requests: none, live: none }
  let hearWrite: (write: NotedWrite) => void = () => undefined
  let hearSpread: (requests: RequestCounts) => void = () => undefined
  const withLater = (revision: Revision): Revision => {
    const { version } = revision
    return { ...revision, later: () => calls.later.ask((call) => send({ kind: 'ask-later', call, version })) }
  }
  const stopRequested = new Promise<string>((resolve) => {
    onMessage((message) => {
      switch (message.kind) {
        case 'revision':
          last = withLater(applyChange(last, changeFromTravel(message.change)))
          return calls.revision.answered(message.call, last)
        case 'later':
          return calls.later.answered(message.call, message.later)
        case 'metrics':
          return calls.metrics.answered(message.call, message.text)
        case 'requests':
          return calls.requests.answered(message.call, message.requests)
        case 'live':
          return calls.live.answered(message.call, message.live)
        case 'failed':
          return calls[message.about].failed(message.call, fromTravel(message.failure))
        case 'get-metrics':
          return void own.metrics().then((values) => send({ kind: 'metrics', call: message.call, values }))
        case 'get-requests':
          return void own.requests().then((requests) => send({ kind: 'requests', call: message.call, requests }))
        case 'get-live':
          return void own.live().then((live) => send({ kind: 'live', call: message.call, live }))
        case 'taken':
          return hearSpread(message.requests)
        case 'wrote':
          hearWrite(writeFromTravel(message.write))
          return send({ kind: 'heard', call: message.call })
        case 'all-heard':
          return calls.wrote.answered(message.call, undefined)
        case 'stop':
          replaced = message.replaced
          return resolve(message.reason)
      }
    })
    onDisconnect(() => {
      for (const asked of Object.values(calls)) asked.giveUp(primaryDisconnected())
      resolve('the end of the primary process')
    })
  })
  return {
    source: () => calls.revision.ask((call) => send({ kind: 'ask-revision', call })),
    ready: (url) => send({ kind: 'ready', url }),
    metrics: () => calls.metrics.ask((call) => send({ kind: 'ask-metrics', call })),
    requests: () => calls.requests.ask((call) => send({ kind: 'ask-requests', call })),
    live: () => calls.live.ask((call) => send({ kind: 'ask-live', call })),
    show: (observed) => (own = observed),
    spread: (requests) => send({ kind: 'taken', requests }),
    onSpread: (hear) => (hearSpread = hear),
    shareWrite: (write) =>
      calls.wrote.ask((call) => send({ kind: 'wrote', call, write: writeToTravel(write) })).catch(() => undefined),
    onWrite: (hear) => (hearWrite = hear),
    stopRequested,
    isReplaced: () => replaced,
  }
}

/** The delay with which workers exchange their counts, in milliseconds. */
const spreadEveryMs = 100

/** A rate limit that includes the counts of every worker. */
export function shareRateLimit(
  limit: RateLimit,
  { spread, onSpread }: Pick<Siblings, 'spread' | 'onSpread'>,
): RateLimit {
  const taken = new Map<string, number>()
  let waiting: NodeJS.Timeout | null = null
  const send = (): void => {
    waiting = null
    spread(Object.fromEntries(taken))
    taken.clear()
  }
  onSpread((requests) => {
    for (const [party, count] of Object.entries(requests)) limit.takenElsewhere(party, count)
  })
  return {
    ...limit,
    take: (party) => {
      const ms = limit.take(party)
      if (ms > 0) return ms
      taken.set(party, (taken.get(party) ?? 0) + 1)
      waiting ??= setTimeout(send, spreadEveryMs).unref()
      return 0
    },
  }
}

/** A worker's share of a project-wide amount: at least one. */
const shareOf = (whole: number, workers: number): number => Math.max(1, Math.floor(whole / workers))

/** The settings of one worker: project-wide limits are divided by the number of workers. */
export const settingsOfWorker = <S extends Settings>(settings: S): S => ({
  ...settings,
  poolSize: shareOf(settings.poolSize, settings.workers),
  authPoolSize: shareOf(settings.authPoolSize, settings.workers),
})
