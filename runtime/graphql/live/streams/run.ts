import type { Timeline } from '../../../contract/execution.ts'
import type { ChangeFeed, Interest } from '../../../contract/live.ts'
import { DatabaseFailure } from '../../../db/failures/failures.ts'
import { failureResponse } from '../../protocol/failures.ts'
import type { GraphqlResponse } from '../../protocol/request-and-answer.ts'
import { bodyBytes } from '../../../http/bodies.ts'
import { newContext, newTimeline } from '../../../http/request-context.ts'
import type { ByteBudget } from '../../../lib/byte-budget.ts'
import type { Speed } from '../../../lib/sharing/places.ts'
import { createScheduler, type Scheduler } from '../../../lib/sharing/scheduler.ts'
import { sha256Hex } from '../../../lib/text.ts'
import { within } from '../../../lib/timers.ts'
import { jsonPatch } from './patch.ts'
import { createRelations, type HeldRelations } from './relations.ts'
import type { AnswerRequest, SharedAnswer, ReadInterests, StreamLimits, StreamOwner } from './stream-types.ts'
import { abort, deliver, type LiveWatch } from './watch.ts'

/** A run of a watch: reads its document if necessary, executes it, and sends the answer to streams without it. */

export interface RunParts {
  readonly feed: Pick<ChangeFeed, 'watch' | 'unwatch'>
  readonly read: ReadInterests
  readonly answer: AnswerRequest
  /** Registers a watch for changes; the result removes it. */
  readonly listen: (watch: LiveWatch, interests: readonly Interest[]) => () => void
  /** The memory for kept answers. */
  readonly kept: ByteBudget
  /** Receives the delay from the first change to its answer, in milliseconds. */
  readonly lag: (ms: number) => void
  readonly limits: Pick<StreamLimits, 'runs' | 'runMs' | 'watchMs'>
}

export type RunEnd =
  | { readonly kind: 'answered'; readonly changed: boolean }
  | { readonly kind: 'failed'; readonly response: GraphqlResponse }
  /** Other slow runs have all places of slow ones. */
  | { readonly kind: 'stopped' }
  /** There are no streams left. */
  | { readonly kind: 'left' }

/** The runs of all watches, which share places (docs/sharing.md). */
export interface Runs {
  readonly run: (watch: LiveWatch) => Promise<RunEnd>
  /** The number of runs that wait for a place. */
  readonly waiting: () => number
}

/**
 * A watch is quick after one quick run, and on a busy machine not slow after one slow run. Its next change may come much
 * later.
 */
const speed: Speed = { slowMs: 100, mostCredit: 10, quickFrom: 1, price: 2, keptMs: Infinity }

/** A run takes the share of places and connections that its first stream's caller has. */
interface Turn {
  readonly parts: RunParts
  readonly hold: (interests: readonly Interest[]) => HeldRelations
  /** Places for reading documents. */
  readonly reads: Scheduler
  /** Places for their execution. */
  readonly executions: Scheduler
  readonly watch: LiveWatch
  readonly owner: StreamOwner
}

export function createRuns(parts: RunParts): Runs {
  const size = parts.limits.runs
  const [reads, executions] = [createScheduler({ size }), createScheduler({ size, speed, rests: 3 })]
  const hold = createRelations(parts.feed)
  return {
    run: async (watch) => {
      const [first] = watch.streams
      if (first === undefined) return { kind: 'left' }
      const turn = { parts, hold, reads, executions, watch, owner: first.owner }
      const refusal = watch.isUnread ? await readUntilReported(turn) : null
      if (watch.isClosed) return { kind: 'left' }
      return refusal === null ? executeInTurn(turn) : { kind: 'failed', response: refusal }
    },
    waiting: () => reads.waiting() + executions.waiting(),
  }
}

/** The next stream that joins waits for another run. */
function begin(watch: LiveWatch): void {
  watch.phase = 'running'
  watch.runs += 1
  watch.begunAt = performance.now()
  watch.again = null
}

/** Only the time with a connection counts for the pace of a run. */
function executeInTurn({ parts, executions, watch, owner }: Turn): Promise<RunEnd> {
  const timeline = newTimeline(0)
  let isStopped = false
  const ownMs = (): number =>
    timeline.acquired === 0 ? 0 : (timeline.answered || performance.now()) - timeline.acquired
  const stop = (): void => {
    if (ownMs() <= speed.slowMs) return
    isStopped = true
    abort(watch)
  }
  const work = async (): Promise<RunEnd> => {
    if (watch.isClosed) return { kind: 'left' }
    begin(watch)
    // The schema changed while the run waited for its place.
    if (watch.isUnread) watch.again = 'schema'
    const end = await execute(parts, watch, owner, timeline)
    return isStopped && end.kind === 'failed' ? { kind: 'stopped' } : end
  }
  watch.phase = 'due'
  const { party, kind } = owner
  return executions.run({ party, kind, work: watch.key }, work, { stop, ownMs })
}

