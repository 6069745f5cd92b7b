import type { LruStats } from '../../lib/lru.ts'
import type { Loaded } from './loaded.ts'

/** What is kept for requests that come again. It is made again with each revision of the schema, but for the listed texts. */
export type CacheName =
  | 'documents'
  | 'statements'
  | 'refusals'
  | 'listed-documents'
  | 'listed-statements'
  | 'listed-texts'
  | 'role-schemas'

export type CacheStats = Readonly<Record<CacheName, LruStats>>

export function cacheStatsOf({ engine, documents, listed }: Loaded, listedTexts: LruStats): CacheStats {
  const byHash = listed.stats()
  return {
    ...documents.stats(),
    'listed-documents': byHash.documents,
    'listed-statements': byHash.statements,
    'listed-texts': listedTexts,
    'role-schemas': engine.viewStats(),
  }
}
