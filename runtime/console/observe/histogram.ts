import type { MetricValueWithName } from 'prom-client'

/**
 * A histogram of durations, which prom-client prints and sums. prom-client itself builds a text of the labels for each
 * observation, as the key of their series: half a microsecond, five times per request. Here nested maps of labels lead
 * to the series.
 */
export interface Histogram {
  /** @param labels values, in the order of their names */
  readonly observe: (labels: readonly string[], seconds: number) => void
  readonly values: () => HistogramValues
}

/** The JSON form of prom-client. */
export interface HistogramValues {
  readonly name: string
  readonly help: string
  readonly type: 'histogram'
  readonly aggregator: 'sum'
  readonly values: readonly MetricValueWithName<string>[]
}

export interface HistogramParts {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

/** Seconds; from a small known request to one that times out. */
const buckets: readonly number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

interface Series {
  readonly labels: Readonly<Record<string, string>>
  /** The number of observations in each bucket but no smaller one; the last one is for longer durations. */
  readonly counts: number[]
  sum: number
}

interface Branch {
  readonly next: Map<string, Branch>
  series: Series | null
}

const newBranch = (): Branch => ({ next: new Map(), series: null })

export function createHistogram({ name, help, labelNames }: HistogramParts): Histogram {
  const root = newBranch()
  const all: Series[] = []
  const newSeries = (labels: readonly string[]): Series => {
    const named = Object.fromEntries(labelNames.map((label, index) => [label, labels[index] ?? '']))
    const series = { labels: named, counts: [...buckets, Infinity].map(() => 0), sum: 0 }
    all.push(series)
    return series
  }
  return {
    observe: (labels, seconds) => {
      let branch = root
      for (const label of labels) branch = branch.next.get(label) ?? grow(branch, label)
      add((branch.series ??= newSeries(labels)), seconds)
    },
    values: () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: all.flatMap(histogramValues(name)),
    }),
  }
}

function grow(branch: Branch, label: string): Branch {
  const grown = newBranch()
  branch.next.set(label, grown)
  return grown
}

function add(series: Series, seconds: number): void {
  let bucket = 0
  while (seconds > (buckets[bucket] ?? Infinity)) bucket += 1
  series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
  series.sum += seconds
}

const histogramValues =
  (name: string) =>
  ({ labels, counts, sum }: Series): HistogramValues['values'] => {
    let value = 0
    const added = counts.map((count, index) => {
      value += count
      return { metricName: `${name}_bucket`, labels: { ...labels, le: String(buckets[index] ?? '+Inf') }, value }
    })
    return [...added, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value }]
  }
