import { setTimeout as pause } from 'node:timers/promises'
import { withCpu } from '../support/cpu.ts'
import { openConnection } from '../support/http-client.ts'
import { arrive } from '../support/load.ts'
import { figure, median } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'
import type { Stage } from './stage.ts'
import { createLateness, openStream, openStreams, p50, p99, valueIn, type Lateness } from './streams.ts'
import { openWriter, writeOn, type Writer } from './writer.ts'

/**
 * Commits at a steady pace, each of a board that ten callers look at: alone, watched by streams, and asked every second, by
 * turns. Every caller has claims of their own, so that no two share a run. Beside them others ask honest queries.
 */
const ways = ['alone', 'streams', 'polling'] as const
type Way = (typeof ways)[number]

interface Sample {
  readonly lateness: readonly number[]
  readonly fromSending: readonly number[]
  readonly honest: readonly number[]
  /** Milliseconds a second, of service and Postgres. */
  readonly cpu: number
}

export interface Pace {
  readonly callers: number
  readonly callersOfBoard: number
  readonly perSecond: number
  readonly seconds: number
  readonly rounds: number
  /** Honest queries per second. */
  readonly honest: number
}

/** The wait for answers after the last commit. */
const graceMs = 1_500

type Look = (stage: Stage, pace: Pace, lateness: Lateness) => Promise<{ readonly close: () => void }>

const boardOf = ({ callersOfBoard }: Pace, number: number): number => 1 + Math.floor(number / callersOfBoard)

const watch: Look = (stage, pace, lateness) =>
  openStreams(pace.callers, async (number) => {
    const request = await stage.request(boardOf(pace, number), `watcher ${number}`, 'stream')
    return openStream(stage.port, request, lateness.heard)
  })

/** Each caller asks once a second, at a random phase. */
const poll: Look = async (stage, pace, lateness) => {
  let isOver = false
  const ask = async (number: number): Promise<void> => {
    const request = await stage.request(boardOf(pace, number), `watcher ${number}`, 'query')
    const connection = await openConnection(stage.port)
    let last = -1
    for (let due = performance.now() + Math.random() * 1_000; !isOver; due += 1_000) {
      await pause(Math.max(0, due - performance.now()))
      if (isOver) break
      const { body } = await connection.send(request)
      const value = valueIn(body.toString('latin1')) ?? 0
      if (value !== last && last !== -1) lateness.heard(value)
      last = value
    }
    connection.close()
  }
  const all = Array.from({ length: pace.callers }, (_, number) => ask(number))
  const ended = Promise.all(all)
  await Promise.race([ended, pause(1_500)])
  return { close: () => void (isOver = true) }
}

const looks: Readonly<Record<Way, Look | null>> = { alone: null, streams: watch, polling: poll }

const measure = async (stage: Stage, writer: Writer, way: Way, pace: Pace): Promise<Sample> => {
  const lateness = createLateness()
  const look = await looks[way]?.(stage, pace, lateness)
  const ms = pace.seconds * 1_000
  const boards = Math.ceil(pace.callers / pace.callersOfBoard)
  const { value: honest, cpu } = await withCpu(stage.pids, async () => {
    const [sample] = await Promise.all([
      arrive({ port: stage.port, connections: 8, ms, next: stage.honest, perSecond: pace.honest }),
      writeOn(writer, lateness, { ms, perSecond: pace.perSecond, boards }),
    ])
    return sample
  })
  if (look !== undefined) await pause(graceMs)
  look?.close()
  if (honest.failed > 0) throw new Error(`${honest.failed} honest queries were not answered`)
  const { fromCommit, fromSending } = lateness.found()
  const used = (cpu.service + cpu.postgres) / 1_000 / pace.seconds
  return { lateness: fromCommit, fromSending, honest: honest.latencies, cpu: used }
}

export interface PacedFindings {
  readonly rows: readonly Row[]
  readonly figures: Readonly<Record<string, number | readonly number[]>>
}

export const measurePaced = async (stage: Stage, pace: Pace): Promise<PacedFindings> => {
  const samples: Record<Way, Sample[]> = { alone: [], streams: [], polling: [] }
  const writer = await openWriter(stage)
  for (let round = 0; round < pace.rounds; round += 1)
    for (let turn = 0; turn < ways.length; turn += 1) {
      const way = ways[(turn + round) % ways.length] ?? 'alone'
      samples[way].push(await measure(stage, writer, way, pace))
    }
  await writer.end()
  const honestOf = (way: Way): readonly number[] => samples[way].map(({ honest }) => p99(honest))
  const cpuOf = (way: Way): number => median(samples[way].map(({ cpu }) => cpu))
  const rows = ways.map((way): Row => {
    const late = samples[way].flatMap(({ lateness }) => lateness)
    const sent = samples[way].flatMap(({ fromSending }) => fromSending)
    const ratios = honestOf(way).map((value, round) => value / (honestOf('alone')[round] ?? Number.NaN))
    return {
      callers: way,
      answers: late.length,
      'from commit, p50 ms': figure(p50(late)),
      'p99 ms': figure(p99(late)),
      'from sending, p50 ms': figure(p50(sent)),
      p99: figure(p99(sent)),
      'CPU, ms a second': figure(cpuOf(way)),
      'honest p99, ms': figure(median(honestOf(way))),
      'to alone': figure(median(ratios)),
    }
  })
  const late = (way: Way): readonly number[] => samples[way].flatMap(({ lateness }) => lateness)
  return {
    rows,
    figures: {
      'live.streams.p50': p50(late('streams')),
      'live.streams.p99': p99(late('streams')),
      'live.polling.p50': p50(late('polling')),
      'live.streams.cpu': samples.streams.map(({ cpu }) => cpu),
      'live.polling.cpu': samples.polling.map(({ cpu }) => cpu),
      'live.streams.honest99': honestOf('streams'),
      'live.alone.honest99': honestOf('alone'),
    },
  }
}
