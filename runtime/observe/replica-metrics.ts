import type * as PromClient from 'prom-client'
import type { ReplicaState } from '../db/replicas/replica.ts'
import type { ReplicasStats } from '../db/replicas/replicas.ts'

interface ReplicaGauge {
  readonly name: string
  readonly help: string
  /** Of several workers. */
  readonly aggregator: 'max' | 'min'
  /** Null: not known. */
  readonly value: (state: ReplicaState) => number | null
}

const replicaGauges: readonly ReplicaGauge[] = [
  {
    name: 'catalograph_replica_lag_seconds',
    help: 'By how much each replica is behind the primary at most; absent where that is not known.',
    aggregator: 'max',
    value: ({ lagMs }) => (lagMs === Infinity ? null : lagMs / 1_000),
  },
  {
    name: 'catalograph_replica_up',
    help: 'Whether each replica answers requests.',
    aggregator: 'min',
    value: ({ fault }) => (fault === null ? 1 : 0),
  },
]

/** Replicas are known by their numbers in the setting: addresses are nobody's business. */
export function registerReplicaMetrics(
  { Counter, Gauge }: Pick<typeof PromClient, 'Counter' | 'Gauge'>,
  registry: PromClient.Registry,
  stats: () => ReplicasStats,
): void {
  const registers = [registry]
  for (const { name, help, aggregator, value } of replicaGauges) {
    new Gauge({
      registers,
      name,
      help,
      aggregator,
      labelNames: ['replica'] as const,
      collect() {
        this.reset()
        stats().replicas.forEach((state, index) => {
          const known = value(state)
          if (known !== null) this.set({ replica: String(index + 1) }, known)
        })
      },
    })
  }
  new Counter({
    registers,
    name: 'catalograph_reads_total',
    help: 'GraphQL requests that only read, by the server that answered.',
    labelNames: ['server'] as const,
    collect() {
      this.reset()
      for (const [server, count] of Object.entries(stats().reads)) this.inc({ server }, count)
    },
  })
}
