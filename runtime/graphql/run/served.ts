import type { Revision, RevisionSource } from '../../contract/artifact.ts'
import { namesForAll } from '../../contract/type-names.ts'
import type { EngineAdditions } from '../../engine/additions.ts'
import { createEngine, type Engine } from '../../engine/engine.ts'
import { createMemories, type Memories } from '../../lib/memo/memo.ts'
import { inTurns } from '../../lib/steps.ts'
import { createConcerns } from './concerns.ts'
import type { Keep, Load, Running } from './request-state.ts'
import { createEstimates, type Estimates } from './cost-limit.ts'
import { untrustedCacheLimits, createDocuments, allowlistCacheLimits, type Documents } from '../prepared/documents.ts'
import type { LruStats } from '../../lib/caches.ts'

/** An engine with the cached results about its documents. */
export interface Loaded extends Running {
  /** The source of the engine. */
  readonly revision: Revision
  readonly engine: Engine
  readonly documents: Documents
  /** The documents of an allow-list, under their hashes. */
  readonly listed: Documents
  /** Cost estimates; they are kept while the version is the same, since a new index changes only them. */
  readonly estimates: Estimates
}

/** Loads the newest revision of a source, based on the previous one. */
export function createLoad(source: RevisionSource, additions: EngineAdditions, now: () => number): Load<Loaded> {
  const memories = createMemories()
  return (before, isOutdated) => load(() => source(isOutdated), additions, memories, before, now)
}

async function load(
  source: () => Promise<Revision>,
  additions: EngineAdditions,
  memories: Memories,
  before: Loaded | null,
  now: () => number,
): Promise<Loaded> {
  const revision = await source()
  const isFallback = revision.failure !== undefined
  const estimates = createEstimates(now)
  if (before === null || before.engine.revision !== revision.id) {
    await inTurns(namesForAll(revision.manifest, additions.parts, memories.shared))
    const engine = createEngine(revision, additions, memories)
    const documents = createDocuments(engine, untrustedCacheLimits)
    return { revision, engine, documents, listed: createDocuments(engine, allowlistCacheLimits), estimates, isFallback }
  }
  if (isSame(before, revision, isFallback)) return before
  const engine = { ...before.engine, version: revision.version }
  return { ...before, revision, engine, estimates, isFallback, concerns: undefined }
}

/** An equal revision keeps all cached results of its predecessor. */
const isSame = ({ engine, isFallback, concerns }: Loaded, revision: Revision, now: boolean): boolean =>
  engine.version === revision.version && isFallback === now && concerns === undefined

/** The same engine for a later state of the database, if its revision holds there for some requests. */
export function createKeep(now: () => number): Keep<Loaded> {
  let of: Engine['manifest'] | null = null
  let concernsOf: ReturnType<typeof createConcerns> | null = null
  return async (outdated) => {
    const { revision, engine } = outdated
    const later = await revision.later?.()
    if (later == null) return null
    if (of !== engine.manifest || concernsOf === null) concernsOf = createConcerns((of = engine.manifest))
    const { version, changed } = later
    const concerns = concernsOf(changed)
    return { ...outdated, engine: { ...engine, version }, estimates: createEstimates(now), concerns }
  }
}

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
