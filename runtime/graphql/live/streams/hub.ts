import type { Change, ChangeFeed, ChangeListener } from '../../../contract/live.ts'
import type { LiveObservation } from '../../../contract/observations.ts'
import { failureResponse } from '../../protocol/failures.ts'
import type { GraphqlOutcome, GraphqlRequest, GraphqlResponse } from '../../protocol/request-and-answer.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { createAlarms } from '../../../lib/alarms.ts'
import { createByteBudget, type BudgetSize } from '../../../lib/byte-budget.ts'
import { pauseMs, retries } from '../../../lib/retry.ts'
import { createStreamAdmission, streamRefusals } from './admission.ts'
import { createCounts } from './counts.ts'
import { createInterestIndex } from './interests.ts'
import { createRunQueue } from './run-queue.ts'
import { createRun, type RunEnd } from './run.ts'
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
import { deliver, endStreams, type StreamState, type LiveWatch } from './watch.ts'
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
  /** Makes the feed, which tells this listener. */
  readonly follow: (listener: ChangeListener) => ChangeFeed
  readonly read: ReadInterests
  readonly answer: AnswerRequest
  readonly limits: StreamLimits
  /** Receives how long it took from a change to its answer, in milliseconds. */
  readonly lag: (ms: number) => void
}

/** What is kept of requests, and of answers. */
const requestsSize: BudgetSize = { bytes: 64 * 1_048_576, share: 16 * 1_048_576 }
const answersSize: BudgetSize = { bytes: 64 * 1_048_576, share: 16 * 1_048_576 }

/** An outage ends before the next run, and too much to do as well. */
const passing: ReadonlySet<GraphqlOutcome> = new Set(['unavailable', 'overloaded'])

/** So does what Postgres ends to let others go on: a deadlock, or a transaction that cannot be put in an order. */
const passes = ({ outcome, code }: GraphqlResponse): boolean => passing.has(outcome) || code === 'DATABASE_CONFLICT'

export function createHub({ follow, read, answer, limits, lag }: HubParts): Hub {
  const watches = new Map<string, LiveWatch>()
  const index = createInterestIndex<LiveWatch>()
  const requests = createByteBudget(requestsSize)
  const queue = createRunQueue(limits.runs)
  const setAlarm = createAlarms(() => performance.now())
  const counts = createCounts()
  const admission = createStreamAdmission(limits)
  let isStopped = false

  const listener: ChangeListener = {
    changed: (changes) => wakeThoseOf(changes),
    unsure: (why) => {
      for (const watch of watches.values()) {
        if (why === 'schema') watch.isUnread = true
        wake(watch, why)
      }
    },
  }
  const feed = follow(listener)
  const run = createRun({
    feed,
    read,
    answer,
    listen: index.add,
    kept: createByteBudget(answersSize),
    lag: (ms) => {
      counts.lagged(ms)
      lag(ms)
    },
    runMs: limits.runMs,
    watchMs: limits.watchMs,
  })

  const wakeThoseOf = (changes: readonly Change[]): void => {
    const found = new Set<LiveWatch>()
    for (const change of changes) counts.told(change.relation, index.find(change, found))
    const now = performance.now()
    for (const watch of found) {
      watch.changedAt ??= now
      wake(watch, 'change')
    }
  }
  const wake = (watch: LiveWatch, reason: RunReason, afterMs = 0): void => {
    if (watch.isClosed) return
    if (watch.phase === 'running') watch.again ??= reason
    // What changes during a pause makes it end.
    if (watch.phase === 'due' && watch.reason === 'retry' && watch.cancel !== null) watch.cancel()
    else if (watch.phase !== 'idle') return
    watch.phase = 'due'
    watch.reason = reason
    const at = Math.max(watch.begunAt + limits.pauseMs, performance.now() + afterMs)
    if (at <= performance.now()) enqueue(watch)
    else watch.cancel = setAlarm(at, () => enqueue(watch))
  }
  const enqueue = (watch: LiveWatch): void => {
    watch.cancel = null
    const [first] = watch.streams
    if (first !== undefined) queue.add(first.owner.party, () => runNow(watch))
  }
  const runNow = async (watch: LiveWatch): Promise<void> => {
    if (watch.isClosed) return
    watch.phase = 'running'
    watch.again = null
    watch.runs += 1
    watch.begunAt = performance.now()
    const end = await run(watch)
    watch.phase = 'idle'
    if (watch.isClosed) return
    counts.ran(watch.reason, end)
    finish(watch, end)
    if (watch.again !== null) wake(watch, watch.again)
  }
  /** What the end of a run means for its streams. */
  const finish = (watch: LiveWatch, end: RunEnd): void => {
    if (end.kind === 'answered') watch.failures = 0
    if (end.kind !== 'failed') return
    const { response } = end
    const isPassing = passes(response)
    const isMeant = ({ sent, from }: StreamState): boolean => from <= watch.runs && (sent === 0 || !isPassing)
    endStreams(watch, response, isMeant).forEach((stream) => left(watch, stream))
    if (watch.isClosed) return
    if (!isPassing) return wake(watch, 'joined')
    watch.failures += 1
    const pause = pauseMs(retries.liveRun, watch.failures)
    // Those that fail together are not tried together.
    wake(watch, 'retry', pause * (0.5 + Math.random() / 2))
  }

  const create = (key: string, request: GraphqlRequest, { caller, party }: StreamOwner): LiveWatch | null => {
    const held = requests.open(party)
    if (!held.take(requestBytes(request, caller))) return null
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
    watches.set(key, watch)
    return watch
  }
  const left = (watch: LiveWatch, { owner }: StreamState): void => {
    admission.left(owner)
    if (watch.streams.size === 0 && !watch.isClosed) close(watch)
  }
  const close = (watch: LiveWatch): void => {
    watch.isClosed = true
    watches.delete(watch.key)
    watch.cancel?.()
    watch.leave()
    watch.held.release()
    watch.last?.kept.release()
    if (watch.context === null) return
    watch.context.gone = true
    watch.context.onGone?.()
  }
  return {
    open: (request, owner, { lastId }, sink) => {
      if (isStopped) return failureResponse('SERVER_STOPPING', 'The service is stopping. Try again.')
      const refused = admission.refusalFor(owner)
      const key = watchKey(request, owner.caller)
      const watch = refused === null ? (watches.get(key) ?? create(key, request, owner)) : null
      if (watch === null) {
        counts.refused(refused ?? 'memory')
        return failureResponse('OVERLOADED', streamRefusals[refused ?? 'memory'])
      }
      const stream: StreamState = {
        owner,
        sink,
        wantsPatch: wantsPatch(request),
        lastId,
        from: watch.runs + 1,
        sent: 0,
      }
      watch.streams.add(stream)
      admission.came(owner)
      wake(watch, 'joined')
      return {
        ready: () => {
          if (!watch.isClosed && !deliver(watch, stream)) wake(watch, 'reader')
        },
        close: () => {
          if (watch.streams.delete(stream)) left(watch, stream)
        },
      }
    },
    close: feed.close,
    stats: () => ({
      streams: admission.streams(),
      watches: watches.size,
      waiting: queue.size(),
      fault: feed.fault(),
      ...counts.stats(index.sizes()),
    }),
    stop: () => {
      isStopped = true
      for (const watch of [...watches.values()]) {
        const ended = [...watch.streams]
        watch.streams.clear()
        for (const stream of ended) stream.sink.stopped()
        for (const stream of ended) left(watch, stream)
      }
    },
  }
}

function wantsPatch({ extensions: { live } }: GraphqlRequest): boolean {
  return isJsonObject(live) && live['patch'] === true
}
