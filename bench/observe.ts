import { join } from 'node:path'
import { blogSize, createBlog } from './blog/data.ts'
import { operations } from './blog/operations.ts'
import { observeRows } from './observe/report.ts'
import { checkAnswer, effortOf, measure, type Measured } from './serve/measure.ts'
import { serveFigures } from './serve/report.ts'
import { createAccess, startProduct, type Subject } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { projectFolder, writeRecord } from './support/record.ts'
import { printTable } from './support/table.ts'

/**
 * What being watched costs: CPU per request of servers that differ in METRICS and TRACING alone, slice by slice by turns,
 * as ratios to one with both off. A second one with both off shows what the measurement itself can tell apart.
 *
 * npm run bench:observe -- --rounds 60 --seconds 0.25 --warm-up 20000 --scale 0.3 --only key,page --json FILE
 */
const options = readOptions()
const only = options.text('only')?.split(',') ?? ['key', 'page']
const chosen = operations.filter(({ name }) => only.includes(name))
const size = blogSize(options.number('scale', 0.3))
const effort = { ...effortOf(options), rounds: options.number('rounds', 60), perSecond: 0 }

const sdk = ['--import', join(projectFolder, 'bench/dist/bench/observe/tracing.js')]
const watched = [
  { name: 'off' },
  { name: 'off again' },
  { name: 'metrics', env: { METRICS: 'on' } },
  { name: 'tracing', env: { TRACING: 'on' }, nodeOptions: sdk },
  { name: 'both', env: { METRICS: 'on', TRACING: 'on' }, nodeOptions: sdk },
] as const

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const db = await createBlog(18, size)
  later(db.drop)
  const access = await createAccess()
  const subjects: Subject[] = []
  for (const one of watched) {
    const subject = await startProduct(db, access, one)
    later(subject.server.stop)
    subjects.push(subject)
  }
  const measured: Measured[] = []
  for (const operation of chosen) {
    for (const subject of subjects) await checkAnswer(subject, operation, size)
    measured.push(...(await measure(subjects, operation, size, effort, postgres.pid)))
  }
  printTable(`Watched, medians of ${effort.rounds} rounds and where they lie`, observeRows(measured, 'off'))
  await writeRecord({ bench: 'observe', figures: serveFigures(measured) }, options.text('json'))
})
