import type { RunRecord } from '../support/record.ts'
import type { Series } from '../serve/measure.ts'
import { exponentOf, figure, median, medianWithin, spreadText, type Spread } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'

/** The measurements at one size of an axis. */
export interface Point {
  readonly size: number
  readonly series: Series
}

export interface Curve {
  readonly axis: string
  readonly points: readonly Point[]
}

/** The process whose CPU a curve shows. */
export const parties = { serverCpu: 'service', databaseCpu: 'database' } as const
export type Party = keyof typeof parties

/** The exponent of each round, and the interval of their median. A size of 0 has no logarithm. */
export const exponentWithin = ({ points }: Curve, party: Party): Spread => {
  const rounds = points[0]?.series[party].map((_, round) =>
    exponentOf(
      points.filter(({ size }) => size > 0).map(({ size, series }) => [size, series[party][round] ?? Number.NaN]),
    ),
  )
  return medianWithin(rounds ?? [])
}

const exact = ({ median: middle, min, max }: Spread): string =>
  `${middle.toFixed(3)} (${min.toFixed(3)} to ${max.toFixed(3)})`

/** A row for each size. */
export const curveRows = ({ points }: Curve): readonly Row[] =>
  points.map(({ size, series }) => ({
    size,
    'service µs': spreadText(medianWithin(series.serverCpu)),
    'database µs': spreadText(medianWithin(series.databaseCpu)),
    'p50 ms': figure(median(series.p50)),
  }))

const hasExponent = ({ points }: Curve): boolean => points.filter(({ size }) => size > 0).length > 1

/** A row for each curve of two or more sizes. */
export const exponentRows = (curves: readonly Curve[]): readonly Row[] =>
  curves.filter(hasExponent).map((curve) => ({
    axis: curve.axis,
    'exponent of the service': exact(exponentWithin(curve, 'serverCpu')),
    'exponent of the database': exact(exponentWithin(curve, 'databaseCpu')),
  }))

export const curveFigures = (curves: readonly Curve[]): RunRecord['figures'] =>
  Object.fromEntries(
    curves.flatMap((curve) => [
      ...curve.points.flatMap(({ size, series }) =>
        (Object.keys(parties) as Party[]).map(
          (party) => [`curves.${curve.axis}.${size}.${party}`, series[party]] as const,
        ),
      ),
      ...(hasExponent(curve) ? (Object.keys(parties) as Party[]) : []).map(
        (party) => [`curves.${curve.axis}.exponent.${party}`, exponentWithin(curve, party).median] as const,
      ),
    ]),
  )
