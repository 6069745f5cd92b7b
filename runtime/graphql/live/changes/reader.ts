import type { Query } from '../../../db/connect/session.ts'
import { readChanges, type ChangeReading, type Snapshot } from './read-changes.ts'

/** Reads from snapshot to snapshot, one statement at a time. */
export interface Reader {
  /** Resolves with whether there were changes; a read that has not begun serves all callers until then. */
  readonly readOnce: () => Promise<boolean>
  /** The same, and whether roles are unchanged. */
  readonly compare: () => Promise<boolean>
}

interface ReaderParts {
  readonly query: Query
  readonly first: Snapshot
  /** Whether to notify the other processes. */
  readonly notifies: () => boolean
  /** @param isOtherRoles memberships or attributes of roles changed */
  readonly take: (reading: ChangeReading, isOtherRoles: boolean) => boolean
}

export const createReader = ({ query, first, notifies, take }: ReaderParts): Reader => {
  let { snapshot, roles } = first
  let last: Promise<unknown> = Promise.resolve()
  let waiting: Promise<boolean> | null = null
  const read = async (withRoles: boolean): Promise<boolean> => {
    const reading = await readChanges(query, { since: snapshot, notify: notifies(), roles: withRoles })
    const isOther = reading.roles !== null && reading.roles !== roles
    snapshot = reading.snapshot
    roles = reading.roles ?? roles
    return take(reading, isOther)
  }
  const inTurn = (work: () => Promise<boolean>): Promise<boolean> => {
    const next = last.then(work)
    // The caller gets its failure.
    last = next.catch(() => undefined)
    return next
  }
  return {
    readOnce: () => {
      waiting ??= inTurn(() => {
        waiting = null
        return read(false)
      })
      return waiting
    },
    compare: () => inTurn(() => read(true)),
  }
}
