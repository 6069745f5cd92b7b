import { setTimeout as pause } from 'node:timers/promises'
import { openConnection, type HttpAnswer, type HttpConnection } from './http-client.ts'

/** Load from one process onto one server: the maximum (closed loop), or a number of requests per second (open loop). */

export interface Load {
  readonly port: number
  /** The number to open for this load, or existing ones that stay open. */
  readonly connections: number | readonly HttpConnection[]
  readonly ms: number
  /** The bytes of the next request. */
  readonly next: () => Buffer
  /** Whether an answer is good; the default is status 200. */
  readonly good?: (answer: HttpAnswer) => boolean
}

export interface Sample {
  readonly answered: number
  /** Answers that were not good. A broken connection is not counted but thrown. */
  readonly failed: number
  /** Milliseconds from the first request to the last answer. */
  readonly ms: number
  /** Milliseconds of each request, unordered. */
  readonly latencies: readonly number[]
}

interface Tally {
  failed: number
  readonly latencies: number[]
}

const isOk = ({ status }: HttpAnswer): boolean => status === 200

export const openConnections = (port: number, count: number): Promise<readonly HttpConnection[]> =>
  Promise.all(Array.from({ length: count }, () => openConnection(port)))

const withConnections = async <T>(
  { port, connections: given }: Load,
  work: (connections: readonly HttpConnection[]) => Promise<T>,
): Promise<T> => {
  if (typeof given !== 'number') return work(given)
  const connections = await openConnections(port, given)
  try {
    return await work(connections)
  } finally {
    for (const connection of connections) connection.close()
  }
}

const ask = async (connection: HttpConnection, load: Load, tally: Tally, since: number): Promise<void> => {
  const answer = await connection.send(load.next())
  tally.latencies.push(performance.now() - since)
  if (!(load.good ?? isOk)(answer)) tally.failed += 1
}

const sampled = async (work: (tally: Tally, started: number) => Promise<unknown>): Promise<Sample> => {
  const tally: Tally = { failed: 0, latencies: [] }
  const started = performance.now()
  await work(tally, started)
  return { ...tally, answered: tally.latencies.length, ms: performance.now() - started }
}

/** Every connection sends its next request as soon as the one before is answered. */
export const saturate = (load: Load): Promise<Sample> =>
  withConnections(load, (connections) =>
    sampled((tally, started) => {
      const work = async (connection: HttpConnection): Promise<void> => {
        for (let now = started; now - started < load.ms; now = performance.now())
          await ask(connection, load, tally, now)
      }
      return Promise.all(connections.map(work))
    }),
  )

/**
 * Requests arrive at random (Poisson) at that rate, whether the ones before are answered or not; one that finds every
 * connection taken waits for one, and its wait counts. The duration starts when this process notices the
 * arrival: its own timers are a millisecond coarse, and that is not the server's.
 */
export const arrive = (load: Load & { readonly perSecond: number }): Promise<Sample> =>
  withConnections(load, (connections) =>
    sampled(async (tally, started) => {
      const idle = [...connections]
      const waiting: ((connection: HttpConnection) => void)[] = []
      const borrow = (): Promise<HttpConnection> => {
        const connection = idle.pop()
        return connection === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(connection)
      }
      const one = async (): Promise<void> => {
        const since = performance.now()
        const connection = await borrow()
        await ask(connection, load, tally, since)
        const next = waiting.shift()
        if (next === undefined) idle.push(connection)
        else next(connection)
      }
      const running: Promise<void>[] = []
      for (let due = 0; due < load.ms; due += (-Math.log(1 - Math.random()) * 1_000) / load.perSecond) {
        const wait = due - (performance.now() - started)
        if (wait > 0) await pause(wait)
        running.push(one())
      }
      await Promise.all(running)
    }),
  )
