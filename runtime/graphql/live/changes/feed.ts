import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangeFeed, ChangeListener, LiveRelation } from '../../../contract/live.ts'
import { objectId } from '../../../contract/object-id.ts'
import type { ObjectId } from '../../../contract/manifest.ts'
import { classifyConnecting } from '../../../db/failures/classify.ts'
import { pauseMs, retries } from '../../../lib/retry.ts'
import { createOpenFeedConnection, FeedFault } from './connection.ts'
import type { WatchedRelation } from './gates.ts'
import { openFeedSession, type FeedPace, type FeedSession } from './session.ts'

export interface ChangeFeedOptions {
  /** Leads to the primary and around poolers, as the login role. */
  readonly url: string
  readonly listener: ChangeListener
  readonly connectTimeoutMs?: number
  readonly pace?: Partial<FeedPace>
}

const usualPace: FeedPace = { cycleMs: 8, quietCycles: 4, compareMs: 5_000, keepMs: 10_000, lingerMs: 60_000 }

/** A relation with what only the feed needs to know. */
interface Entry extends WatchedRelation {
  columns: ReadonlySet<string>
  /** It was told about, so that a gap has to be told, too. */
  isTold: boolean
  lingering: NodeJS.Timeout | null
}

const away = (): Error => new Error('the database is away')

const untold = ({ schema, name }: LiveRelation): Error =>
  new Error(`the changes of ${JSON.stringify(schema)}.${JSON.stringify(name)} are not told`)

/** Opens nothing yet: two connections are made when something is watched first, and kept until it is closed. */
export const openChangeFeed = ({ url, listener, connectTimeoutMs, pace: given }: ChangeFeedOptions): ChangeFeed => {
  const pace = { ...usualPace, ...given }
  const open = createOpenFeedConnection(url, connectTimeoutMs)
  const entries = new Map<ObjectId, Entry>()
  const closing = new AbortController()
  let session: FeedSession | null = null
  /** The attempt to connect that is under way. */
  let starting: Promise<FeedSession> | null = null
  let running: Promise<void> | null = null
  /** Why there is no session: a FeedFault, or the database is away. */
  let fault: Error | null = null

  const start = async (): Promise<FeedSession> => {
    const told = [...entries.values()].filter(({ isTold }) => isTold)
    const made = await openFeedSession({ open, listener, pace, watched: () => entries.values() })
    try {
      await made.gates.open(told)
    } catch (error) {
      made.end()
      throw error
    }
    // It was closed while it connected.
    if (closing.signal.aborted) made.end()
    session = made
    fault = null
    if (told.length > 0) listener.unsure('outage')
    return made
  }
  const run = async (): Promise<void> => {
    for (let attempt = 1; !closing.signal.aborted; attempt += 1) {
      try {
        starting = start()
        const made = await starting
        attempt = 0
        await made.ended
      } catch (error) {
        fault = error instanceof FeedFault ? error : away()
      }
      session = null
      fault ??= away()
      if (closing.signal.aborted) return
      // Those who wait for this attempt have been told that it failed.
      starting = null
      if (entries.size === 0) break
      await sleep(pauseMs(retries.liveChanges, attempt + 1), undefined, { signal: closing.signal, ref: false }).catch(
        () => undefined,
      )
    }
    running = null
  }
  const connected = async (): Promise<FeedSession> => {
    if (closing.signal.aborted) throw new Error('the feed of changes is closed')
    if (session !== null) return session
    running ??= run()
    if (starting === null) throw fault instanceof FeedFault ? fault : classifyConnecting(fault ?? away())
    return starting
  }
  const entryOf = (relation: LiveRelation): Entry => {
    const id = objectId(relation.schema, relation.name)
    const entry = entries.get(id) ?? {
      id,
      relation,
      columns: new Set<string>(),
      roots: new Set<number>(),
      isTold: false,
      lingering: null,
    }
    entries.set(id, entry)
    return entry
  }
  const forget = (entry: Entry): void => {
    entries.delete(entry.id)
    const others = new Set([...entries.values()].flatMap(({ roots }) => [...roots]))
    const roots = [...entry.roots].filter((root) => !others.has(root))
    // A session that fails meanwhile leaves its gates to those who prune.
    if (roots.length > 0) session?.gates.close(roots).catch(() => session?.end())
  }

  return {
    watch: async (relation, columns) => {
      const entry = entryOf(relation)
      if (entry.lingering !== null) clearTimeout(entry.lingering)
      entry.lingering = null
      const isKnown = entry.isTold && session !== null && columns.every((column) => entry.columns.has(column))
      if (isKnown && entry.roots.size > 0) return
      entry.columns = new Set([...entry.columns, ...columns])
      try {
        const { gates } = await connected()
        await gates.open([entry])
      } catch (error) {
        if (!entry.isTold) entries.delete(entry.id)
        throw error
      }
      entry.isTold = true
      entries.set(entry.id, entry)
      if (entry.roots.size > 0) return
      entries.delete(entry.id)
      throw untold(relation)
    },
    unwatch: (relation) => {
      const entry = entries.get(objectId(relation.schema, relation.name))
      if (entry === undefined || entry.lingering !== null) return
      entry.lingering = setTimeout(() => forget(entry), pace.lingerMs).unref()
    },
    fault: () => fault?.message ?? null,
    close: async () => {
      closing.abort()
      for (const { lingering } of entries.values()) if (lingering !== null) clearTimeout(lingering)
      session?.end()
      await running
    },
  }
}
