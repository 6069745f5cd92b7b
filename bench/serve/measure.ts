import type { BlogSize } from '../blog/data.ts'
import type { Operation } from '../blog/operations.ts'
import { withCpu, type Counted } from '../support/cpu.ts'
import { sendOnce } from '../support/http-client.ts'
import { arrive, saturate, type Load, type Sample } from '../support/load.ts'
import type { Options } from '../support/options.ts'
import { quantile } from '../support/statistics.ts'
import type { Subject } from './subjects.ts'

/**
 * How long and how hard each slice is. Slices are short and go by turns, so that all subjects meet the same weather: a machine
 * that is shared with others changes its speed from one second to the next.
 */
export interface Effort {
  readonly rounds: number
  readonly connections: number
  readonly sliceMs: number
  /** Requests before measuring, because a server is slow before its code is compiled, however busy the machine is. */
  readonly warmUp: number
  /** Arrivals per second for latency; 0 omits it. */
  readonly perSecond: number
}

export const effortOf = (options: Options): Effort => ({
  rounds: options.number('rounds', 20),
  connections: options.number('connections', 16),
  sliceMs: options.number('seconds', 0.25) * 1_000,
  warmUp: options.number('warm-up', 20_000),
  perSecond: options.number('rate', 200),
})

/** One figure for each round, by name. */
export type Series = Readonly<Record<FigureName, readonly number[]>>

/** Requests per second, microseconds of CPU per request, and milliseconds. */
export type FigureName =
  | 'perSecond'
  | 'serverCpu'
  | 'databaseCpu'
  | 'p50'
  | 'p99'
  | 'steadyServerCpu'
  | 'steadyP50'
  | 'steadyP99'

export interface Measured {
  readonly operation: string
  readonly subject: string
  readonly series: Series
}

/** Prepared requests, so that making them is not measured. */
const ring = 1_000

const nextOf = (subject: Subject, operation: Operation, size: BlogSize): (() => Buffer) => {
  const requests = Array.from({ length: ring }, () => subject.request(operation, size))
  let index = 0
  return () => requests[index++ % ring] as Buffer
}

/** The load of one operation on one subject; an answer without data is not a good one. */
export const loadFor = (
  subject: Subject,
  operation: Operation,
  size: BlogSize,
  { connections, sliceMs }: Pick<Effort, 'connections' | 'sliceMs'>,
): Load => ({
  port: subject.server.port,
  connections,
  ms: sliceMs,
  next: nextOf(subject, operation, size),
  good: ({ status, body }) => status === 200 && body.length > 40,
})

/** @throws if a subject gives a wrong answer: its speed would be meaningless */
export const checkAnswer = async (subject: Subject, operation: Operation, size: BlogSize): Promise<string> => {
  const answer = await sendOnce(subject.server.port, subject.request(operation, size))
  const body = answer.body.toString()
  if (answer.status !== 200 || !operation.answers.test(body) || body.includes('"errors"'))
    throw new Error(`${subject.name} does not answer ${operation.name}: ${answer.status} ${body.slice(0, 500)}`)
  return body
}

/** The measured load, and the processes whose CPU its answers take; `database` is the postmaster. */
export interface Loaded {
  readonly name: string
  readonly load: Load
  readonly processes: Readonly<Record<'server' | 'database', Counted>>
  /** Arrivals per second for latency; 0 omits it. */
  readonly perSecond: number
}

const must = ({ name }: Loaded, sample: Sample): Sample => {
  if (sample.failed === 0 && sample.answered > 0) return sample
  throw new Error(`${name}: ${sample.failed} of ${sample.answered} requests failed`)
}

export const emptySeries = (): Record<FigureName, number[]> => ({
  perSecond: [],
  serverCpu: [],
  databaseCpu: [],
  p50: [],
  p99: [],
  steadyServerCpu: [],
  steadyP50: [],
  steadyP99: [],
})

interface Runner {
  readonly series: Record<FigureName, number[]>
  readonly saturated: () => Promise<void>
  readonly steady: () => Promise<void>
}

/** Enough for arrivals to find a free one. */
const manyConnections = 64

const createRunner = (loaded: Loaded): Runner => {
  const series = emptySeries()
  const { load, processes, perSecond } = loaded
  const connections = typeof load.connections === 'number' ? manyConnections : load.connections
  return {
    series,
    saturated: async () => {
      const { value, cpu } = await withCpu(processes, () => saturate(load))
      const { answered, ms, latencies } = must(loaded, value)
      series.perSecond.push((answered / ms) * 1_000)
      series.serverCpu.push(cpu.server / answered)
      series.databaseCpu.push(cpu.database / answered)
      series.p50.push(quantile(latencies, 0.5))
      series.p99.push(quantile(latencies, 0.99))
    },
    steady: async () => {
      if (perSecond === 0) return
      const { value, cpu } = await withCpu(processes, () => arrive({ ...load, connections, perSecond }))
      const { answered, latencies } = must(loaded, value)
      series.steadyServerCpu.push(cpu.server / answered)
      series.steadyP50.push(quantile(latencies, 0.5))
      series.steadyP99.push(quantile(latencies, 0.99))
    },
  }
}

const warmUpSlices = 15

/** Loads a server until it answered so many requests, with a time limit. */
export const warmUp = async (load: Load, requests: number): Promise<void> => {
  let answered = 0
  for (let slice = 0; slice < warmUpSlices && answered < requests; slice += 1)
    answered += (await saturate({ ...load, ms: 500 })).answered
}

/** Alternately, the order reversed every other round. */
const byTurns = async (runners: readonly Runner[], rounds: number, slice: 'saturated' | 'steady'): Promise<void> => {
  for (let round = 0; round < rounds; round += 1)
    for (const runner of round % 2 === 0 ? runners : [...runners].reverse()) await runner[slice]()
}

/** Measures each after warming up, and returns the figures in the same order. */
export const measureByTurns = async (
  all: readonly Loaded[],
  { warmUp: requests, rounds }: Pick<Effort, 'warmUp' | 'rounds'>,
): Promise<readonly Series[]> => {
  for (const { load } of all) await warmUp(load, requests)
  const runners = all.map(createRunner)
  await byTurns(runners, rounds, 'saturated')
  await byTurns(runners, rounds, 'steady')
  return runners.map(({ series }) => series)
}

/** Measures one operation on all subjects. `database` is the postmaster. */
export const measure = async (
  subjects: readonly Subject[],
  operation: Operation,
  size: BlogSize,
  effort: Effort,
  database: number,
): Promise<readonly Measured[]> => {
  const loaded = subjects.map((subject) => ({
    name: `${subject.name}, ${operation.name}`,
    load: loadFor(subject, operation, size, effort),
    processes: { server: subject.server.pid, database },
    perSecond: effort.perSecond,
  }))
  const all = await measureByTurns(loaded, effort)
  return subjects.flatMap(({ name }, index) => {
    const series = all[index]
    return series === undefined ? [] : [{ operation: operation.name, subject: name, series }]
  })
}
