import { blogSize, createBlog } from './blog/data.ts'
import { operations } from './blog/operations.ts'
import { joined, observeRows } from './observe/report.ts'
import { startTogether, type Watched } from './observe/together.ts'
import { checkAnswer, effortOf, measure, type Measured } from './serve/measure.ts'
import { serveFigures } from './serve/report.ts'
import { createAccess } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { printTable } from './support/table.ts'

/**
 * The cost of observation: CPU per request of servers that differ in METRICS and TRACING alone and share one process, slice by
 * slice by turns, as ratios to one with both off. A second one with both off shows the noise of the measurement.
 * Several processes one after the other, in each of which another server begins. One-time costs of the process,
 * such as the collectors of prom-client, none of them pays more than another. Of the requests one in fifty is traced, so
 * that V8 compiles that code late: the warm-up is long.
 *
 * npm run bench:observe -- --processes 4 --rounds 30 --seconds 0.25 --warm-up 50000 --scale 0.3 --only key,page --json FILE
 */
const options = readOptions()
const only = options.text('only')?.split(',') ?? ['key', 'page']
const chosen = operations.filter(({ name }) => only.includes(name))
const size = blogSize(options.number('scale', 0.3))
const processes = options.number('processes', 4)
const effort = {
  ...effortOf(options),
  rounds: options.number('rounds', 30),
  warmUp: options.number('warm-up', 50_000),
  perSecond: 0,
}

const watched: readonly Watched[] = [
  { name: 'off', settings: {} },
  { name: 'off again', settings: {} },
  { name: 'metrics', settings: { METRICS: 'on' } },
  { name: 'tracing', settings: { TRACING: '0.02' } },
  { name: 'both', settings: { METRICS: 'on', TRACING: '0.02' } },
]

const beginningWith = (first: number): readonly Watched[] => [...watched.slice(first), ...watched.slice(0, first)]

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const db = await createBlog(18, size)
  later(db.drop)
  const access = await createAccess()
  const measured: Measured[] = []
  for (let process = 0; process < processes; process += 1) {
    const { subjects, stop } = await startTogether(db, access, beginningWith(process % watched.length))
    try {
      for (const operation of chosen) {
        for (const subject of subjects) await checkAnswer(subject, operation, size)
        measured.push(...(await measure(subjects, operation, size, effort, postgres.pid)))
      }
    } finally {
      await stop()
    }
  }
  const all = joined(measured)
  const rounds = processes * effort.rounds
  printTable(`Watched, medians of ${rounds} rounds and where they lie`, observeRows(all, 'off'))
  await writeRecord({ bench: 'observe', figures: serveFigures(all) }, options.text('json'))
})
