import type { Revision, RevisionSource } from '../../contract/artifact.ts'
import { reasonOf } from '../../db/failures/failures.ts'
import type { Log } from '../../settings/log/events.ts'

/** A source of revisions whose results go to the log and to the health report. */
export interface WatchedSource {
  readonly source: RevisionSource
  /** The id of the last revision. */
  readonly revision: () => string | null
  /** When the last attempt failed; null if it succeeded. */
  readonly failedAt: () => string | null
}

interface WatchOptions {
  readonly log: Log
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
}

export function watchSource(source: RevisionSource, { log, now }: WatchOptions): WatchedSource {
  let revision: string | null = null
  let failedAt: string | null = null
  let reported: string | null = null
  const noteFailure = ({ failure, version }: Revision): void => {
    const failing = failure === undefined ? null : JSON.stringify([version, failure])
    if (failure === undefined) failedAt = null
    else if (failing !== reported) {
      failedAt = new Date(now()).toISOString()
      log({ kind: 'revision-failed', reason: failure })
    }
    reported = failing
  }
  return {
    source: async (isOutdated) => {
      const started = now()
      try {
        const made = await source(isOutdated)
        if (made.id !== revision) log({ kind: 'revision-ready', revision: made.id, ms: now() - started })
        revision = made.id
        noteFailure(made)
        return made
      } catch (error) {
        failedAt = new Date(now()).toISOString()
        if (revision !== null) log({ kind: 'revision-failed', reason: reasonOf(error) })
        throw error
      }
    },
    revision: () => revision,
    failedAt: () => failedAt,
  }
}

/** A source that returns a revision that was just made, or is being made, and asks the next time. */
export function startingWith(first: Revision | Promise<Revision>, source: RevisionSource): RevisionSource {
  let waiting: typeof first | null = first
  return async (isOutdated) => {
    const revision = waiting
    waiting = null
    return revision ?? source(isOutdated)
  }
}

export function begun(source: RevisionSource): RevisionSource {
  const first = source()
  // The caller gets the rejection.
  first.catch(() => undefined)
  return startingWith(first, source)
}
