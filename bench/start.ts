import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestDatabase } from '../test/support/database.ts'
import { createAccess, readyDocument, startProduct, type Access } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { cpuTime, descendantsOf, residentMb } from './support/cpu.ts'
import { applicationOf, compileApplication } from './support/documents.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord, type RunRecord } from './support/record.ts'
import { ratios, spreadOf, spreadText } from './support/statistics.ts'
import { createTables } from './support/tables.ts'
import { printTable, type Row } from './support/table.ts'

/**
 * Starting: from the command to the first answer, by a server that compiles, by one that is given artifacts, and by one that
 * answers compiled documents only, and what each of them then holds; of schemas of more and more tables. With --workers also by
 * so many workers for which one more process compiles: what that holds, and the largest of them. CPU is more precise than the clock
 * on a busy machine.
 *
 * --tables 20,500,2000 --documents 1000 --runs 3 --workers 2 --json FILE
 */
const options = readOptions()
const sizes = options.numbers('tables', [20, 500, 2_000])
const documents = options.number('documents', 1_000)
const runs = options.number('runs', 3)
const workers = options.number('workers', 0)

/** The largest of the worker processes; null: the process serves itself. */
const largestWorker = (pid: number): number | null => {
  const serving = descendantsOf(pid).filter(({ command }) => !command.includes('parser-process'))
  const held = serving.map((worker) => residentMb(worker.pid))
  return held.length === 0 ? null : Math.max(...held)
}

interface Start {
  readonly ms: number
  readonly cpuMs: number
  readonly residentMb: number
  readonly workerMb: number | null
}

const columns = [
  ['ready ms', 'ms'],
  ['CPU ms', 'cpuMs'],
  ['resident MB', 'residentMb'],
  ['a worker MB', 'workerMb'],
] as const satisfies readonly (readonly [string, keyof Start])[]

/** On a busy machine: the duration of a start is the measured value. */
const patienceFor = (tables: number): number => 30_000 + 30 * tables

const start = async (db: TestDatabase, access: Access, args: readonly string[], patienceMs: number): Promise<Start> => {
  const started = performance.now()
  const { server } = await startProduct(db, access, { args, patienceMs })
  const ms = performance.now() - started
  const [cpu, resident] = [cpuTime(server.pid), residentMb(server.pid)]
  const workerMb = largestWorker(server.pid)
  await server.stop()
  return { ms, cpuMs: cpu / 1_000, residentMb: resident, workerMb }
}

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const access = await createAccess()
  const folder = await mkdtemp(join(tmpdir(), 'catalograph-start-'))
  later(() => rm(folder, { recursive: true, force: true }))
  const rows: Row[] = []
  const figures: Record<string, RunRecord['figures'][string]> = {}
  for (const tables of sizes) {
    const db = await createTables(18, tables)
    const texts = [...applicationOf(documents, tables), readyDocument]
    const artifacts = await compileApplication(db, join(folder, String(tables)), texts)
    const servers = [
      ['artifacts', ['--artifacts', artifacts]],
      ['only compiled', ['--artifacts', artifacts, '--only-compiled']],
      ['compile', []],
      ...(workers > 0 ? [['workers', ['--workers', String(workers)]] as const] : []),
    ] as const
    const starts = servers.map((): Start[] => [])
    // Alternately: a machine that slows down slows all of them.
    for (let run = 0; run < runs; run += 1)
      for (const [at, [, args]] of servers.entries())
        starts[at]?.push(await start(db, access, args, patienceFor(tables)))
    for (const [at, [name]] of servers.entries()) {
      const [given = [], own = []] = [starts[0], starts[at]]
      const row: Record<string, string | number> = { tables, from: name }
      for (const [column, key] of columns) {
        const values = own.map((one) => one[key]).filter((value) => value !== null)
        row[column] = values.length === 0 ? '' : spreadText(spreadOf(values))
        if (values.length > 0) figures[`start.${tables}.${name}.${key}`] = values
      }
      for (const [column, key] of [...columns].slice(0, 3))
        row[`${column} × artifacts`] = spreadText(
          ratios(
            own.map((one) => one[key] ?? NaN),
            given.map((one) => one[key] ?? NaN),
          ),
        )
      rows.push(row)
    }
    await db.drop()
  }
  printTable('Starting', rows)
  await writeRecord({ bench: 'start', figures }, options.text('json'))
})
