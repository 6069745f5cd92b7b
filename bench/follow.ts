import { createTables, schemaChanges } from './follow/tables.ts'
import { measureBeside, type BesideReads } from './follow/beside.ts'
import { measureFollowing, type Followed } from './follow/measure.ts'
import { besideFigures, besideRows, followFigures, followRows, heapRows } from './follow/report.ts'
import { createDatabase } from '../test/support/database.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { printTable } from './support/table.ts'

/**
 * Following the schema: the duration of a full compile, and of the first request after a change beside the same request
 * warm, for schemas of growing size; then the heap after garbage collection, before and after many changes. Requests
 * take the whole path except HTTP. CPU is that of this process and of Postgres, for a change, its first request and a
 * warm one. Last, reads of a table beside alters of others.
 *
 * --tables 20,500,2000 --rounds 12 (0: only the last) --changes 40 (1000 takes minutes) --seconds 20 --reads 50 --alters 10
 * --pg 18 --json FILE
 */
const options = readOptions()
const sizes = options.numbers('tables', [20, 500, 2_000])
const effort = { rounds: options.number('rounds', 12), changes: options.number('changes', 40) }
const load = {
  seconds: options.number('seconds', 20),
  readsPerSecond: options.number('reads', 50),
  changesPerSecond: options.number('alters', 10),
}
const major = options.number('pg', 18) === 15 ? 15 : 18

await withCleanup(async (later) => {
  const postgres = await startPostgres(major)
  later(postgres.stop)
  const measured: Followed[] = []
  const beside: BesideReads[] = []
  for (const tables of sizes) {
    const db = await createDatabase({ major, prepare: true })
    await createTables(db, tables)
    if (effort.rounds > 0) measured.push(await measureFollowing(db, tables, schemaChanges, effort, postgres.pid))
    beside.push(await measureBeside(db, tables, load))
    await db.drop()
  }
  if (measured.length > 0) {
    printTable(`Following, PostgreSQL ${major}, medians of ${effort.rounds} changes`, followRows(measured))
    printTable(`Heap over ${effort.changes} changes`, heapRows(measured))
  }
  printTable(`Reads of an untouched table beside ${load.changesPerSecond} alters a second`, besideRows(beside))
  const figures = { ...followFigures(measured), ...besideFigures(beside) }
  await writeRecord({ bench: 'follow', figures }, options.text('json'))
})
