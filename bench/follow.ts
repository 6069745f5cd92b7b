import { createTables, schemaChanges } from './follow/tables.ts'
import { measureFollowing, type Followed } from './follow/measure.ts'
import { followFigures, followRows, heapRows } from './follow/report.ts'
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
 * warm one.
 *
 * --tables 20,500,2000 --rounds 12 --changes 40 (1000 takes minutes) --pg 18 --json FILE
 */
const options = readOptions()
const sizes = options.numbers('tables', [20, 500, 2_000])
const effort = { rounds: options.number('rounds', 12), changes: options.number('changes', 40) }
const major = options.number('pg', 18) === 15 ? 15 : 18

await withCleanup(async (later) => {
  const postgres = await startPostgres(major)
  later(postgres.stop)
  const measured: Followed[] = []
  for (const tables of sizes) {
    const db = await createDatabase({ major, prepare: true })
    await createTables(db, tables)
    measured.push(await measureFollowing(db, tables, schemaChanges, effort, postgres.pid))
    await db.drop()
  }
  printTable(`Following, PostgreSQL ${major}, medians of ${effort.rounds} changes`, followRows(measured))
  printTable(`Heap over ${effort.changes} changes`, heapRows(measured))
  await writeRecord({ bench: 'follow', figures: followFigures(measured) }, options.text('json'))
})
