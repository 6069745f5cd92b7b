import type { Manifest } from '../../contract/manifest.ts'
import type { Engine } from '../../engine/engine.ts'

/** The part of an engine that requests need once their statements are known. */
export interface Running {
  readonly engine: Pick<Engine, 'revision' | 'version' | 'privileges'> & {
    readonly manifest: Pick<Manifest, 'readsClaims' | 'distributed' | 'leaves'>
  }
  /** True while an older revision replaces one that could not be compiled. */
  readonly standsIn: boolean
}

/** The only mutable cell: a request reads it once and keeps the value. */
export interface EngineCell<L extends Running> {
  /** The present engine. If no request checks the version (`engine.version` null), it is at most a second old. */
  readonly current: () => L | Promise<L>
  /** The engine after `outdated` was found to be outdated. */
  readonly after: (outdated: L) => Promise<L>
  /** Looks at the database after this call began. */
  readonly look: () => Promise<L>
  /** The present engine without a look; null: none yet. */
  readonly present: () => L | null
}

/** Loads the newest revision after `before`, which is null at first; `isOutdated` if a request found it outdated. */
export type Load<L extends Running> = (before: L | null, isOutdated: boolean) => Promise<L>

export interface CellOptions {
  readonly changes?: boolean
  readonly alone?: boolean
}

const lookEveryMs = 1_000

/**
 * Calls reject with the errors of loading; the previous result is kept.
 * @param options.changes whether something besides the database may change the result, so that the cell looks without a
 * reason
 * @param options.alone true: no request waits for work that another one began and that ends with it, and nothing
 * continues after a request
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
    // Requests during the retry do not wait for a compile that is likely to fail again.
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
