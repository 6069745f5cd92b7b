import type { Revision, RevisionSource } from '../../contract/revision.ts'
import { namesForAll } from '../../contract/type-names.ts'
import { createEngine, type Engine } from '../../engine/engine.ts'
import { createMemories, type Memories } from '../../lib/memories.ts'
import { inTurns } from '../../lib/steps.ts'
import { createEstimates, type Estimates } from './cost-limit.ts'
import { untrustedCacheLimits, createDocuments, allowlistCacheLimits, type Documents } from '../prepared/documents.ts'

/** An engine with what was found out about documents under it. */
export interface Loaded {
  /** What the engine was made of. */
  readonly revision: Revision
  readonly engine: Engine
  readonly documents: Documents
  /** Those that an allow-list holds, under their hashes. */
  readonly listed: Documents
  /** What statements are estimated to cost, for as long as the version is the same: a new index changes no more than that. */
  readonly estimates: Estimates
  /** True while an older revision stands in for one that could not be compiled. */
  readonly standsIn: boolean
}

/** The one mutable cell: a request reads it once and keeps what it read. */
export interface EngineCell {
  /** What to answer with. Where no request checks the version (`engine.version` null), it is at most a second old. */
  readonly current: () => Loaded | Promise<Loaded>
  /** What to answer with after `outdated` turned out to be so. */
  readonly after: (outdated: Loaded) => Promise<Loaded>
  /** Looks at the database, not before this call. */
  readonly look: () => Promise<Loaded>
  /** What is there, without looking; null: nothing yet. */
  readonly present: () => Loaded | null
}

const lookEveryMs = 1_000

/** Calls reject with what the source rejects with; an engine that was loaded before is kept. */
export function createCell(source: RevisionSource, now: () => number): EngineCell {
  const memories = createMemories()
  let loaded: Loaded | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  let running: Promise<Loaded> | null = null

  const refresh = (): Promise<Loaded> => {
    running ??= load(source, memories, loaded, now, () => (lookedAt = now()))
      .then((made) => (loaded = made))
      .finally(() => (running = null))
    return running
  }
  const isOld = (): boolean => now() - lookedAt >= lookEveryMs
  const current = (): Loaded | Promise<Loaded> => {
    const kept = loaded
    if (kept === null) return refresh()
    if (kept.engine.version === null && isOld()) return refresh().catch(() => kept)
    // Requests that come meanwhile do not wait for a compile that is likely to fail again.
    if (kept.standsIn && isOld()) refresh().catch(() => undefined)
    return kept
  }
  return {
    current,
    after: async (outdated) => (loaded !== null && loaded !== outdated ? loaded : refresh()),
    look: async () => {
      await running?.catch(() => undefined)
      return refresh()
    },
    present: () => loaded,
  }
}

async function load(
  source: RevisionSource,
  memories: Memories,
  before: Loaded | null,
  now: () => number,
  starting: () => void,
): Promise<Loaded> {
  starting()
  const revision = await source()
  const standsIn = revision.failure !== undefined
  const estimates = createEstimates(now)
  if (before === null || before.engine.revision !== revision.id) {
    await inTurns(namesForAll(revision.manifest, memories.shared))
    const engine = createEngine(revision, memories)
    const documents = createDocuments(engine, untrustedCacheLimits)
    return { revision, engine, documents, listed: createDocuments(engine, allowlistCacheLimits), estimates, standsIn }
  }
  if (isSame(before, revision, standsIn)) return before
  return { ...before, engine: { ...before.engine, version: revision.version }, estimates, standsIn }
}

/** A revision that says the same as the one before keeps all that was found out under it. */
const isSame = ({ engine, standsIn }: Loaded, revision: Revision, now: boolean): boolean =>
  engine.version === revision.version && standsIn === now
