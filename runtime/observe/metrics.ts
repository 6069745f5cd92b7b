import { phasesOf } from '../contract/timeline.ts'
import type { PoolStats } from '../db/pool/pool.ts'
import type { ObserveRequest } from '../graphql/http/observed.ts'
import type { LogEvent } from '../log/events.ts'

/**
 * What Prometheus reads. Labels come from bounded sets: a stranger who sends a million names of operations makes two hundred
 * series and one called `other`.
 */
export interface Metrics {
  readonly request: ObserveRequest
  readonly http: (request: HttpObservation) => void
  /** Counts what the log is told. */
  readonly event: (event: LogEvent) => void
  readonly contentType: string
  readonly text: () => Promise<string>
  /** What `sumMetrics` sums. */
  readonly values: () => Promise<unknown>
}

export interface HttpObservation {
  readonly method: string
  /** The pattern of the address, such as /auth/v1/token. */
  readonly route: string
  readonly status: number
  readonly ms: number
}

export interface MetricsSources {
  readonly pool: () => PoolStats
}

/** Operations that have series of their own. */
const mostOperations = 200

const ownRoles: ReadonlySet<string> = new Set(['anon', 'authenticated', 'service_role'])

/** The first names that come keep theirs. */
function createBounded(most: number): (name: string) => string {
  const known = new Set<string>()
  return (name) => {
    if (known.has(name)) return name
    if (known.size === most) return 'other'
    known.add(name)
    return name
  }
}

/** Seconds; from a request that is known and small to one that is given up. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const seconds = (ms: number): number => ms / 1_000

interface PoolGauge {
  readonly name: string
  readonly help: string
  readonly value: (stats: PoolStats) => number
}

const poolGauges: readonly PoolGauge[] = [
  { name: 'catalograph_connections_open', help: 'Connections for requests that are open.', value: ({ open }) => open },
  { name: 'catalograph_connections_idle', help: 'Of these, those that no request has.', value: ({ idle }) => idle },
  {
    name: 'catalograph_requests_waiting',
    help: 'Requests that wait for a connection.',
    value: ({ waiting }) => waiting,
  },
]

/** prom-client is loaded here, by who wants metrics only. */
export async function createMetrics({ pool }: MetricsSources): Promise<Metrics> {
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client')
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const common = { registers, buckets }
  const requests = new Histogram({
    ...common,
    name: 'catalograph_graphql_request_seconds',
    help: 'GraphQL requests from their arrival to their answer.',
    labelNames: ['operation', 'role', 'outcome'] as const,
  })
  const phases = new Histogram({
    ...common,
    name: 'catalograph_graphql_phase_seconds',
    help: 'Where GraphQL requests spend their time: prepare (parse, plan, bind), queue (for a connection), database.',
    labelNames: ['phase'] as const,
  })
  const http = new Histogram({
    ...common,
    name: 'catalograph_http_request_seconds',
    help: 'HTTP requests by the pattern of their address.',
    labelNames: ['method', 'route', 'status'] as const,
  })
  const compiles = new Histogram({
    ...common,
    name: 'catalograph_compile_seconds',
    help: 'How long a change of the schema took to be served.',
  })
  const events = new Counter({
    registers,
    name: 'catalograph_events_total',
    help: 'Events of the log: mail-failed, database-away, revision-failed, request-failed and others.',
    labelNames: ['event'] as const,
  })
  for (const { name, help, value } of poolGauges) {
    new Gauge({
      registers,
      name,
      help,
      collect() {
        this.set(value(pool()))
      },
    })
  }
  new Counter({
    registers,
    name: 'catalograph_cancelled_requests_total',
    help: 'Requests that were cancelled in Postgres, by cause.',
    labelNames: ['cause'] as const,
    // The pool counts, so that requests need not know of metrics.
    collect() {
      this.reset()
      for (const [cause, count] of Object.entries(pool().ended)) this.inc({ cause }, count)
    },
  })
  const operationLabel = createBounded(mostOperations)
  return {
    request: ({ operation, role, outcome, timeline, done }) => {
      const labels = { operation: operationLabel(operation), role: ownRoles.has(role) ? role : 'other', outcome }
      requests.observe(labels, seconds(done - timeline.arrived))
      for (const [phase, begin, end] of phasesOf(timeline)) phases.observe({ phase }, seconds(end - begin))
    },
    http: ({ method, route, status, ms }) => http.observe({ method, route, status: String(status) }, seconds(ms)),
    event: (event) => {
      events.inc({ event: event.kind })
      if (event.kind === 'revision-ready') compiles.observe(seconds(event.ms))
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
  }
}

/** The metrics of several processes as one. */
export interface MetricsSum {
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
