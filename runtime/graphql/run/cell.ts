import type { Manifest } from '../../contract/manifest.ts'
import type { Engine } from '../../engine/engine.ts'

/** What requests run on: as much of an engine as they need once their statements are known. */
export interface Running {
  readonly engine: Pick<Engine, 'revision' | 'version' | 'privileges'> & {
    readonly manifest: Pick<Manifest, 'readsClaims' | 'distributed' | 'leaves'>
  }
  /** True while an older revision stands in for one that could not be compiled. */
  readonly standsIn: boolean
}

/** The one mutable cell: a request reads it once and keeps what it read. */
export interface EngineCell<L extends Running> {
  /** What to answer with. Where no request checks the version (`engine.version` null), it is at most a second old. */
  readonly current: () => L | Promise<L>
  /** What to answer with after `outdated` turned out to be so. */
  readonly after: (outdated: L) => Promise<L>
  /** Looks at the database, not before this call. */
  readonly look: () => Promise<L>
  /** What is there, without looking; null: nothing yet. */
  readonly present: () => L | null
}

/** Makes the newest of what was loaded before, null at first; `isOutdated` where a request has found that that is outdated. */
export type Load<L extends Running> = (before: L | null, isOutdated: boolean) => Promise<L>

export interface CellOptions {
  readonly changes?: boolean
  readonly alone?: boolean
}

const lookEveryMs = 1_000

/**
 * Calls reject with what loading rejects with; what was loaded before is kept.
 * @param options.changes whether something besides the database may change what is loaded, so that it is looked at without a reason
 * @param options.alone true: nobody waits for what another request began, which ends with that one, and nothing goes on after a request
 */
export function createCell<L extends Running>(
  load: Load<L>,
  now: () => number,
  { changes = false, alone = false }: CellOptions = {},
): EngineCell<L> {
  let loaded: L | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  let running: Promise<L> | null = null

  const refresh = (isOutdated: boolean): Promise<L> => {
    if (running !== null) return running
    lookedAt = now()
    const loading = load(loaded, isOutdated).then((made) => (loaded = made))
    if (alone) return loading
    running = loading.finally(() => (running = null))
    return running
  }
  const isOld = (): boolean => now() - lookedAt >= lookEveryMs
  const current = (): L | Promise<L> => {
    const kept = loaded
    if (kept === null) return refresh(false)
    if (kept.engine.version === null && isOld()) return refresh(false).catch(() => kept)
    // Requests that come meanwhile do not wait for a compile that is likely to fail again.
    if ((changes || kept.standsIn) && !alone && isOld()) refresh(false).catch(() => undefined)
    return kept
  }
  return {
    current,
    after: async (outdated) => (loaded !== null && loaded !== outdated ? loaded : refresh(true)),
    look: async () => {
      await running?.catch(() => undefined)
      return refresh(false)
    },
    present: () => loaded,
  }
}
