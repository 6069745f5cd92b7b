import { mainThreadTime, withCpu } from '../support/cpu.ts'
import { saturate } from '../support/load.ts'
import { quantile } from '../support/statistics.ts'
import type { Case, Side } from './cases.ts'

/** The result of one side in one slice. Milliseconds; CPU per request. */
export interface Slice {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Of the server's main thread: everything except hashing and garbage collection. */
  readonly main: number
  /** Of its other threads: mostly hashing. */
  readonly others: number
  readonly postgres: number
}

export type Rounds = ReadonlyMap<Side, readonly Slice[]>

export interface Plan {
  readonly rounds: number
  readonly ms: number
  /** Id of the postmaster. */
  readonly postgres: number
}

/** The sides of a case alternately. */
export async function measureCase({ sides, connections, warmUp }: Case, plan: Plan): Promise<Rounds> {
  const slices = new Map<Side, Slice[]>(sides.map((side) => [side, []]))
  for (const side of sides) await warm(side, connections, warmUp)
  for (let round = 0; round < plan.rounds; round += 1) {
    for (const side of sides) slices.get(side)?.push(await slice(side, connections, plan))
  }
  return slices
}

const [warmUpStepMs, longestWarmUpMs] = [250, 20_000]

/** A number of requests, at most for twenty seconds. */
async function warm({ server, next, good }: Side, connections: number, requests: number): Promise<void> {
  const until = performance.now() + longestWarmUpMs
  for (let answered = 0; answered < requests && performance.now() < until;) {
    const load = { port: server.port, connections, ms: warmUpStepMs, next, ...(good !== undefined && { good }) }
    answered += (await saturate(load)).answered
  }
}

async function slice(side: Side, connections: number, { ms, postgres }: Plan): Promise<Slice> {
  const { server, next, good } = side
  const mainBefore = mainThreadTime(server.pid)
  const work = () => saturate({ port: server.port, connections, ms, next, ...(good !== undefined && { good }) })
  const { value, cpu } = await withCpu({ server: server.pid, postgres }, work)
  const main = mainThreadTime(server.pid) - mainBefore
  if (value.failed > 0) throw new Error(`${value.failed} of ${value.answered} requests to ${side.name} failed`)
  const each = (microseconds: number): number => microseconds / 1_000 / value.answered
  return {
    perSecond: value.answered / (value.ms / 1_000),
    p50: quantile(value.latencies, 0.5),
    p99: quantile(value.latencies, 0.99),
    main: each(main),
    others: each(cpu.server - main),
    postgres: each(cpu.postgres),
  }
}
