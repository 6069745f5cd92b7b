import { setTimeout as sleep } from 'node:timers/promises'
import type { RevisionSource } from '../contract/revision.ts'
import { pauseMs, retries } from '../lib/retry.ts'
import { within } from '../lib/within.ts'
import type { Log } from '../log/events.ts'
import { createCalls } from './calls.ts'
import { changeBetween } from './change.ts'
import { toTravel, type Asked, type FromWorker, type ToWorker, type TravellingWrite } from './messages.ts'
import { hire, type Exit, type WorkerProcess } from './worker-process.ts'

/**
 * The primary process: it holds the address that all workers listen on, compiles for them, and keeps them running. It answers
 * no request itself.
 */

export interface Supervision {
  /** How many serve. */
  readonly workers: number
  readonly source: RevisionSource
  readonly log: Log
  /** Milliseconds that a worker has to end what it runs. */
  readonly graceMs: number
  /** For how long a worker that hears nothing may answer from replicas, in milliseconds. */
  readonly replicaMaxStalenessMs: number
  /** Sums what each worker tells of its metrics. */
  readonly sumMetrics: (values: readonly unknown[]) => Promise<string>
  readonly stopRequested: Promise<string>
  /** Told when the first worker serves. */
  readonly onReady: (url: string) => void
}

export interface Supervisor {
  /** Runs the workers until the end is asked for; resolves with the exit code when the last one has ended. */
  readonly run: () => Promise<number>
  /** Replaces every worker, one after the other, each when the new one serves. */
  readonly reload: () => Promise<void>
  /** The metrics of all workers. */
  readonly metrics: () => Promise<string>
}

/** How much longer than its grace a worker may take to end, before it is killed. */
const killAfterMs = 5_000
/** Within which a replacement has to serve. */
const replacedWithinMs = 60_000
/** Within which a worker tells its metrics. */
const metricsMs = 5_000

