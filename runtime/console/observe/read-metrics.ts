import type * as PromClient from 'prom-client'
import type { LiveObservation } from '../../contract/observations.ts'
import type { PoolStats } from '../../db/pool/pool.ts'
import type { ReplicaState } from '../../db/replicas/replica.ts'
import type { ReplicasStats } from '../../db/replicas/replicas.ts'
import type { CacheName, CacheStats } from '../../graphql/run/served.ts'
import type { LruStats } from '../../lib/caches.ts'

/** Sources of figures that are counted elsewhere, so that requests do not depend on metrics. */
export interface MetricsSources {
  readonly pool: () => PoolStats
  /** Null: no schema is loaded yet. */
  readonly caches: () => CacheStats | null
  readonly live: () => LiveObservation
  /** Null: there are no replicas. */
  readonly replicas: (() => ReplicasStats) | null
}

interface ReadMetric {
  readonly kind: 'Counter' | 'Gauge'
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly string[]
  /** For several workers; absent: their sum. */
  readonly aggregator?: 'max' | 'min'
  readonly read: () => readonly Figure[]
}

type Figure = readonly [value: number, labels?: Readonly<Record<string, string>>]

export function registerReadMetrics(
  client: Pick<typeof PromClient, 'Counter' | 'Gauge'>,
  registry: PromClient.Registry,
  { pool, caches, live, replicas }: MetricsSources,
  build: Readonly<Record<string, string>>,
): void {
  const metrics = [
    buildMetric(build),
    ...poolMetrics(pool),
    ...cacheMetrics(caches),
    ...liveMetrics(live),
    ...(replicas === null ? [] : replicaMetrics(replicas)),
  ]
  for (const { kind, read, ...described } of metrics) {
    new client[kind]({
      ...described,
      registers: [registry],
      collect() {
        this.reset()
        for (const [value, labels = {}] of read()) this.inc(labels, value)
      },
    })
  }
}

/** Joined with other metrics by its labels, as those of Prometheus are: hence 1, also of several workers. */
const buildMetric = (build: Readonly<Record<string, string>>): ReadMetric => ({
  kind: 'Gauge',
  name: 'catalograph_build_info',
  help: 'Version and revision of the service, and the version of Node that runs it.',
  labelNames: Object.keys(build),
  aggregator: 'max',
  read: () => [[1, build]],
})

const gauge = (name: string, help: string, figure: () => number): ReadMetric => ({
  kind: 'Gauge',
  name,
  help,
  read: () => [[figure()]],
})

const poolMetrics = (pool: () => PoolStats): readonly ReadMetric[] => [
  gauge('catalograph_connections_open', 'Connections for requests that are open.', () => pool().open),
  gauge('catalograph_connections_idle', 'Of these, those that no request has.', () => pool().idle),
  gauge('catalograph_requests_waiting', 'Requests that wait for a connection.', () => pool().waiting),
  {
    kind: 'Counter',
    name: 'catalograph_cancelled_requests_total',
    help: 'Requests that were cancelled in Postgres, by cause.',
    labelNames: ['cause'],
    read: () => Object.entries(pool().ended).map(([cause, count]) => [count, { cause }]),
  },
]

function cacheMetrics(caches: () => CacheStats | null): readonly ReadMetric[] {
  const each = (figuresOf: (cache: CacheName, stats: LruStats) => readonly Figure[]) => (): readonly Figure[] =>
    Object.entries(caches() ?? {}).flatMap(([cache, stats]) => figuresOf(cache as CacheName, stats))
  return [
    {
      kind: 'Counter',
      name: 'catalograph_cache_lookups_total',
      help: 'Look-ups by cache and result. Caches, and their counts, begin again with each revision of the schema.',
      labelNames: ['cache', 'result'],
      read: each((cache, { hits, misses }) => [
        [hits, { cache, result: 'hit' }],
        [misses, { cache, result: 'miss' }],
      ]),
    },
    {
      kind: 'Gauge',
      name: 'catalograph_cache_entries',
      help: 'The number of entries of each cache.',
      labelNames: ['cache'],
      read: each((cache, { entries }) => [[entries, { cache }]]),
    },
    {
      kind: 'Gauge',
      name: 'catalograph_cache_characters',
      help: 'Characters that each cache holds; some five bytes for one of a document, one for one of a statement.',
      labelNames: ['cache'],
      read: each((cache, { weight }) => (cache === 'role-schemas' ? [] : [[weight, { cache }]])),
    },
  ]
}

const liveMetrics = (live: () => LiveObservation): readonly ReadMetric[] => [
  gauge('catalograph_live_streams', 'Streams of live queries that are open.', () => live().streams),
  gauge('catalograph_live_sockets', 'WebSockets that are open.', () => live().sockets),
  gauge('catalograph_live_watches', 'Watches: what streams share that ask the same.', () => live().watches),
  gauge('catalograph_live_runs_waiting', 'Watches that wait for their turn to run.', () => live().waiting),
  {
    kind: 'Counter',
    name: 'catalograph_live_runs_total',
    help: 'Runs of watches by reason, and whether the answer changed, was the same or failed.',
    labelNames: ['reason', 'result'],
    read: () => live().runs.map(({ reason, result, count }) => [count, { reason, result }]),
  },
  {
    kind: 'Counter',
    name: 'catalograph_live_refused_total',
    help: 'Streams that were refused by what was too many: of the caller (party), in all, or memory.',
    labelNames: ['limit'],
    read: () => Object.entries(live().refused).map(([limit, count]) => [count, { limit }]),
  },
]

/** Replicas are identified by their index in the setting: addresses are confidential. */
function replicaMetrics(stats: () => ReplicasStats): readonly ReadMetric[] {
  const each = (figureOf: (state: ReplicaState) => number) => (): readonly Figure[] =>
    stats().replicas.map((state, index) => [figureOf(state), { replica: String(index + 1) }])
  return [
    {
      kind: 'Gauge',
      name: 'catalograph_replica_lag_seconds',
      help: 'By how much each replica is behind the primary at most; absent where that is not known.',
      labelNames: ['replica'],
      aggregator: 'max',
      read: () => each(({ lagMs }) => lagMs / 1_000)().filter(([lag]) => lag !== Infinity),
    },
    {
      kind: 'Gauge',
      name: 'catalograph_replica_up',
      help: 'Whether each replica answers requests.',
      labelNames: ['replica'],
      aggregator: 'min',
      read: each(({ fault }) => (fault === null ? 1 : 0)),
    },
    {
      kind: 'Counter',
      name: 'catalograph_reads_total',
      help: 'GraphQL requests that only read, by the server that answered.',
      labelNames: ['server'],
      read: () => Object.entries(stats().reads).map(([server, count]) => [count, { server }]),
    },
  ]
}
