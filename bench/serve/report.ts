import type { RunRecord } from '../support/record.ts'
import { figure, median, ratios, spreadText } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'
import type { FigureName, Measured } from './measure.ts'

const both = (measured: Measured, first: FigureName, second: FigureName): string =>
  `${figure(median(measured.series[first]))} / ${figure(median(measured.series[second]))}`

/** Of server and database, microseconds per request. */
export const totalCpu = ({ series }: Measured): readonly number[] =>
  series.serverCpu.map((cpu, round) => cpu + (series.databaseCpu[round] ?? Number.NaN))

/**
 * A row for each subject and operation; ratios are of slices of the same round, with the least and the greatest of
 * them.
 */
export const serveRows = (all: readonly Measured[], baseline: string): readonly Row[] =>
  all.map((measured) => {
    const base = all.find(({ operation, subject }) => operation === measured.operation && subject === baseline)
    const against = (of: (one: Measured) => readonly number[]): string =>
      base === undefined || base === measured ? '1' : spreadText(ratios(of(measured), of(base)))
    return {
      operation: measured.operation,
      server: measured.subject,
      'req/s': figure(median(measured.series.perSecond)),
      [`× ${baseline}`]: against(({ series }) => series.perSecond),
      'CPU µs server / db': both(measured, 'serverCpu', 'databaseCpu'),
      [`CPU × ${baseline}`]: against(totalCpu),
      'full p50 / p99 ms': both(measured, 'p50', 'p99'),
      'steady p50 / p99 ms': both(measured, 'steadyP50', 'steadyP99'),
    }
  })

export const serveFigures = (all: readonly Measured[]): RunRecord['figures'] =>
  Object.fromEntries(
    all.flatMap(({ operation, subject, series }) =>
      Object.entries(series).map(([name, values]) => [`serve.${operation}.${subject}.${name}`, values] as const),
    ),
  )
