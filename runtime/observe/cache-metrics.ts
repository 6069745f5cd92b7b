import type * as PromClient from 'prom-client'
import type { CacheName, CacheStats } from '../graphql/run/cache-stats.ts'
import type { LruStats } from '../lib/lru.ts'

interface CacheGauge {
  readonly name: string
  readonly help: string
  readonly value: (stats: LruStats) => number
  /** Left out: all. */
  readonly caches?: (cache: CacheName) => boolean
}

const cacheGauges: readonly CacheGauge[] = [
  { name: 'catalograph_cache_entries', help: 'What each cache holds.', value: ({ entries }) => entries },
  {
    name: 'catalograph_cache_characters',
    help: 'Characters that each cache holds; some five bytes for one of a document, one for one of a statement.',
    value: ({ weight }) => weight,
    caches: (cache) => cache !== 'role-schemas',
  },
]

/** The caches count by themselves, so that requests need not know of metrics. Null: there are none yet. */
export function registerCacheMetrics(
  { Counter, Gauge }: Pick<typeof PromClient, 'Counter' | 'Gauge'>,
  registry: PromClient.Registry,
  caches: () => CacheStats | null,
): void {
  const registers = [registry]
  const all = (): readonly (readonly [CacheName, LruStats])[] =>
    Object.entries(caches() ?? {}) as [CacheName, LruStats][]
  new Counter({
    registers,
    name: 'catalograph_cache_lookups_total',
    help: 'Look-ups by cache and result. Caches, and their counts, begin again with each revision of the schema.',
    labelNames: ['cache', 'result'] as const,
    collect() {
      this.reset()
      for (const [cache, { hits, misses }] of all()) {
        this.inc({ cache, result: 'hit' }, hits)
        this.inc({ cache, result: 'miss' }, misses)
      }
    },
  })
  for (const { name, help, value, caches: isShown = () => true } of cacheGauges) {
    new Gauge({
      registers,
      name,
      help,
      labelNames: ['cache'] as const,
      collect() {
        for (const [cache, stats] of all()) if (isShown(cache)) this.set({ cache }, value(stats))
      },
    })
  }
}
