import { groupBy } from '../../runtime/lib/steps.ts'
import { emptySeries, type FigureName, type Measured, type Series } from '../serve/measure.ts'
import { totalCpu } from '../serve/report.ts'
import { figure, median, medianWithin } from '../support/statistics.ts'
import type { Row } from '../support/table.ts'

const joinedSeries = (all: readonly Series[]): Series => {
  const series = emptySeries()
  for (const name of Object.keys(series) as FigureName[]) series[name].push(...all.flatMap((one) => one[name]))
  return series
}

/** Rounds of several processes combined into one series. */
export const joined = (all: readonly Measured[]): readonly Measured[] =>
  [...groupBy(all, ({ operation, subject }) => `${operation} ${subject}`).values()].flatMap((same) =>
    same.slice(0, 1).map((one) => ({ ...one, series: joinedSeries(same.map(({ series }) => series)) })),
  )

/** Small differences matter: three digits. */
function ratioWithin(ours: readonly number[], theirs: readonly number[]): string {
  const found = medianWithin(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)))
  return `${found.median.toFixed(3)} (${found.min.toFixed(3)}–${found.max.toFixed(3)})`
}

/** A row for each subject and operation: CPU as ratios of slices of the same round. */
export const observeRows = (all: readonly Measured[], baseline: string): readonly Row[] =>
  all.flatMap((measured) => {
    const base = all.find(({ operation, subject }) => operation === measured.operation && subject === baseline)
    if (base === undefined || base === measured) return []
    return [
      {
        operation: measured.operation,
        server: measured.subject,
        'CPU µs': figure(median(totalCpu(measured))),
        [`CPU × ${baseline}`]: ratioWithin(totalCpu(measured), totalCpu(base)),
        'of Node alone': ratioWithin(measured.series.serverCpu, base.series.serverCpu),
      },
    ]
  })