export function createSupervisor(parts: Supervision): Supervisor {
  const { workers, source, log, graceMs, sumMetrics, stopRequested, onReady, replicaMaxStalenessMs } = parts
  /** Everybody who has not ended, and who fills each place. */
  const alive = new Set<WorkerProcess>()
  const filled = new Map<number, WorkerProcess>()
  const told = createCalls<unknown>()
  const heard = createCalls<undefined>()
  const stopping = new AbortController()
  let reloading = false

  const metricsOf = async (place: WorkerProcess): Promise<unknown> => {
    const values = told.ask((call) => place.tell({ kind: 'tell-metrics', call }))
    return (await within(metricsMs, values)) ? values : []
  }
  const metrics = async (): Promise<string> =>
    sumMetrics(await Promise.all([...alive].filter(({ hasServed }) => hasServed).map(metricsOf)))

  /**
   * Whoever does not hear yet takes everything for written until it has looked at the primary. A worker that is silent for
   * longer knows no replica that is fresh enough.
   */
  const tellOthers = async (place: WorkerProcess, write: TravellingWrite): Promise<void> => {
    const tell = (other: WorkerProcess): Promise<unknown> => {
      const heardIt = heard.ask((call) => other.tell({ kind: 'wrote', call, write }))
      return Promise.race([heardIt, other.exit])
    }
    await within(
      replicaMaxStalenessMs,
      Promise.all([...alive].filter((other) => other !== place && other.hears).map(tell)),
    )
  }

  const answer = (place: WorkerProcess, about: Asked, call: number, work: () => Promise<ToWorker>): void =>
    void work()
      .catch((error: unknown): ToWorker => ({ kind: 'failed', about, call, failure: toTravel(error) }))
      .then(place.tell)
  const hear = (place: WorkerProcess, message: FromWorker): void => {
    place.hears = true
    switch (message.kind) {
      case 'ask-revision':
        return answer(place, 'revision', message.call, async () => {
          const now = await source()
          const change = changeBetween(place.sent, now)
          place.sent = now
          return { kind: 'revision', call: message.call, change }
        })
      case 'ask-metrics':
        return answer(place, 'metrics', message.call, async () => ({
          kind: 'metrics',
          call: message.call,
          text: await metrics(),
        }))
      case 'metrics':
        return told.answered(message.call, message.values)
      case 'taken':
        for (const other of alive) if (other !== place) other.tell(message)
        return
      case 'wrote':
        void tellOthers(place, message.write).then(() => place.tell({ kind: 'all-heard', call: message.call }))
        return
      case 'heard':
        return heard.answered(message.call, undefined)
      case 'ready':
        // Heard by who hired it.
        return
      default:
        // What another library sends.
        return
    }
  }
  const start = (number: number): WorkerProcess => {
    const place = hire(number, hear)
    alive.add(place)
    void place.exit.then(() => alive.delete(place))
    return place
  }
  /** Sees to it that somebody has the place, until the end. */
  const keep = async (first: WorkerProcess): Promise<void> => {
    let place = first
    for (let failures = 0; ;) {
      filled.set(place.number, place)
      const exit = await place.exit
      if (stopping.signal.aborted) return
      if (place.successor === null) {
        failures = place.hasServed ? 1 : failures + 1
        const retryInMs = pauseMs(retries.worker, failures)
        log({ kind: 'worker-ended', worker: place.number, how: sayExit(exit), retryInMs })
        await sleep(retryInMs, undefined, { signal: stopping.signal }).catch(() => undefined)
        if (stopping.signal.aborted) return
      }
      place = place.successor ?? start(place.number)
    }
  }
  /** True when the place has a new worker, or no longer needs this one. */
  const replace = async (old: WorkerProcess): Promise<boolean> => {
    const next = start(old.number)
    const serves = await within(replacedWithinMs, Promise.race([next.serving, next.exit]))
    if (!serves || !next.hasServed) {
      next.kill()
      return false
    }
    if (filled.get(old.number) !== old) {
      // It ended by itself, and is replaced already.
      next.tell({ kind: 'stop', reason: 'one too many', replaced: true })
      return true
    }
    old.successor = next
    old.tell({ kind: 'stop', reason: 'replaced', replaced: true })
    // Its clients have the grace to leave, and what still runs then has it once more.
    await within(2 * graceMs + killAfterMs, old.exit)
    old.kill()
    return true
  }
  const replaceAll = async (): Promise<boolean> => {
    for (const place of [...filled.values()]) {
      if (stopping.signal.aborted) return true
      if (!(await replace(place))) return false
    }
    return true
  }
  const endAll = async (reason: string): Promise<void> => {
    stopping.abort()
    log({ kind: 'stopping', signal: reason })
    // Who does not hear yet serves nobody.
    for (const place of alive)
      if (place.hears) place.tell({ kind: 'stop', reason, replaced: false })
      else place.kill()
    const ended = Promise.all([...alive].map(({ exit }) => exit))
    if (!(await within(graceMs + killAfterMs, ended))) for (const place of alive) place.kill()
    await ended
    log({ kind: 'stopped' })
  }
  return {
    metrics,
    run: async () => {
      const first = start(1)
      const failed = await Promise.race([first.listening.then(() => null), first.exit, stopRequested.then(() => null)])
      // What keeps one from listening keeps all: it has said what.
      if (failed !== null) return failed.code
      const others = Array.from({ length: workers - 1 }, (_, index) => start(index + 2))
      for (const place of [first, ...others]) void keep(place)
      log({ kind: 'workers', count: workers })
      void first.serving.then(onReady)
      await endAll(await stopRequested)
      return 0
    },
    reload: async () => {
      if (reloading || stopping.signal.aborted) return
      reloading = true
      log({ kind: 'reloading' })
      const done = await replaceAll()
      log(done ? { kind: 'reloaded' } : { kind: 'reload-failed' })
      reloading = false
    },
  }
}

const sayExit = ({ code, signal }: Exit): string => (signal === null ? `with the code ${code}` : `by ${signal}`)
