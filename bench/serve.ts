import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blogSize, createBlog } from './blog/data.ts'
import { operations, persisted } from './blog/operations.ts'
import { checkAnswer, effortOf, measure, type Measured } from './serve/measure.ts'
import { serveFigures, serveRows } from './serve/report.ts'
import { createAccess, startCompiledOnly, startLimit, startPeer, startProduct, type Subject } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { printTable } from './support/table.ts'

/**
 * Serving: one row by key, a filtered and ordered page of 30, three levels of nesting, an insert that returns, a page
 * of 1,000, and the first once more by the hash of its document (`persisted`), against the hand-written limit, with
 * --compiled by a server of compiled documents as well, and with --peer against PostGraphile 5. Throughput comes from a closed loop of 16 connections, latency from random arrivals at
 * a fixed rate. Server, Postgres and the load generator share the machine.
 *
 * --seconds 0.25 (of a slice) --rounds 20 --rate 200 --warm-up 20000 --connections 16 --scale 1 --only key,page --pg 18
 * --compiled --peer --json FILE
 */
const options = readOptions()
const only = options.text('only')?.split(',')
const chosen = [...operations, persisted].filter(({ name }) => only?.includes(name) ?? true)
const major = options.number('pg', 18) === 15 ? 15 : 18
const size = blogSize(options.number('scale', 1))
const effort = effortOf(options)

await withCleanup(async (later) => {
  const postgres = await startPostgres(major)
  later(postgres.stop)
  const db = await createBlog(major, size)
  later(db.drop)
  const access = await createAccess()
  const subjects: Subject[] = []
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-serve-'))
  later(() => rm(folder, { recursive: true, force: true }))
  const others = [
    ...(options.flag('compiled') ? [startCompiledOnly(folder)] : []),
    ...(options.flag('peer') ? [startPeer] : []),
  ]
  for (const start of [startLimit, startProduct, ...others]) {
    const subject = await start(db, access)
    later(subject.server.stop)
    subjects.push(subject)
  }
  for (const operation of chosen) for (const subject of subjects) await checkAnswer(subject, operation, size)
  const measured: Measured[] = []
  for (const operation of chosen) measured.push(...(await measure(subjects, operation, size, effort, postgres.pid)))
  const shown = await db.query('show server_version')
  const version = String((shown.rows[0] as { readonly server_version: string }).server_version)
  printTable(`Serving, PostgreSQL ${version}, medians of ${effort.rounds} rounds`, serveRows(measured, 'limit'))
  await writeRecord(
    { bench: 'serve', figures: serveFigures(measured), versions: { postgres: version } },
    options.text('json'),
  )
})
