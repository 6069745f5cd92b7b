import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangeFeed, ChangeListener, LiveRelation } from '../../../contract/live.ts'
import { objectId } from '../../../contract/facts.ts'
import type { ObjectId } from '../../../contract/manifest.ts'
import { classifyConnecting } from '../../../db/failures/classify.ts'
import { isAway } from '../../../db/failures/failures.ts'
import { pauseMs, retries } from '../../../lib/retry.ts'
import { within } from '../../../lib/timers.ts'
import { createOpenFeedConnection, FeedFault } from './connection.ts'
import type { WatchedRelation } from './gates.ts'
import { openFeedSession, type FeedPace, type FeedSession, type SessionParts } from './session.ts'

export interface ChangeFeedOptions {
  /** Leads to the primary and around poolers, as the login role. */
  readonly url: string
  readonly listener: ChangeListener
  readonly pace?: Partial<FeedPace>
}

const usualPace: FeedPace = { cycleMs: 8, quietCycles: 4, compareMs: 5_000, keepMs: 10_000, lingerMs: 60_000 }

/** A relation with what only the feed needs to know. */
interface Entry extends WatchedRelation {
  columns: ReadonlySet<string>
  /** Whether listeners received a change of it: then they must also learn of a gap. */
  isReported: boolean
  lingering: NodeJS.Timeout | null
}

const away = (): Error => new Error('the database is away')

const notReported = ({ schema, name }: LiveRelation): Error =>
  new Error(`the changes of ${JSON.stringify(schema)}.${JSON.stringify(name)} are not reported`)

/** A feed: the watched relations, and the session that reports their changes. */
interface FeedState extends Omit<SessionParts, 'watched'> {
  readonly entries: Map<ObjectId, Entry>
  readonly closing: AbortController
  session: FeedSession | null
  /** The next attempt to connect, which may begin after a pause. */
  starting: Promise<FeedSession> | null
  running: Promise<void> | null
  /** Why there is no session: a FeedFault, or the database is away. */
  fault: Error | null
}

/** Opens nothing yet: two connections are made when something is watched first, and kept until it is closed. */
export const openChangeFeed = ({ url, listener, pace }: ChangeFeedOptions): ChangeFeed => {
  const feed: FeedState = {
    open: createOpenFeedConnection(url),
    listener,
    pace: { ...usualPace, ...pace },
    entries: new Map(),
    closing: new AbortController(),
    session: null,
    starting: null,
    running: null,
    fault: null,
  }
  return {
    watch: (relation, columns) => watch(feed, relation, columns),
    unwatch: (relation) => {
      const entry = feed.entries.get(objectId(relation.schema, relation.name))
      if (entry === undefined || entry.lingering !== null) return
      entry.lingering = setTimeout(() => forget(feed, entry), feed.pace.lingerMs).unref()
    },
    fault: () => feed.fault?.message ?? null,
    close: async () => {
      feed.closing.abort()
      for (const { lingering } of feed.entries.values()) if (lingering !== null) clearTimeout(lingering)
      feed.session?.end()
      await feed.running
    },
  }
}

const watch = async (feed: FeedState, relation: LiveRelation, columns: readonly string[]): Promise<void> => {
  const { entries } = feed
  const entry = entryOf(feed, relation)
  if (entry.lingering !== null) clearTimeout(entry.lingering)
  entry.lingering = null
  const isKnown = entry.isReported && feed.session !== null && columns.every((column) => entry.columns.has(column))
  if (isKnown && entry.roots.size > 0) return
  entry.columns = new Set([...entry.columns, ...columns])
  try {
    await openGate(feed, entry)
  } catch (error) {
    if (!entry.isReported) entries.delete(entry.id)
    throw error
  }
  entry.isReported = true
  entries.set(entry.id, entry)
  if (entry.roots.size > 0) return
  entries.delete(entry.id)
  throw notReported(relation)
}

/** Milliseconds in which the end of a session follows the failure of its statement. */
const endedMs = 1_000

/** Once more where the session has ended: a new stream need not know of it. */
const openGate = async (feed: FeedState, entry: Entry): Promise<void> => {
  const session = await connected(feed)
  try {
    await session.gates.open([entry])
  } catch (error) {
    // A session that goes on has refused the gate.
    if (!isAway(error) || !(await within(endedMs, session.ended))) throw error
    const { gates } = await connected(feed)
    await gates.open([entry])
  }
}

const entryOf = ({ entries }: FeedState, relation: LiveRelation): Entry => {
  const id = objectId(relation.schema, relation.name)
  const entry = entries.get(id) ?? {
    id,
    relation,
    columns: new Set<string>(),
    roots: new Set<number>(),
    isReported: false,
    lingering: null,
  }
  entries.set(id, entry)
  return entry
}

const forget = (feed: FeedState, entry: Entry): void => {
  const { entries } = feed
  entries.delete(entry.id)
  const others = new Set([...entries.values()].flatMap(({ roots }) => [...roots]))
  const roots = [...entry.roots].filter((root) => !others.has(root))
  // If the session fails first, pruning closes its gates.
  if (roots.length > 0) feed.session?.gates.close(roots).catch(() => feed.session?.end())
}

const connected = async (feed: FeedState): Promise<FeedSession> => {
  if (feed.closing.signal.aborted) throw new Error('the feed of changes is closed')
  if (feed.session !== null) return feed.session
  feed.running ??= run(feed)
  if (feed.starting !== null) return feed.starting
  throw feed.fault instanceof FeedFault ? feed.fault : classifyConnecting(feed.fault ?? away())
}

const run = async (feed: FeedState): Promise<void> => {
  const { signal } = feed.closing
  let restMs = 0
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      feed.starting = sleep(restMs, undefined, { signal, ref: false }).then(() => start(feed))
      const made = await feed.starting
      attempt = 0
      await made.ended
    } catch (error) {
      feed.fault = error instanceof FeedFault ? error : away()
    }
    feed.session = null
    feed.fault ??= away()
    if (signal.aborted) return
    // Its callers have received its failure; later ones wait for the next.
    feed.starting = null
    if (feed.entries.size === 0) break
    restMs = pauseMs(retries.liveChanges, attempt + 1)
  }
  feed.running = null
}

const start = async (feed: FeedState): Promise<FeedSession> => {
  const { open, listener, pace, entries } = feed
  const reported = [...entries.values()].filter(({ isReported }) => isReported)
  const made = await openFeedSession({ open, listener, pace, watched: () => entries.values() })
  try {
    await made.gates.open(reported)
  } catch (error) {
    made.end()
    throw error
  }
  // It was closed while it connected.
  if (feed.closing.signal.aborted) made.end()
  feed.session = made
  feed.fault = null
  if (reported.length > 0) listener.unsure('outage')
  return made
}
