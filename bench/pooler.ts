import { startPgbouncer, pgbouncers, type PgbouncerProgram } from '../test/support/pgbouncer.ts'
import { blogSize, createBlog } from './blog/data.ts'
import { operations } from './blog/operations.ts'
import { checkAnswer, effortOf, measure, type Measured } from './serve/measure.ts'
import { serveFigures, serveRows } from './serve/report.ts'
import { createAccess, startProduct, type Subject } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { printTable } from './support/table.ts'

/**
 * The cost of a pooler for server and database, whose own CPU is not counted: through PgBouncer that keeps prepared statements
 * against a direct connection, and through one that keeps none against a direct connection without names. `settings`: each
 * transaction sets them itself, although nothing stands between.
 *
 * --seconds 0.25 (of a slice) --rounds 16 --warm-up 20000 --connections 8 --scale 0.3 --only key,page --json FILE
 */
const options = readOptions()
const only = options.text('only')?.split(',')
const chosen = operations.filter(({ name }) => only?.includes(name) ?? name !== 'insert')
const size = blogSize(options.number('scale', 0.3))
const effort = {
  ...effortOf(options),
  rounds: options.number('rounds', 16),
  connections: options.number('connections', 8),
  perSecond: 0,
}

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const db = await createBlog(18, size)
  later(db.drop)
  const access = await createAccess()
  const start = async (name: string, DATABASE_POOLER: string, port = postgres.port): Promise<Subject> => {
    const url = new URL(db.url)
    url.port = String(port)
    const subject = await startProduct(db, access, { name, env: { DATABASE_URL: url.href, DATABASE_POOLER } })
    later(subject.server.stop)
    return subject
  }
  const through = async ({ path: program, version, keepsStatements }: PgbouncerProgram): Promise<Subject> => {
    const lines = ['default_pool_size = 20', ...(keepsStatements ? ['max_prepared_statements = 200'] : [])]
    const pooler = await startPgbouncer({ program, serverPort: postgres.port, lines })
    later(pooler.close)
    return start(`PgBouncer ${version}`, 'auto', pooler.port)
  }
  const poolers = pgbouncers()
  const compared = async (
    keepsStatements: boolean,
    baseline: Subject,
    ...others: readonly Subject[]
  ): Promise<void> => {
    const found = poolers.filter((pooler) => pooler.keepsStatements === keepsStatements)
    const subjects = [baseline, ...others, ...(await Promise.all(found.map(through)))]
    const measured: Measured[] = []
    for (const operation of chosen) {
      for (const subject of subjects) await checkAnswer(subject, operation, size)
      measured.push(...(await measure(subjects, operation, size, effort, postgres.pid)))
    }
    printTable(`Through poolers, medians of ${effort.rounds} rounds`, serveRows(measured, baseline.name))
    const suffix = options.text('json')
    await writeRecord(
      { bench: 'pooler', figures: serveFigures(measured) },
      suffix === null ? null : `${suffix}.${baseline.name}`,
    )
  }
  await compared(true, await start('direct', 'none'), await start('direct, settings', 'statements'))
  await compared(false, await start('unnamed, settings', 'no-statements'))
})
