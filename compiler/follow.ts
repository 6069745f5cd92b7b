import type { Revision, RevisionSource } from '../runtime/contract/artifact.ts'
import { isAway } from '../runtime/db/failures/failures.ts'
import { messageOf } from '../runtime/lib/text.ts'
import { retries } from '../runtime/lib/retry.ts'
import type { CatalogQuery } from './catalog/read.ts'
import type { Compiled, Compiler } from './compile.ts'

export interface FollowOptions {
  readonly compiler: Compiler
  readonly query: CatalogQuery
  /** SQL expression that changes with the schema, the one that the compiler reads with the catalogue. */
  readonly version: string
  /** False: requests cannot check the version, so revisions are returned without one. */
  readonly guarded: boolean
  /** Called after each successful compile. */
  readonly report: (compiled: Compiled) => void
  /** The clock, in milliseconds. */
  readonly now?: () => number
}

/** The last good revision, and the version that it serves. */
interface Last {
  readonly compiled: Compiled
  readonly revision: Revision
  readonly version: string | null
  /** When a compile of this version failed. */
  readonly failedAt: number | null
}

/**
 * The newest revision of a database that may change at any time.
 *
 * It compiles only if the version changed, and never twice concurrently. A call during a compile may be about a change
 * that this compile has not seen; so it waits and then checks the version again, once for all waiting calls. If a
 * request found another version, the catalogue is read directly: the same statement returns the version. If a compile
 * fails, the last good revision is returned for the new version: its statements run as far as the database still
 * allows. Without one, or if the database does not answer, the call rejects.
 */
export function createFollower(options: FollowOptions): RevisionSource {
  const { compiler, query, version, guarded, report, now = Date.now } = options
  let last: Last | null = null
  let queued: Promise<Revision> | null = null
  let isOutdated = false
  let settled: Promise<unknown> = Promise.resolve()

  const isCurrent = (kept: Last, seen: string | null): boolean =>
    kept.version === seen && (kept.failedAt === null || now() - kept.failedAt < retries.compile.firstMs)
  const compile = async (before: Compiled | undefined): Promise<Last> => {
    const compiled = await compiler.compile(before)
    if (compiled !== before) report(compiled)
    const seen = compiled.revision.version
    return {
      compiled,
      revision: { ...compiled.revision, version: guarded ? seen : null },
      version: seen,
      failedAt: null,
    }
  }
  const readAtOnce = async (before: Last): Promise<Revision> => {
    const made = await compile(before.compiled)
    if (made.compiled === before.compiled) return before.revision
    last = made
    return made.revision
  }
  const refresh = async (): Promise<Revision> => {
    const seen = await readVersion(query, version)
    if (last !== null && isCurrent(last, seen)) return last.revision
    try {
      last = await compile(undefined)
    } catch (error) {
      if (last === null || isAway(error)) throw error
      const stands = { ...last.revision, version: guarded ? seen : null, failure: messageOf(error) }
      last = { ...last, revision: stands, version: seen, failedAt: now() }
    }
    return last.revision
  }
  const next = (atOnce: boolean): Promise<Revision> => {
    if (!atOnce || !guarded || last === null || last.failedAt !== null) return refresh()
    // A failure belongs to the version that was read before the compile.
    return readAtOnce(last).catch(() => refresh())
  }
  return (outdated = false) => {
    isOutdated ||= outdated
    if (queued === null) {
      queued = settled.then(() => {
        queued = null
        const atOnce = isOutdated
        isOutdated = false
        return next(atOnce)
      })
      settled = queued.catch(() => undefined)
    }
    return queued
  }
}

async function readVersion(query: CatalogQuery, version: string): Promise<string | null> {
  const { rows } = await query(`select (${version})::text as version`, [])
  const seen = rows[0]?.['version']
  return typeof seen === 'string' ? seen : null
}
