import { mostSince, servingThreads, type ThreadTimes } from './server.ts'

/**
 * Stalls by the machine: how long this process did not reach its events, and how long the thread of the server
 * waited for a processor that others had, of several workers the one that waited most: a request has one of them. Each
 * measured time is longer by that.
 */
export interface Stalls {
  /** Milliseconds lost since then. */
  readonly since: (moment: number) => number
  readonly stop: () => void
}

const everyMs = 10
const forgetAfterMs = 60_000

interface Moment {
  readonly at: number
  /** Milliseconds since the beginning that this process lost. */
  readonly own: number
  readonly threads: ThreadTimes
}

export function watchStalls(serverPid: number): Stalls {
  const moments: Moment[] = []
  let [last, own] = [performance.now(), 0]
  const look = (): void => {
    const now = performance.now()
    own += Math.max(0, now - last - 2 * everyMs)
    last = now
    moments.push({ at: now, own, threads: servingThreads(serverPid) })
    if (moments.length > (2 * forgetAfterMs) / everyMs) moments.splice(0, forgetAfterMs / everyMs)
  }
  look()
  const timer = setInterval(look, everyMs)
  return {
    since: (moment) => {
      look()
      const [before, after] = [moments.findLast(({ at }) => at <= moment) ?? moments[0], moments.at(-1)]
      // A server that has ended has no figures any more.
      return before === undefined || after === undefined
        ? 0
        : after.own - before.own + mostSince(before.threads, after.threads, 'waited')
    },
    stop: () => clearInterval(timer),
  }
}
