import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * What it takes this machine right now to take a cancellation to Postgres: a connection, a process that is forked for it,
 * and the end of the connection. The one that is asked for is of nobody.
 */
export interface CancelCost {
  /** The most that one took since then, in milliseconds. */
  readonly since: (moment: number) => number
  readonly stop: () => Promise<void>
}

const everyMs = 100
const forgetAfterMs = 60_000

/** CancelRequest (manual, 54.7) for process 0, which is none. */
const request = Buffer.from([0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 0, 0, 0, 0, 0])

const once = (port: number): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    socket.on('error', () => undefined)
    socket.once('connect', () => socket.write(request))
    socket.once('close', () => resolve())
    socket.resume()
  })

export function watchCancelCost(port: number): CancelCost {
  const taken: { readonly at: number; readonly ms: number }[] = []
  let stopped = false
  let sent = performance.now()
  const look = async (): Promise<void> => {
    for (; !stopped; await pause(everyMs)) {
      sent = performance.now()
      await once(port)
      const at = performance.now()
      taken.push({ at, ms: at - sent })
      if ((taken[0]?.at ?? at) < at - forgetAfterMs) taken.shift()
    }
  }
  const looking = look()
  return {
    // The one that is under way counts as well.
    since: (moment) =>
      taken.reduce((most, { at, ms }) => (at >= moment ? Math.max(most, ms) : most), performance.now() - sent - everyMs),
    stop: async () => {
      stopped = true
      await looking
    },
  }
}
