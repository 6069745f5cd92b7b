import type { BlogSize } from '../blog/data.ts'
import type { Operation } from '../blog/operations.ts'
import { withCpu } from '../support/cpu.ts'
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
  /** A server is not itself before its code is compiled: so many requests first, however busy the machine is. */
  readonly warmUp: number
  /** Arrivals a second for latency; 0 leaves it out. */
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

/** Requests a second, microseconds of CPU a request, and milliseconds. */
export type FigureName =
  'perSecond' | 'serverCpu' | 'databaseCpu' | 'p50' | 'p99' | 'steadyServerCpu' | 'steadyP50' | 'steadyP99'

export interface Measured {
  readonly operation: string
  readonly subject: string
  readonly series: Series
}

/** As many different requests as keep their making out of the measured time. */
const ring = 1_000

const nextOf = (subject: Subject, operation: Operation, size: BlogSize): (() => Buffer) => {
  const requests = Array.from({ length: ring }, () => subject.request(operation, size))
  let index = 0
  return () => requests[index++ % ring] as Buffer
}

/** The load of one operation on one subject; an answer that says nothing is not a good one. */
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

/** @throws when a subject does not answer what it was asked: its speed would mean nothing */
export const checkAnswer = async (subject: Subject, operation: Operation, size: BlogSize): Promise<string> => {
  const answer = await sendOnce(subject.server.port, subject.request(operation, size))
  const body = answer.body.toString()
  if (answer.status !== 200 || !operation.answers.test(body) || body.includes('"errors"'))
    throw new Error(`${subject.name} does not answer ${operation.name}: ${answer.status} ${body.slice(0, 500)}`)
  return body
}

const must = (subject: Subject, operation: Operation, sample: Sample): Sample => {
  if (sample.failed === 0 && sample.answered > 0) return sample
  throw new Error(`${subject.name} failed ${sample.failed} of ${sample.answered} requests of ${operation.name}`)
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
  readonly subject: Subject
  readonly series: Record<FigureName, number[]>
  readonly saturated: () => Promise<void>
  readonly steady: () => Promise<void>
}

const createRunner = (
  subject: Subject,
  operation: Operation,
  size: BlogSize,
  effort: Effort,
  database: number,
): Runner => {
  const { perSecond } = effort
  const series = emptySeries()
  const processes = { server: subject.server.pid, database }
  const load = loadFor(subject, operation, size, effort)
  return {
    subject,
    series,
    saturated: async () => {
      const { value, cpu } = await withCpu(processes, () => saturate(load))
      const { answered, ms, latencies } = must(subject, operation, value)
      series.perSecond.push((answered / ms) * 1_000)
      series.serverCpu.push(cpu.server / answered)
      series.databaseCpu.push(cpu.database / answered)
      series.p50.push(quantile(latencies, 0.5))
      series.p99.push(quantile(latencies, 0.99))
    },
    steady: async () => {
      const { value, cpu } = await withCpu(processes, () => arrive({ ...load, connections: 64, perSecond }))
      const { answered, latencies } = must(subject, operation, value)
      series.steadyServerCpu.push(cpu.server / answered)
      series.steadyP50.push(quantile(latencies, 0.5))
      series.steadyP99.push(quantile(latencies, 0.99))
    },
  }
}

const warmUpSlices = 15

/** Loads a server until it answered so many requests, though not for long. */
export const warmUp = async (load: Load, requests: number): Promise<void> => {
  let answered = 0
  for (let slice = 0; slice < warmUpSlices && answered < requests; slice += 1)
    answered += (await saturate({ ...load, ms: 500 })).answered
}

/** Each by turns, the order reversed every other round. */
const byTurns = async (runners: readonly Runner[], rounds: number, slice: 'saturated' | 'steady'): Promise<void> => {
  for (let round = 0; round < rounds; round += 1)
    for (const runner of round % 2 === 0 ? runners : [...runners].reverse()) await runner[slice]()
}

/** Measures one operation on all subjects. `database` is the process that all backends descend from. */
export const measure = async (
  subjects: readonly Subject[],
  operation: Operation,
  size: BlogSize,
  effort: Effort,
  database: number,
): Promise<readonly Measured[]> => {
  for (const subject of subjects) await warmUp(loadFor(subject, operation, size, effort), effort.warmUp)
  const runners = subjects.map((subject) => createRunner(subject, operation, size, effort, database))
  await byTurns(runners, effort.rounds, 'saturated')
  if (effort.perSecond > 0) await byTurns(runners, effort.rounds, 'steady')
  return runners.map(({ subject, series }) => ({ operation: operation.name, subject: subject.name, series }))
}
