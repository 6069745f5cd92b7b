import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createAccess, startProduct } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { cpuTime, descendantsOf, residentMb } from './support/cpu.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { projectFolder, writeRecord, type RunRecord } from './support/record.ts'
import { figure } from './support/statistics.ts'
import { createTables } from './support/tables.ts'
import { printTable, type Row } from './support/table.ts'

/**
 * Starting: from the command to the first answer, by a server that compiles and by one that is given artifacts, and
 * what each of them then holds; of schemas of more and more tables. With --workers also by so many workers for which one more
 * process compiles: what that holds, and the largest of them. CPU tells more than the clock on a busy machine.
 *
 * --tables 20,500,2000 --workers 2 --json FILE
 */
const options = readOptions()
const sizes = options.numbers('tables', [20, 500, 2_000])
const workers = options.number('workers', 0)

/** The largest of the processes that serve for another one; null: it serves by itself. */
const largestWorker = async (pid: number): Promise<number | null> => {
  const serving = (await descendantsOf(pid)).filter(({ command }) => !command.includes('parser-process'))
  const held = await Promise.all(serving.map((worker) => residentMb(worker.pid)))
  return held.length === 0 ? null : Math.max(...held)
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
    const artifacts = join(folder, String(tables))
    const env = { PATH: process.env['PATH'], DATABASE_URL: db.url, DATABASE_OWNER_URL: db.adminUrl }
    const compile = [join(projectFolder, 'dist/compiler/cli.js'), 'compile', '--out', artifacts]
    await promisify(execFile)(process.execPath, compile, { env })
    for (const [name, args] of [
      ['compile', []],
      ['artifacts', ['--artifacts', artifacts]],
      ...(workers > 0 ? [['workers', ['--workers', String(workers)]] as const] : []),
    ] as const) {
      const started = performance.now()
      const { server } = await startProduct(db, access, { args })
      const ms = performance.now() - started
      const [cpu, resident] = [(await cpuTime(server.pid)) / 1_000, await residentMb(server.pid)]
      const worker = await largestWorker(server.pid)
      await server.stop()
      rows.push({
        tables,
        from: name,
        'ready ms': figure(ms),
        'CPU ms': figure(cpu),
        'resident MB': figure(resident),
        'a worker MB': worker === null ? '' : figure(worker),
      })
      figures[`start.${tables}.${name}.ms`] = ms
      figures[`start.${tables}.${name}.cpuMs`] = cpu
      figures[`start.${tables}.${name}.residentMb`] = resident
      if (worker !== null) figures[`start.${tables}.${name}.workerMb`] = worker
    }
    await db.drop()
  }
  printTable('Starting', rows)
  await writeRecord({ bench: 'start', figures }, options.text('json'))
})
