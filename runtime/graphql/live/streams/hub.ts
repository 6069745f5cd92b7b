import type { Change, ChangeFeed, ChangeListener } from '../../../contract/live.ts'
import type { LiveObservation } from '../../../contract/observations.ts'
import { failureResponse } from '../../protocol/failures.ts'
import type { GraphqlOutcome, GraphqlRequest, GraphqlResponse } from '../../protocol/request-and-answer.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { createAlarms, type SetAlarm } from '../../../lib/timers.ts'
import { createByteBudget, type BudgetSize, type ByteBudget } from '../../../lib/byte-budget.ts'
import { pauseMs, retries } from '../../../lib/retry.ts'
import { countStream, refusalFor, streamRefusals, type StreamCounts } from './admission.ts'
import { createCounts, type Counts } from './counts.ts'
import { createInterestIndex, type InterestIndex } from './interests.ts'
import { createRuns, type RunEnd, type Runs } from './run.ts'
import type {
  AnswerRequest,
  LiveStream,
  ReadInterests,
  RunReason,
  StreamLimits,
  StreamOptions,
  StreamOwner,
  StreamSink,
} from './stream-types.ts'
import { abort, deliver, endStreams, type StreamState, type LiveWatch } from './watch.ts'
import { requestBytes, watchKey } from './watch-key.ts'

/**
 * The streams of this process (spec/graphql.md 16.2). Those that ask the same share a watch, which runs when a change comes
 * that matters to it, never twice at a time, and once more where a change came while it ran.
 */
export interface Hub {
  /** Opens a stream, which is called from then on; or the refusal. */
  readonly open: (
    request: GraphqlRequest,
    owner: StreamOwner,
    options: StreamOptions,
    sink: StreamSink,
  ) => LiveStream | GraphqlResponse
  readonly stats: () => Omit<LiveObservation, 'sockets'>
  /** Ends every stream, and lets none begin. */
  readonly stop: () => void
  /** Leaves the feed, once it is stopped. */
  readonly close: () => Promise<void>
}

export interface HubParts {
  readonly follow: (listener: ChangeListener) => ChangeFeed
  readonly read: ReadInterests
  readonly answer: AnswerRequest
  readonly limits: StreamLimits
  /** Receives how long it took from a change to its answer, in milliseconds. */
  readonly lag: (ms: number) => void
}

/** The memory of requests, and of answers. */
const requestsSize: BudgetSize = { bytes: 64 * 1_048_576, share: 16 * 1_048_576 }
const answersSize: BudgetSize = { bytes: 64 * 1_048_576, share: 16 * 1_048_576 }

/** An outage ends before the next run, and too much to do as well. */
const passing: ReadonlySet<GraphqlOutcome> = new Set(['unavailable', 'overloaded'])

/** So does what Postgres ends to let others go on: a deadlock, or a transaction that cannot be put in an order. */
const passes = ({ outcome, code }: GraphqlResponse): boolean => passing.has(outcome) || code === 'DATABASE_CONFLICT'

interface HubState extends StreamCounts {
  /** By document, operation, variables, role and claims. */
  readonly watches: Map<string, LiveWatch>
  readonly index: InterestIndex<LiveWatch>
  readonly requests: ByteBudget
  readonly runs: Runs
  readonly setAlarm: SetAlarm
  readonly counts: Counts
  isStopped: boolean
}

export function createHub({ follow, read, answer, limits, lag }: HubParts): Hub {
  const hub: HubState = {
    limits,
    watches: new Map(),
    index: createInterestIndex(),
    requests: createByteBudget(requestsSize),
    runs: { run: (watch) => runs.run(watch), waiting: () => runs.waiting() },
    setAlarm: createAlarms(() => performance.now()),
    counts: createCounts(),
    parties: new Map(),
    streams: 0,
    isStopped: false,
  }
  const { watches, index, counts } = hub
  const feed = follow({
    changed: (changes) => wakeThoseOf(hub, changes),
    unsure: (why) => {
      for (const watch of watches.values()) {
        if (why === 'schema') watch.isUnread = true
        wake(hub, watch, why)
      }
    },
  })
  const runs = createRuns({
    feed,
    read,
    answer,
    listen: index.add,
    kept: createByteBudget(answersSize),
    lag: (ms) => {
      counts.lagged(ms)
      lag(ms)
    },
    limits,
  })
  return {
    open: (request, owner, options, sink) => openStream(hub, request, owner, options, sink),
    close: feed.close,
    stats: () => ({
      streams: hub.streams,
      watches: watches.size,
      waiting: runs.waiting(),
      fault: feed.fault(),
      ...counts.stats(index.sizes()),
    }),
    stop: () => stop(hub),
  }
}

