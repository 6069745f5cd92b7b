import { mainThread } from './server.ts'

/**
 * What the machine kept from us: how long this process did not get to its events, and how long the thread of the server
 * waited for a processor that others had. What is measured is longer by that.
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
  /** Since the beginning: our own and the server's. */
  readonly lost: number
}

export function watchStalls(serverPid: number): Stalls {
  const moments: Moment[] = []
  let [last, own] = [performance.now(), 0]
  const look = (): void => {
    const now = performance.now()
    own += Math.max(0, now - last - 2 * everyMs)
    last = now
    moments.push({ at: now, lost: own + mainThread(serverPid).waited })
    if (moments.length > (2 * forgetAfterMs) / everyMs) moments.splice(0, forgetAfterMs / everyMs)
  }
  look()
  const timer = setInterval(look, everyMs)
  return {
    since: (moment) => {
      look()
      const before = moments.findLast(({ at }) => at <= moment) ?? moments[0]
      // A server that has ended meanwhile tells of nothing any more.
      return Math.max(0, (moments.at(-1)?.lost ?? 0) - (before?.lost ?? 0))
    },
    stop: () => clearInterval(timer),
  }
}
