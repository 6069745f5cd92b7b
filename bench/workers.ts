import { blogSize, createBlog } from './blog/data.ts'
import { effortOf, measure, type Measured } from './serve/measure.ts'
import { serveFigures } from './serve/report.ts'
import { createAccess, operationNamed, startProduct } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { residentMb } from './support/cpu.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { figure, median, ratios, spreadText } from './support/statistics.ts'
import { printTable, type Row } from './support/table.ts'

/**
 * Several workers against one process: what a request costs their processes together, the primary's share included, which
 * is the throughput of a CPU second where the database is elsewhere.
 *
 * --workers 2 --seconds 0.25 --rounds 20 --connections 16 --scale 0.3 --only key,nested --json FILE
 */
const options = readOptions()
const workers = String(options.number('workers', 2))
const names = (options.text('only') ?? 'key,nested,insert').split(',')
const size = blogSize(options.number('scale', 0.3))
const effort = { ...effortOf(options), perSecond: 0 }
const alone = 'one process'

const rowsOf = (measured: readonly Measured[]): readonly Row[] =>
  measured.map(({ operation, subject, series }) => {
    const base = measured.find((one) => one.operation === operation && one.subject === alone)
    const against = (name: 'serverCpu' | 'perSecond'): string =>
      subject === alone || base === undefined ? '1' : spreadText(ratios(series[name], base.series[name]))
    return {
      operation,
      subject,
      'CPU µs of the server': figure(median(series.serverCpu)),
      [`CPU × ${alone}`]: against('serverCpu'),
      [`req/s × ${alone}`]: against('perSecond'),
    }
  })

await withCleanup(async (later) => {
  const postgres = await startPostgres(18)
  later(postgres.stop)
  const db = await createBlog(18, size)
  later(db.drop)
  const access = await createAccess()
  const one = await startProduct(db, access, { name: alone })
  later(one.server.stop)
  const many = await startProduct(db, access, { name: `${workers} workers`, args: ['--workers', workers] })
  later(many.server.stop)
  const measured: Measured[] = []
  for (const name of names)
    measured.push(...(await measure([one, many], operationNamed(name), size, effort, postgres.pid)))
  printTable(`Workers, medians of ${effort.rounds} rounds`, rowsOf(measured))
  console.log(`The primary holds ${figure(await residentMb(many.server.pid))} MB.`)
  await writeRecord({ bench: 'workers', figures: serveFigures(measured) }, options.text('json'))
})
