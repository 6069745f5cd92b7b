import type { Revision, RevisionSource } from '../../contract/revision.ts'
import { namesForAll } from '../../contract/type-names.ts'
import { createEngine, type Engine } from '../../engine/engine.ts'
import { createMemories, type Memories } from '../../lib/memories.ts'
import { inTurns } from '../../lib/steps.ts'
import type { Load, Running } from './cell.ts'
import { createEstimates, type Estimates } from './cost-limit.ts'
import { untrustedCacheLimits, createDocuments, allowlistCacheLimits, type Documents } from '../prepared/documents.ts'

/** An engine with what was found out about documents under it. */
export interface Loaded extends Running {
  /** What the engine was made of. */
  readonly revision: Revision
  readonly engine: Engine
  readonly documents: Documents
  /** Those that an allow-list holds, under their hashes. */
  readonly listed: Documents
  /** What statements are estimated to cost, for as long as the version is the same: a new index changes no more than that. */
  readonly estimates: Estimates
}

/** Loads the newest revision of a source, each time on what was loaded before. */
export function createLoad(source: RevisionSource, now: () => number): Load<Loaded> {
  const memories = createMemories()
  return (before, isOutdated) => load(() => source(isOutdated), memories, before, now)
}

async function load(
  source: () => Promise<Revision>,
  memories: Memories,
  before: Loaded | null,
  now: () => number,
): Promise<Loaded> {
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
