import type {
  BoundStatement,
  Caller,
  ExchangeCondition,
  Exchange,
  RequestContext,
  ResultRow,
  RunExchange,
} from '../../contract/execution.ts'
import type { Concerns } from './concerns.ts'
import type { Interest } from '../../contract/live.ts'
import type { Extensions } from './extended.ts'
import { refuse } from '../protocol/failures.ts'
import type { GraphqlRequest } from '../protocol/request-and-answer.ts'
import type { Outline } from '../statements/statements.ts'
import type { Manifest } from '../../contract/manifest.ts'
import type { Engine } from '../../engine/engine.ts'

export type ExchangeContext = Pick<
  Exchange,
  'caller' | 'claimsTogether' | 'distributed' | 'leaves' | 'version' | 'privileges' | 'label'
>

/** The statements for the database, and how the answer is made of the result. */
export interface Ready extends Outline {
  readonly bound: readonly BoundStatement[]
  /** Of a subscription: changes that matter to it. */
  readonly interests?: readonly Interest[] | undefined
}

export interface ReceivedRequest {
  readonly request: GraphqlRequest
  readonly caller: Caller
  readonly context: RequestContext | undefined
  /** Only the document's reads are wanted; nothing of it runs. */
  readonly watches: boolean
}

/** One attempt to answer a request, on one engine: the state that its stages share. */
export interface RequestState<L extends Running> extends ReceivedRequest {
  readonly loaded: L
  readonly exchangeContext: ExchangeContext
  /** Runs an exchange on behalf of the request. A listed document runs only while it is listed. */
  run: RunExchange
  /** The same for a request that only reads, which a replica may answer. */
  read: RunExchange
  /** Each step of a field is a separate statement. */
  byStep: boolean
  /** The document with this request's values; null: not known yet. It names the field of a statement that failed. */
  ready: Ready | null
  rows: readonly ResultRow[]
  extensions: Extensions | null
}

export interface ServiceDatabase {
  readonly run: RunExchange
  /** For statements that only read; absent: `run`. */
  readonly read?: RunExchange
}

/** @param isFirst false for a later attempt, which compares everything instead of relying on privileges */
export function createRequestState<L extends Running>(
  { run, read = run }: ServiceDatabase,
  loaded: L,
  { request, caller, context, watches }: ReceivedRequest,
  isFirst: boolean,
): RequestState<L> {
  const { version, manifest, privileges } = loaded.engine
  const exchangeContext: ExchangeContext = {
    caller,
    claimsTogether: version !== null && manifest.readsClaims !== true,
    distributed: manifest.distributed !== undefined,
    leaves: manifest.leaves,
    version,
    privileges: isFirst ? privileges(caller.role) : undefined,
    label: context?.label,
  }
  const send: RunExchange = (exchange) => run(exchange, context)
  // No answer of a stream is older than the previous one: replicas do not serve streams.
  const reads: RunExchange = read === run || request.live === true ? send : (exchange) => read(exchange, context)
  return {
    request,
    caller,
    context,
    loaded,
    exchangeContext,
    watches,
    run: send,
    read: reads,
    byStep: false,
    ready: null,
    rows: [],
    extensions: null,
  }
}

/** Member by member: in V8 a spread with further members takes microseconds. */
export const exchangeOf = (
  { caller, claimsTogether, distributed, leaves, version, privileges, label }: ExchangeContext,
  readOnly: boolean,
  statements: readonly BoundStatement[],
  condition?: ExchangeCondition,
): Exchange => ({
  caller,
  claimsTogether,
  distributed,
  leaves,
  version,
  privileges,
  label,
  condition,
  readOnly,
  statements,
})

/** @throws Refusal for a mutation if only queries are allowed, and for a subscription outside of a stream */
export function checkMethod(
  { writes, streams }: { readonly writes: boolean; readonly streams: boolean },
  { queryOnly, live }: Pick<GraphqlRequest, 'queryOnly' | 'live'>,
): void {
  if (queryOnly && writes) throw refuse('MUTATION_BY_GET', 'Mutations are only answered by POST.')
  if (streams && live !== true)
    throw refuse(
      'STREAM_REQUIRED',
      'Subscriptions are answered as a stream: by Server-Sent Events (Accept: text/event-stream) or WebSocket.',
    )
}

