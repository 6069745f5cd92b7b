import type { MetricValueWithName } from 'prom-client'
import { phasesOf } from '../../contract/execution.ts'
import { operationNameOf, type ObserveRequest } from '../../graphql/http/observed.ts'
import type { LogEvent } from '../../settings/log/events.ts'
import { builtRevision, packageVersion } from '../../lib/package.ts'
import { registerReadMetrics, type MetricsSources } from './read-metrics.ts'

/**
 * A histogram of durations, which prom-client prints and sums. prom-client itself builds a text of the labels for each
 * observation, as the key of their series: half a microsecond, five times per request. Here nested maps of labels lead
 * to the series.
 */
interface Histogram {
  /** @param labels values, in the order of their names */
  readonly observe: (labels: readonly string[], seconds: number) => void
  readonly values: () => HistogramValues
}

/** The JSON form of prom-client. */
interface HistogramValues {
  readonly name: string
  readonly help: string
  readonly type: 'histogram'
  readonly aggregator: 'sum'
  readonly values: readonly MetricValueWithName<string>[]
}

interface HistogramParts {
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
    values: () => ({ name, help, type: 'histogram', aggregator: 'sum', values: all.flatMap(histogramValues(name)) }),
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

/** The metrics for Prometheus. Labels have bounded sets: further names of operations count as `other`. */
export interface Metrics {
  readonly request: ObserveRequest
  readonly http: (request: HttpObservation) => void
  /** The delay from a change to its answer, in milliseconds. */
  readonly lag: (ms: number) => void
  readonly event: (event: LogEvent) => void
  readonly contentType: string
  readonly text: () => Promise<string>
  /** The input of `sumMetrics`. */
  readonly values: () => Promise<unknown>
}

export interface HttpObservation {
  readonly method: string
  /** The pattern of the address, such as /auth/v1/token. */
  readonly route: string
  readonly status: number
  readonly ms: number
}

/** The number of operations with their own series. */
const mostOperations = 200

const ownRoles: ReadonlySet<string> = new Set(['anon', 'authenticated', 'service_role'])

/** The first names keep their own series. */
function createBounded(most: number): (name: string) => string {
  const known = new Set<string>()
  return (name) => {
    if (known.has(name)) return name
    if (known.size === most) return 'other'
    known.add(name)
    return name
  }
}

const seconds = (ms: number): number => ms / 1_000

/** prom-client is loaded here, only if metrics are enabled. */
export async function createMetrics(sources: MetricsSources): Promise<Metrics> {
  const client = await import('prom-client')
  const { AggregatorRegistry, collectDefaultMetrics, Counter, Registry } = client
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = createHistogram({
    name: 'catalograph_graphql_request_seconds',
    help: 'GraphQL requests from their arrival to their answer.',
    labelNames: ['operation', 'role', 'outcome'],
  })
  const phases = createHistogram({
    name: 'catalograph_graphql_phase_seconds',
    help: 'Where GraphQL requests spend their time: prepare (parse, plan, bind), queue (for a connection), database.',
    labelNames: ['phase'],
  })
  const http = createHistogram({
    name: 'catalograph_http_request_seconds',
    help: 'HTTP requests by the pattern of their address.',
    labelNames: ['method', 'route', 'status'],
  })
  const compiles = createHistogram({
    name: 'catalograph_compile_seconds',
    help: 'How long a change of the schema took to be served.',
    labelNames: [],
  })
  const lag = createHistogram({
    name: 'catalograph_live_lag_seconds',
    help: 'From the report of a change to the answer that shows it.',
    labelNames: [],
  })
  const events = new Counter({
    registers,
    name: 'catalograph_events_total',
    help: 'Events of the log: such as mail-failed, database-away, revision-failed and request-failed.',
    labelNames: ['event'] as const,
  })
  const [version, revision] = await Promise.all([packageVersion(), builtRevision()])
  registerReadMetrics(client, registry, sources, { version, revision, node: process.versions.node })
  const observed = (): readonly HistogramValues[] =>
    [requests, phases, http, compiles, lag].map(({ values }) => values())
  const operationLabel = createBounded(mostOperations)
  return {
    request: ({ asked, role, response: { outcome }, timeline, done }) => {
      const labels = [operationLabel(operationNameOf(asked)), ownRoles.has(role) ? role : 'other', outcome]
      requests.observe(labels, seconds(done - timeline.arrived))
      for (const [phase, begin, end] of phasesOf(timeline)) phases.observe([phase], seconds(end - begin))
    },
    http: ({ method, route, status, ms }) => http.observe([method, route, String(status)], seconds(ms)),
    lag: (ms) => lag.observe([], seconds(ms)),
    event: (event) => {
      events.inc({ event: event.kind })
      if (event.kind === 'revision-ready') compiles.observe([], seconds(event.ms))
    },
    contentType: registry.contentType,
    text: async () =>
      `${await registry.metrics()}\n${await AggregatorRegistry.aggregate([observed()] as object[]).metrics()}`,
    values: async () => [...(await registry.getMetricsAsJSON()), ...observed()],
  }
}

interface MetricsSum {
  readonly contentType: string
  /** @param values of each process, by its `Metrics.values` */
  readonly text: (values: readonly unknown[]) => Promise<string>
}

export async function createMetricsSum(): Promise<MetricsSum> {
  const { AggregatorRegistry } = await import('prom-client')
  return {
    contentType: new AggregatorRegistry().contentType,
    text: (values) => AggregatorRegistry.aggregate([...values] as object[]).metrics(),
  }
}
