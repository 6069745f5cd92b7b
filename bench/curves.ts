import { writeFile } from 'node:fs/promises'
import { axes, type Axis, type Place, type Sized } from './curves/axes.ts'
import { drawCurves } from './curves/chart.ts'
import { curveFigures, curveRows, exponentRows, type Curve } from './curves/report.ts'
import { effortOf, measureByTurns, type Loaded } from './serve/measure.ts'
import { createAccess } from './serve/subjects.ts'
import { withCleanup } from './support/cleanup.ts'
import type { HttpConnection } from './support/http-client.ts'
import { openConnections } from './support/load.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { printTable } from './support/table.ts'

/**
 * The cost of a request for service and database as the number of tables, roles, policies of the table, connections and
 * distinct documents grows: CPU at several sizes alternately, and the exponent of each curve, which is the slope of the
 * logarithms by least squares, with a 95 % interval of its median over the rounds. A picture of the curves is beside
 * the record.
 *
 * --only tables,roles,policies,connections,documents --largest 10000 --seconds 0.5 --rounds 16 --warm-up 20000 --json
 * FILE
 */
const options = readOptions()
const only = options.text('only')?.split(',')
const chosen = axes.filter(({ name }) => only?.includes(name) ?? true)
const largest = options.number('largest', 10_000)
const effort = { ...effortOf(options), rounds: options.number('rounds', 16) }
const sliceMs = options.number('seconds', 0.5) * 1_000

/** Connections stay open between rounds, so that opening them is not part of a request's cost. */
const keepOpen = async ({ port, connections, requests: [first] }: Sized): Promise<readonly HttpConnection[]> => {
  const opened = await openConnections(port, connections)
  // A connection without a first request is soon closed.
  await Promise.all(opened.map((connection) => first && connection.send(first)))
  return opened
}

const loadOf = async (sized: Sized): Promise<Loaded> => {
  const { size, port, processes, requests } = sized
  return {
    name: String(size),
    processes,
    perSecond: 0,
    load: {
      port,
      connections: await keepOpen(sized),
      ms: sliceMs,
      next: () => requests[Math.floor(Math.random() * requests.length)] as Buffer,
      good: ({ status, body }) => status === 200 && !body.includes('"errors"'),
    },
  }
}

const measureAxis = async ({ name, sizes, open }: Axis, place: Place): Promise<Curve> => {
  const sized = await open(
    sizes.filter((size) => size <= largest),
    place,
  )
  const all = await measureByTurns(await Promise.all(sized.map(loadOf)), effort)
  return { axis: name, points: sized.flatMap(({ size }, index) => (all[index] ? [{ size, series: all[index] }] : [])) }
}

await withCleanup(async (later) => {
  const postgres = await startPostgres()
  later(postgres.stop)
  const access = await createAccess()
  const curves: Curve[] = []
  for (const axis of chosen) {
    const curve = await withCleanup((later) => measureAxis(axis, { access, later }))
    printTable(
      `CPU of a request by ${axis.name}, medians of ${effort.rounds} rounds and where they lie`,
      curveRows(curve),
    )
    curves.push(curve)
  }
  printTable('Exponents', exponentRows(curves))
  const record = await writeRecord({ bench: 'curves', figures: curveFigures(curves) }, options.text('json'))
  await writeFile(record.replace(/(?:\.json)?$/, '.svg'), drawCurves(curves))
})
