import { setTimeout as sleep } from 'node:timers/promises'
import { pauseMs, retries } from '../../lib/retry.ts'
import { within } from '../../lib/timers.ts'
import type { Log } from '../../settings/log/events.ts'
import { createWorkerGroup, type WorkerGroup, type Services } from './worker-group.ts'
import type { Exit, WorkerProcess } from './worker-process.ts'

/** The primary process: it holds the address, compiles for the workers and restarts them. It answers no request. */

export interface Supervision extends Services {
  readonly workers: number
  readonly log: Log
  /** The grace period of a worker in milliseconds, and the time before it in which balancers notice. */
  readonly graceMs: number
  readonly drainMs: number
  readonly stopRequested: Promise<string>
  readonly onReady: (url: string) => void
}

export interface Supervisor {
  /** Runs the workers until it is asked to stop; resolves with the exit code when the last one has ended. */
  readonly run: () => Promise<number>
  /** Replaces every worker, one after the other, each when its successor serves. */
  readonly reload: () => Promise<void>
  readonly metrics: () => Promise<string>
}

/** The time after the grace period before a worker is killed. */
const killAfterMs = 5_000
/** The time limit of a replacement's start. */
const replacedWithinMs = 60_000

interface Supervising extends Supervision {
  readonly group: WorkerGroup
  readonly filled: Map<number, WorkerProcess>
  readonly stopping: AbortController
  isReloading: boolean
}

export function createSupervisor(parts: Supervision): Supervisor {
  const group = createWorkerGroup(parts)
  const supervising = { ...parts, group, filled: new Map(), stopping: new AbortController(), isReloading: false }
  return { metrics: group.metrics, run: () => run(supervising), reload: () => reload(supervising) }
}

async function run(supervising: Supervising): Promise<number> {
  const { group, workers, source, log, stopRequested, onReady } = supervising
  // The first caller gets the running or finished compile and its errors.
  source().catch(() => undefined)
  const first = group.start(1)
  const failed = await Promise.race([first.listening.then(() => null), first.exit, stopRequested.then(() => null)])
  // A failure to listen concerns all workers; the first has logged the reason.
  if (failed !== null) return failed.code
  const others = Array.from({ length: workers - 1 }, (_, index) => group.start(index + 2))
  for (const place of [first, ...others]) void keepFilled(supervising, place)
  log({ kind: 'workers', count: workers })
  void first.serving.then(onReady)
  await endAll(supervising, await stopRequested)
  return 0
}

async function keepFilled({ group, filled, stopping, log }: Supervising, first: WorkerProcess): Promise<void> {
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
    place = place.successor ?? group.start(place.number)
  }
}

async function endAll({ group, stopping, log, graceMs, drainMs }: Supervising, reason: string): Promise<void> {
  stopping.abort()
  log({ kind: 'stopping', signal: reason })
  // A worker that does not receive yet serves no client.
  for (const place of group.alive)
    if (place.hears) place.send({ kind: 'stop', reason, replaced: false })
    else place.kill()
  const ended = Promise.all([...group.alive].map(({ exit }) => exit))
  if (!(await within(drainMs + graceMs + killAfterMs, ended))) for (const place of group.alive) place.kill()
  await ended
  log({ kind: 'stopped' })
}

async function reload(supervising: Supervising): Promise<void> {
  const { stopping, log } = supervising
  if (supervising.isReloading || stopping.signal.aborted) return
  supervising.isReloading = true
  log({ kind: 'reloading' })
  const done = await replaceAll(supervising)
  log(done ? { kind: 'reloaded' } : { kind: 'reload-failed' })
  supervising.isReloading = false
}

async function replaceAll(supervising: Supervising): Promise<boolean> {
  for (const place of [...supervising.filled.values()]) {
    if (supervising.stopping.signal.aborted) return true
    if (!(await replace(supervising, place))) return false
  }
  return true
}

/** True if the place has a new worker, or no longer needs this one. */
async function replace({ group, filled, graceMs }: Supervising, old: WorkerProcess): Promise<boolean> {
  const next = group.start(old.number)
  const serves = await within(replacedWithinMs, Promise.race([next.serving, next.exit]))
  if (!serves || !next.hasServed) {
    next.kill()
    return false
  }
  if (filled.get(old.number) !== old) {
    // It ended unexpectedly, and is replaced already.
    next.send({ kind: 'stop', reason: 'one too many', replaced: true })
    return true
  }
  old.successor = next
  old.send({ kind: 'stop', reason: 'replaced', replaced: true })
  // Its clients have the grace period to leave, and running requests have it once more.
  await within(2 * graceMs + killAfterMs, old.exit)
  old.kill()
  return true
}

const sayExit = ({ code, signal }: Exit): string => (signal === null ? `with the code ${code}` : `by ${signal}`)
