import { setTimeout as pause } from 'node:timers/promises'
import { figure, median } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'
import type { Stage } from './stage.ts'
import { createLateness, openStream, openStreams } from './streams.ts'
import { openWriter } from './writer.ts'

export interface Bursts {
  readonly streams: number
  readonly bursts: number
  readonly commits: number
}

/** The maximum wait for the last commit. */
const patienceMs = 10_000

/**
 * Bursts of commits to a board that all streams watch with one document and the same privileges: the number of runs of
 * each.
 */
export const measureBursts = async (
  stage: Stage,
  { streams: count, bursts, commits }: Bursts,
): Promise<{ readonly rows: readonly Row[]; readonly figures: Readonly<Record<string, readonly number[]>> }> => {
  const writers = await Promise.all(Array.from({ length: 4 }, () => openWriter(stage)))
  const newest = Array.from({ length: count }, () => -1)
  const streams = await openStreams(count, async (number) =>
    openStream(stage.port, await stage.request(7, 'owner', 'stream'), (value) => void (newest[number] = value)),
  )
  const lateness = createLateness()
  const [runs, took, ms]: [number[], number[], number[]] = [[], [], []]
  for (let burst = 0; burst < bursts; burst += 1) {
    await pause(300)
    const before = await stage.runs()
    const began = performance.now()
    // One board, whose row lock serializes the writers.
    const write = async (writer: (typeof writers)[number]): Promise<void> => {
      for (let commit = 0; commit < commits / writers.length; commit += 1) await writer.write(7, lateness)
    }
    await Promise.all(writers.map(write))
    const ended = performance.now()
    const { rows } = await stage.db.query('select value::int as value from boards where id = 7')
    const { value } = rows[0] as { readonly value: number }
    const until = performance.now() + patienceMs
    while (newest.some((one) => one !== value)) {
      if (performance.now() > until) throw new Error('a stream did not hear the last commit')
      await pause(1)
    }
    took.push(ended - began)
    ms.push(performance.now() - ended)
    runs.push((await stage.runs()) - before)
  }
  streams.close()
  await Promise.all(writers.map((writer) => writer.end()))
  return {
    rows: [
      {
        bursts,
        'commits in each': commits,
        'within ms': figure(median(took)),
        'runs of each': figure(median(runs)),
        'at most': Math.max(...runs),
        [`until all ${count} had the last one, ms`]: figure(median(ms)),
      },
    ],
    figures: { 'live.burst.runs': runs, 'live.burst.ms': ms },
  }
}