/** The part of an engine that requests need once their statements are known. */
export interface Running {
  readonly engine: Pick<Engine, 'revision' | 'version' | 'privileges'> & {
    readonly manifest: Pick<Manifest, 'readsClaims' | 'distributed' | 'leaves'>
  }
  /** True while an older revision replaces one that could not be compiled. */
  readonly isFallback: boolean
  /** Present if relations have changed since it was compiled: it serves only requests that do not concern them. */
  readonly concerns?: Concerns | undefined
}

/** The only mutable cell: a request reads it once and keeps the value. */
export interface EngineCell<L extends Running> {
  /** The present engine. If no request checks the version (`engine.version` null), it is at most a second old. */
  readonly current: () => L | Promise<L>
  /**
   * The engine after `outdated` was found to be outdated.
   * @param isConcerned true for a request that needs an engine of the newest schema itself
   */
  readonly after: (outdated: L, isConcerned: boolean) => Promise<L>
  /** Looks at the database after this call began. */
  readonly look: () => Promise<L>
  /** The present engine without a look; null: none yet. */
  readonly present: () => L | null
}

/** Loads the newest revision after `before`, which is null at first; `isOutdated` if a request found it outdated. */
export type Load<L extends Running> = (before: L | null, isOutdated: boolean) => Promise<L>

/** The engine with the newest version, for requests that what changed does not concern; null: it must be compiled. */
export type Keep<L extends Running> = (outdated: L) => Promise<L | null>

export interface CellOptions<L extends Running> {
  readonly changes?: boolean
  readonly alone?: boolean
  readonly keep?: Keep<L>
}

const lookEveryMs = 1_000

/**
 * A kept engine is replaced once no change has come for so long, or after the second time, in milliseconds: no request waits for
 * it, and each compile during a migration holds up others.
 */
const [restMs, longestKeepMs] = [1_000, 10_000]

/**
 * Calls reject with the errors of loading; the previous result is kept.
 * @param options.changes whether something besides the database may change the result, so that the cell looks without a
 * reason
 * @param options.alone true: no request waits for work that another request began and that ends with it, and nothing
 * continues after a request
 * @param options.keep absent: requests wait for each newer engine
 */
export function createCell<L extends Running>(
  load: Load<L>,
  now: () => number,
  { changes = false, alone = false, keep }: CellOptions<L> = {},
): EngineCell<L> {
  let loaded: L | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  let running: Promise<L> | null = null
  let keeping: Promise<L> | null = null
  let following: { readonly timer: NodeJS.Timeout; readonly since: number } | null = null

  const refresh = (isOutdated: boolean): Promise<L> => {
    if (running !== null) return running
    lookedAt = now()
    const before = loaded
    const loading = load(before, isOutdated).then(async (made) => {
      // Others saw a later state in the meantime: what was compiled may hold there, too.
      const kept = keep === undefined || loaded === before ? null : await keep(made).catch(() => null)
      if (kept !== null) followSoon()
      return (loaded = kept ?? made)
    })
    if (alone) return loading
    running = loading.finally(() => (running = null))
    return running
  }
  const followSoon = (): void => {
    clearTimeout(following?.timer)
    const since = following?.since ?? now()
    const follow = (): void => {
      following = null
      refresh(true).catch(() => undefined)
    }
    following = { timer: setTimeout(follow, Math.min(restMs, since + longestKeepMs - now())).unref(), since }
  }
  const newest = async (outdated: L, keepIt: Keep<L>): Promise<L> => {
    const kept = await keepIt(outdated).catch(() => null)
    if (loaded !== outdated) return loaded ?? outdated
    if (kept === null) return refresh(true)
    loaded = kept
    followSoon()
    return kept
  }
  const isOld = (): boolean => now() - lookedAt >= lookEveryMs
  const current = (): L | Promise<L> => {
    const kept = loaded
    if (kept === null) return refresh(false)
    if (kept.engine.version === null && isOld()) return refresh(false).catch(() => kept)
    // Requests during the retry do not wait for a compile that is likely to fail again.
    if ((changes || kept.isFallback) && !alone && isOld()) refresh(false).catch(() => undefined)
    return kept
  }
  return {
    current,
    after: async (outdated, isConcerned) => {
      if (loaded !== null && loaded !== outdated) return loaded
      if (keep === undefined || isConcerned) return refresh(true)
      keeping ??= newest(outdated, keep).finally(() => (keeping = null))
      return keeping
    },
    look: async () => {
      await running?.catch(() => undefined)
      return refresh(false)
    },
    present: () => loaded,
  }
}
