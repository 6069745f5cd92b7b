import { setTimeout as pause } from 'node:timers/promises'
import { residentMb, withCpu } from '../support/cpu.ts'
import { figure } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'
import { boards, type Stage } from './stage.ts'
import { openStream, openStreams } from './streams.ts'

/** An idle backend reports its statistics up to ten seconds later (PostgreSQL source, pgstat.c). */
const settleMs = 12_000

/** The limit of a caller. */
const streamsOfCaller = 100

export interface IdleFindings {
  readonly rows: readonly Row[]
  readonly figures: Readonly<Record<string, number>>
}

/** The cost of idle streams, each with its own query; before them the same time without any. */
export const measureIdle = async (stage: Stage, count: number, seconds: number): Promise<IdleFindings> => {
  const rest = async () => {
    const [runs, transactions] = [await stage.runs(), await stage.transactions()]
    const { cpu } = await withCpu(stage.pids, () => pause(seconds * 1_000))
    return {
      runs: ((await stage.runs()) - runs) / seconds,
      transactions: ((await stage.transactions()) - transactions) / seconds,
      cpu: (cpu.service + cpu.postgres) / 1_000 / seconds,
    }
  }
  await pause(settleMs)
  const without = { ...(await rest()), mb: residentMb(stage.pids.service) }
  const streams = await openStreams(count, async (number) => {
    const request = await stage.request(
      1 + (number % boards),
      `caller ${Math.floor(number / streamsOfCaller)}`,
      'stream',
    )
    return openStream(stage.port, request, () => undefined)
  })
  await pause(settleMs)
  const withThem = { ...(await rest()), mb: residentMb(stage.pids.service) }
  streams.close()
  const rowOf = (name: string, { runs, transactions, cpu, mb }: typeof without): Row => ({
    streams: name,
    'runs a second': figure(runs),
    'transactions a second': figure(transactions),
    'CPU, ms a second': figure(cpu),
    'resident MB': figure(mb),
  })
  return {
    rows: [rowOf('none', without), rowOf(String(count), withThem)],
    figures: {
      'live.idle.runs': withThem.runs,
      'live.idle.transactions': withThem.transactions - without.transactions,
      'live.idle.mb': withThem.mb,
      'live.idle.kbOfStream': ((withThem.mb - without.mb) * 1_024) / count,
    },
  }
}
