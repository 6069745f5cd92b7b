import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { httpRequest, sendOnce } from '../../../bench/support/http-client.ts'

/** The time that a repeated action takes on this machine at present. */
export interface Cost {
  /** The most that it took since then, in milliseconds. */
  readonly since: (moment: number) => number
  readonly stop: () => Promise<void>
}

const everyMs = 100
const forgetAfterMs = 60_000

function watchCost(work: () => Promise<unknown>): Cost {
  const taken: { readonly at: number; readonly ms: number }[] = []
  let [stopped, began] = [false, performance.now()]
  const look = async (): Promise<void> => {
    for (; !stopped; await pause(everyMs)) {
      began = performance.now()
      await work().catch(() => undefined)
      const at = performance.now()
      taken.push({ at, ms: at - began })
      if ((taken[0]?.at ?? at) < at - forgetAfterMs) taken.shift()
    }
  }
  const looking = look()
  return {
    since: (moment) => {
      // The one that is under way counts as well.
      const underWay = Math.max(0, performance.now() - began - everyMs)
      return taken.reduce((most, { at, ms }) => (at >= moment ? Math.max(most, ms) : most), underWay)
    },
    stop: async () => {
      stopped = true
      await looking
    },
  }
}

/** CancelRequest (manual, 54.7) for process 0, which is none. */
const cancelRequest = Buffer.from([0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 0, 0, 0, 0, 0])

const cancelNobody = (port: number): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    socket.on('error', () => undefined)
    socket.once('connect', () => socket.write(cancelRequest))
    socket.once('close', () => resolve())
    socket.resume()
  })

/** Of taking a cancellation to Postgres: a connection, a process that is forked for it, and the end of both. */
export const watchCancelling = (port: number): Cost => watchCost(() => cancelNobody(port))

const preflight = httpRequest({ method: 'OPTIONS', path: '/graphql/v1' })

/** Of coming to the server: Node takes one new connection each time that its event loop comes round. */
export const watchComing = (port: number): Cost => watchCost(() => sendOnce(port, preflight))
