import { blogSize, createBlog } from './blog/data.ts'
import type { Operation } from './blog/operations.ts'
import { effortOf, loadFor, measureByTurns, type FigureName, type Loaded, type Measured } from './serve/measure.ts'
import { serveFigures } from './serve/report.ts'
import { createAccess, operationNamed, startProduct, type Subject } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import { residentMb } from './support/cpu.ts'
import { openConnections } from './support/load.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { figure, median, medianWithin } from './support/statistics.ts'
import { printTable, type Row } from './support/table.ts'

/**
 * The cost of a request for the processes of a service with several workers, the primary's share included: the throughput of
 * a CPU second where the database is elsewhere. Each process has as many connections, to clients and to the database, and as many
 * requests to answer, however many there are: `one process` alone, so many `processes` that know nothing of each other, and so
 * many `workers`. Processes against one show what the machine adds that they share with Postgres and the load, workers against
 * processes what being workers adds.
 *
 * --workers 2 --seconds 0.25 --rounds 20 --connections 16 --rate 200 (both of each process) --scale 0.3 --only key,nested --json FILE
 */
const options = readOptions()
const workers = options.number('workers', 2)
const names = (options.text('only') ?? 'key,nested,insert').split(',')
const size = blogSize(options.number('scale', 0.3))
const effort = effortOf(options)
const pool = 8

/** Processes that serve together: each is one server, workers are one server with several. */
interface Side {
  readonly name: string
  readonly servers: readonly Subject[]
  /** How many processes answer requests. */
  readonly serving: number
}

const loadOf = async (
  { name, servers, serving }: Side,
  operation: Operation,
  database: number,
): Promise<Loaded & { readonly close: () => void }> => {
  const each = (effort.connections * serving) / servers.length
  const opened = (await Promise.all(servers.map(({ server }) => openConnections(server.port, each)))).flat()
  const [first] = servers
  if (first === undefined) throw new Error(`${name} has no server.`)
  const load = loadFor(first, operation, size, effort)
  await Promise.all(opened.map((connection) => connection.send(load.next())))
  return {
    name: `${name}, ${operation.name}`,
    load: { ...load, connections: opened },
    processes: { server: servers.map(({ server }) => server.pid), database },
    perSecond: effort.perSecond * serving,
    close: () => opened.forEach((connection) => connection.close()),
  }
}

const measureSides = async (
  sides: readonly Side[],
  operation: Operation,
  database: number,
): Promise<readonly Measured[]> => {
  const loaded = await Promise.all(sides.map((side) => loadOf(side, operation, database)))
  try {
    const all = await measureByTurns(loaded, effort)
    return sides.flatMap(({ name }, index) => {
      const series = all[index]
      return series === undefined ? [] : [{ operation: operation.name, subject: name, series }]
    })
  } finally {
    for (const { close } of loaded) close()
  }
}

const within = (ours: readonly number[], theirs: readonly number[]): string => {
  const { median: middle, min, max } = medianWithin(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)))
  return `${middle.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
}

/** CPU relative to another side in the same round: at maximum load, and at a rate. */
const rowsOf = (measured: readonly Measured[], baselines: readonly string[]): readonly Row[] =>
  measured.map(({ operation, subject, series }) => {
    const against = (baseline: string, name: FigureName): string => {
      const base = measured.find((one) => one.operation === operation && one.subject === baseline)
      return subject === baseline || base === undefined ? '1' : within(series[name], base.series[name])
    }
    return {
      operation,
      subject,
      'CPU µs: full, at a rate': `${figure(median(series.serverCpu))}, ${figure(median(series.steadyServerCpu))}`,
      ...Object.fromEntries(
        baselines.flatMap((name) => [
          [`full × ${name}`, against(name, 'serverCpu')],
          [`at a rate × ${name}`, against(name, 'steadyServerCpu')],
        ]),
      ),
    }
  })

await withCleanup(async (later) => {
  const postgres = await startPostgres(18)
  later(postgres.stop)
  const db = await createBlog(18, size)
  later(db.drop)
  const access = await createAccess()
  const start = async (poolSize: number, args: readonly string[] = []): Promise<Subject> => {
    const subject = await startProduct(db, access, { args, env: { DB_POOL_SIZE: String(poolSize) } })
    later(subject.server.stop)
    return subject
  }
  const beside: Subject[] = []
  for (let index = 0; index < workers; index += 1) beside.push(await start(pool))
  const many = await start(pool * workers, ['--workers', String(workers)])
  const [alone, together] = ['one process', `${workers} processes`]
  const sides: readonly Side[] = [
    { name: alone, servers: beside.slice(0, 1), serving: 1 },
    { name: together, servers: beside, serving: workers },
    { name: `${workers} workers`, servers: [many], serving: workers },
  ]
  const measured: Measured[] = []
  for (const name of names) measured.push(...(await measureSides(sides, operationNamed(name), postgres.pid)))
  printTable(`Workers, medians of ${effort.rounds} rounds and where they lie`, rowsOf(measured, [alone, together]))
  console.info(`The primary holds ${figure(residentMb(many.server.pid))} MB.`)
  await writeRecord({ bench: 'workers', figures: serveFigures(measured) }, options.text('json'))
})
