import type { LruStats } from '../../lib/caches.ts'
import type { Loaded } from './loaded.ts'

/** The caches for repeated requests. All except the listed texts are rebuilt with each revision of the schema. */
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
