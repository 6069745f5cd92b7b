import type { Query } from '../../../db/connect/session.ts'

/** Deletes changes that every process had time to read. */
export interface Pruning {
  /** There are changes, all of which are visible in this snapshot. */
  readonly found: (snapshot: string) => void
  readonly end: () => void
}

/** It sends no statements while there are no changes. */
export const createPruning = (query: Query, keepMs: number, failed: (error: unknown) => void): Pruning => {
  let timer: NodeJS.Timeout | null = null
  let later: string | null = null
  const prune = (past: string): void => {
    timer = setTimeout(() => {
      timer = null
      query('select catalograph.live_prune($1)', [past]).catch(failed)
      const next = later
      later = null
      if (next !== null) prune(next)
    }, keepMs).unref()
  }
  return {
    found: (snapshot) => {
      if (timer === null) prune(snapshot)
      else later = snapshot
    },
    end: () => {
      if (timer !== null) clearTimeout(timer)
    },
  }
}
