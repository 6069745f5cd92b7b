/**
 * The advisory locks, which belong to one database, and the channels by which writers, their triggers and the readers
 * of changes communicate (docs/live.md).
 */

/** Any number of its own; the second key of each lock is one of the following. */
const own = 1_667_328_371

/** Its second key is the oid of a relation: a process that watches it holds the lock shared for its session. */
export const watchLocks = own + 1

/** Held by the leader while it sleeps; a writer that gets it shared need not notify the leader. */
export const armedLock = `${own}, 1`

/** Held by the leader as long as it lives. */
export const leaderLock = `${own}, 2`

/** Held while a gate is set. */
export const gateLock = `${own}, 3`

/** Held by a transaction whose changes of the schema are no longer followed one by one; shared by those that make a table live. */
export const restingLock = `${own}, 4`

/** The view that the leader locks, and that those who would lead next wait for. A view has no rows that age. */
export const leaderView = 'catalograph.live_leader'

/** Wakes the leader. */
export const wakeChannel = 'catalograph_live_wake'

/** Notifies the other processes of changes. */
export const foundChannel = 'catalograph_live_found'

/** How many distinct values of a column a change names; of more it names none. */
export const mostValues = 300

/** The longest value that a change names, in bytes: of a column with a longer one it names none. */
export const longestValue = 500

/** Values of `relation` for other changes: of the schema, or of the leader. */
export const noRelation = { schema: 0, leader: 1 } as const