function openStream(
  hub: HubState,
  ...[request, owner, { lastId }, sink]: Parameters<Hub['open']>
): LiveStream | GraphqlResponse {
  if (hub.isStopped) return failureResponse('SERVER_STOPPING', 'The service is stopping. Try again.')
  const refused = refusalFor(hub, owner)
  const key = watchKey(request, owner.caller)
  const watch = refused === null ? (hub.watches.get(key) ?? create(hub, key, request, owner)) : null
  if (watch === null) {
    hub.counts.refused(refused ?? 'memory')
    return failureResponse('OVERLOADED', streamRefusals[refused ?? 'memory'])
  }
  const { live } = request.extensions
  const wantsPatch = isJsonObject(live) && live['patch'] === true
  const stream: StreamState = { owner, sink, wantsPatch, lastId, from: watch.runs + 1, sent: 0 }
  watch.streams.add(stream)
  countStream(hub, owner, 1)
  wake(hub, watch, 'joined')
  return {
    ready: () => {
      if (!watch.isClosed && !deliver(watch, stream)) wake(hub, watch, 'reader')
    },
    close: () => {
      if (watch.streams.delete(stream)) left(hub, watch, stream)
    },
  }
}

/** Null: there is no memory for its request. */
function create(hub: HubState, key: string, request: GraphqlRequest, owner: StreamOwner): LiveWatch | null {
  const held = hub.requests.open(owner)
  if (!held.take(requestBytes(request, owner.caller))) return null
  const { live: _, ...extensions } = request.extensions
  const watch: LiveWatch = {
    key,
    request: { ...request, extensions, live: true },
    streams: new Set(),
    held,
    runs: 0,
    answered: 0,
    begunAt: -Infinity,
    phase: 'idle',
    reason: 'joined',
    again: null,
    cancel: null,
    isUnread: true,
    revision: undefined,
    failures: 0,
    changedAt: null,
    last: null,
    context: null,
    leave: () => undefined,
    isClosed: false,
  }
  hub.watches.set(key, watch)
  return watch
}

function left(hub: HubState, watch: LiveWatch, { owner }: StreamState): void {
  countStream(hub, owner, -1)
  if (watch.streams.size === 0 && !watch.isClosed) close(hub, watch)
}

function close({ watches }: HubState, watch: LiveWatch): void {
  watch.isClosed = true
  watches.delete(watch.key)
  watch.cancel?.()
  watch.leave()
  watch.held.release()
  watch.last?.kept.release()
  abort(watch)
}

function stop(hub: HubState): void {
  hub.isStopped = true
  for (const watch of [...hub.watches.values()]) {
    const ended = [...watch.streams]
    watch.streams.clear()
    for (const stream of ended) stream.sink.stopped()
    for (const stream of ended) left(hub, watch, stream)
  }
}

function wakeThoseOf(hub: HubState, changes: readonly Change[]): void {
  const found = new Set<LiveWatch>()
  for (const change of changes) hub.counts.changed(change.relation, hub.index.find(change, found))
  const now = performance.now()
  for (const watch of found) {
    watch.changedAt ??= now
    wake(hub, watch, 'change')
  }
}

function wake(hub: HubState, watch: LiveWatch, reason: RunReason, afterMs = 0): void {
  if (watch.isClosed) return
  if (watch.phase === 'running') watch.again ??= reason
  // A change during a pause ends it.
  if (watch.phase === 'due' && watch.reason === 'retry' && watch.cancel !== null) watch.cancel()
  else if (watch.phase !== 'idle') return
  watch.phase = 'due'
  watch.reason = reason
  const at = Math.max(watch.begunAt + hub.limits.pauseMs, performance.now() + afterMs)
  if (at <= performance.now()) enqueue(hub, watch)
  else watch.cancel = hub.setAlarm(at, () => enqueue(hub, watch))
}

function enqueue(hub: HubState, watch: LiveWatch): void {
  watch.cancel = null
  void hub.runs.run(watch).then((end) => afterRun(hub, watch, end))
}

function afterRun(hub: HubState, watch: LiveWatch, end: RunEnd): void {
  watch.phase = 'idle'
  if (watch.isClosed) return
  // It begins again in its turn among slow runs.
  if (end.kind === 'stopped') return wake(hub, watch, watch.reason)
  hub.counts.ran(watch.reason, end)
  finish(hub, watch, end)
  if (watch.again !== null) wake(hub, watch, watch.again)
}

function finish(hub: HubState, watch: LiveWatch, end: RunEnd): void {
  if (end.kind === 'answered') watch.failures = 0
  if (end.kind !== 'failed') return
  const { response } = end
  const isPassing = passes(response)
  const isMeant = ({ sent, from }: StreamState): boolean => from <= watch.runs && (sent === 0 || !isPassing)
  endStreams(watch, response, isMeant).forEach((stream) => left(hub, watch, stream))
  if (watch.isClosed) return
  if (!isPassing) return wake(hub, watch, 'joined')
  watch.failures += 1
  const pause = pauseMs(retries.liveRun, watch.failures)
  // Those that fail together are not tried together.
  wake(hub, watch, 'retry', pause * (0.5 + Math.random() / 2))
}
