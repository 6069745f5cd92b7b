import { measureBursts } from './live/bursts.ts'
import { measureIdle } from './live/idle.ts'
import { measurePaced } from './live/paced.ts'
import { openStage } from './live/stage.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { writeRecord } from './support/record.ts'
import { printTable } from './support/table.ts'

/**
 * Cost and latency of streams, on the built service with Server-Sent Events: idle ones, ones that are answered
 * at a steady pace beside polling every second and beside honest queries, and bursts on one board that all watch.
 *
 * --idle 10000 --rest 10 (seconds) --callers 1000 --commits 100 (a second) --seconds 5 --rounds 5 --honest 50 (a second)
 * --bursts 20 --pg 18 --json FILE
 */
const options = readOptions()
const callers = options.number('callers', 1_000)

await withCleanup(async (later) => {
  const stage = await openStage(options.number('pg', 18) === 15 ? 15 : 18)
  later(stage.close)
  const idle = await measureIdle(stage, options.number('idle', 10_000), options.number('rest', 10))
  printTable('Idle streams, each of a query of its own', idle.rows)
  const bursts = await measureBursts(stage, { streams: callers, bursts: options.number('bursts', 20), commits: 100 })
  printTable(`Bursts on what ${callers} streams watch`, bursts.rows)
  const perSecond = options.number('commits', 100)
  const paced = await measurePaced(stage, {
    callers,
    callersOfBoard: 10,
    perSecond,
    seconds: options.number('seconds', 5),
    rounds: options.number('rounds', 5),
    honest: options.number('honest', 50),
  })
  printTable(`${callers} callers, ${perSecond} commits a second that concern 10 of them each`, paced.rows)
  const figures = { ...idle.figures, ...bursts.figures, ...paced.figures }
  await writeRecord({ bench: 'live-streams', figures }, options.text('json'))
})