async function execute(
  { answer, kept, lag, limits }: RunParts,
  watch: LiveWatch,
  owner: StreamOwner,
  timeline: Timeline,
): Promise<RunEnd> {
  const context = newContext(owner, limits.runMs, timeline)
  watch.context = context
  const { changedAt } = watch
  watch.changedAt = null
  try {
    const response = await answer(watch.request, owner.caller, context)
    if (watch.isClosed) return { kind: 'left' }
    if (response.outcome !== 'ok') return { kind: 'failed', response }
    if (response.revision !== watch.revision) readLater(watch)
    const changed = take(watch, bodyBytes(response.body), kept)
    watch.answered = watch.runs
    for (const stream of watch.streams) deliver(watch, stream)
    keep(watch)
    if (changedAt !== null && changed) lag(performance.now() - changedAt)
    return { kind: 'answered', changed }
  } finally {
    watch.context = null
    // Its answer is still missing.
    if (watch.answered !== watch.runs) watch.changedAt = changedAt ?? watch.changedAt
  }
}

/** Its document may have other reads in the schema of its answer, whose changes were not reported. */
function readLater(watch: LiveWatch): void {
  watch.isUnread = true
  watch.again ??= 'schema'
}

const tooLate = failureResponse('DATABASE_UNAVAILABLE', 'Changes are not reported in time.')

/** A relation without reports may have been renamed: the document is read again while it belongs to another schema. */
async function readUntilReported(turn: Turn): Promise<GraphqlResponse | null> {
  const { watch } = turn
  for (;;) {
    const before = watch.revision
    const refusal = await readAgain(turn)
    if (refusal?.code !== 'NOT_LIVE' || watch.isClosed || watch.revision === before) return refusal
  }
}

/**
 * The watch listens before the feed is asked, so that no change is missed in between, and waits for the feed without a
 * place. Null: the document may run.
 */
async function readAgain(turn: Turn): Promise<GraphqlResponse | null> {
  const { parts, hold, watch } = turn
  const found = await readInTurn(turn)
  if (watch.isClosed) return null
  if ('outcome' in found) {
    watch.isUnread = true
    return found
  }
  watch.revision = found.revision
  const held = hold(found.interests)
  const leaveIndex = parts.listen(watch, found.interests)
  const leaveBefore = watch.leave
  const leaveNew = (): void => {
    leaveIndex()
    held.release()
  }
  watch.leave = () => {
    leaveBefore()
    leaveNew()
  }
  const refusal = await within(parts.limits.watchMs, held.watched).then(
    (isInTime) => (isInTime ? null : tooLate),
    failureOf,
  )
  if (watch.isClosed) return null
  if (refusal === null) {
    leaveBefore()
    watch.leave = leaveNew
    return null
  }
  // The next run reads it again.
  watch.isUnread = true
  leaveNew()
  watch.leave = leaveBefore
  return refusal
}

const readInTurn = ({ parts, reads, watch, owner }: Turn): ReturnType<ReadInterests> =>
  reads.run(owner, async () => {
    if (watch.isClosed) return tooLate
    begin(watch)
    watch.isUnread = false
    const context = newContext(owner, parts.limits.runMs)
    watch.context = context
    return parts.read(watch.request, owner.caller, context)
  })

/** Messages of the feed name tables, and failures of our own statements do not concern the caller. */
const failureOf = (error: unknown): GraphqlResponse => {
  if (!(error instanceof DatabaseFailure))
    return failureResponse('NOT_LIVE', 'Changes of the tables that it reads are not reported.')
  return error.kind === 'refused' ? tooLate : failureResponse('DATABASE_UNAVAILABLE', error.message)
}

/** Stores the last answer. Returns whether it differs from the previous one. */
function take(watch: LiveWatch, body: Buffer, kept: ByteBudget): boolean {
  const { last } = watch
  if (last?.answer?.body.equals(body) === true) return false
  const id = sha256Hex(body)
  if (last?.id === id) {
    last.answer = { id, body }
    return false
  }
  last?.kept.release()
  watch.last = {
    version: (last?.version ?? 0) + 1,
    id,
    answer: { id, body },
    patch: patchFor(watch, id, body),
    kept: kept.open(watch.streams.values().next().value?.owner ?? { party: '' }),
    isKept: false,
  }
  return true
}

function patchFor({ streams, last }: LiveWatch, id: string, body: Buffer): SharedAnswer | null {
  if (last === null || last.answer === null) return null
  if (![...streams].some(({ wantsPatch }) => wantsPatch)) return null
  const patch = jsonPatch(last.answer.body.toString(), body.toString(), body.length)
  return patch === null ? null : { id, body: Buffer.from(patch) }
}

/** An answer without room is dropped once it was sent: a stream that was not ready for it causes another run. */
function keep({ last }: LiveWatch): void {
  if (last === null || last.answer === null || last.isKept) return
  last.isKept = last.kept.take(last.answer.body.length + (last.patch?.body.length ?? 0))
  if (!last.isKept) last.answer = null
}
