import type { RequestContext } from '../../../contract/execution.ts'
import type { ChangeFeed, Interest } from '../../../contract/live.ts'
import { DatabaseFailure } from '../../../db/failures/failures.ts'
import { failureResponse } from '../../protocol/failures.ts'
import type { GraphqlResponse } from '../../protocol/request-and-answer.ts'
import { bodyBytes } from '../../../http/bodies.ts'
import { newContext } from '../../../http/request-context.ts'
import type { ByteBudget } from '../../../lib/byte-budget.ts'
import { sha256Hex } from '../../../lib/text.ts'
import { within } from '../../../lib/timers.ts'
import { jsonPatch } from './patch.ts'
import { createRelations, type HeldRelations } from './relations.ts'
import type { AnswerRequest, SharedAnswer, ReadInterests } from './stream-types.ts'
import { deliver, type StreamState, type LiveWatch } from './watch.ts'

/** One run of a watch: reads its document if necessary, executes it, and sends the answer to streams without it. */

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
  /** The time limit of a run, in milliseconds; 0: none. */
  readonly runMs: number
  /** The time limit for the feed to watch a document's relations, in milliseconds. */
  readonly watchMs: number
}

export type RunEnd =
  | { readonly kind: 'answered'; readonly changed: boolean }
  | { readonly kind: 'failed'; readonly response: GraphqlResponse }
  /** There are no streams left. */
  | { readonly kind: 'left' }

export type Run = (watch: LiveWatch) => Promise<RunEnd>

export function createRun(parts: RunParts): Run {
  const hold = createRelations(parts.feed)
  return async (watch) => {
    const [first] = watch.streams
    if (first === undefined) return { kind: 'left' }
    // A run takes the share of connections that its first stream's caller has.
    const context = newContext(first.owner, parts.runMs)
    watch.context = context
    const { changedAt } = watch
    watch.changedAt = null
    const began = performance.now()
    try {
      const refusal = watch.isUnread ? await readUntilReported(parts, hold, watch, first, context) : null
      watch.readMs = performance.now() - began
      if (watch.isClosed) return { kind: 'left' }
      if (refusal !== null) return { kind: 'failed', response: refusal }
      const response = await parts.answer(watch.request, first.owner.caller, context)
      if (watch.isClosed) return { kind: 'left' }
      if (response.outcome !== 'ok') return { kind: 'failed', response }
      if (response.revision !== watch.revision) readLater(watch)
      const changed = take(watch, bodyBytes(response.body), parts.kept)
      watch.answered = watch.runs
      for (const stream of watch.streams) deliver(watch, stream)
      keep(watch)
      if (changedAt !== null && changed) parts.lag(performance.now() - changedAt)
      return { kind: 'answered', changed }
    } finally {
      watch.context = null
      // Its answer is still missing.
      if (watch.answered !== watch.runs) watch.changedAt = changedAt ?? watch.changedAt
    }
  }
}

/** Its document may have other reads in the schema of its answer, whose changes were not reported. */
function readLater(watch: LiveWatch): void {
  watch.isUnread = true
  watch.again ??= 'schema'
}

/** A relation without reports may have been renamed: the document is read again while it belongs to another schema. */
async function readUntilReported(
  ...[parts, hold, watch, stream, context]: Parameters<typeof readAgain>
): ReturnType<typeof readAgain> {
  for (;;) {
    const before = watch.revision
    const refusal = await readAgain(parts, hold, watch, stream, context)
    if (refusal?.code !== 'NOT_LIVE' || watch.isClosed || watch.revision === before) return refusal
  }
}

/** The watch listens before the feed is asked, so that no change is missed in between. Null: the document may run. */
async function readAgain(
  { read, listen, watchMs }: RunParts,
  hold: (interests: readonly Interest[]) => HeldRelations,
  watch: LiveWatch,
  { owner: { caller } }: StreamState,
  context: RequestContext,
): Promise<GraphqlResponse | null> {
  watch.isUnread = false
  const found = await read(watch.request, caller, context)
  if (watch.isClosed) return null
  if ('outcome' in found) {
    watch.isUnread = true
    return found
  }
  watch.revision = found.revision
  const held = hold(found.interests)
  const leaveIndex = listen(watch, found.interests)
  const leaveBefore = watch.leave
  const leaveNew = (): void => {
    leaveIndex()
    held.release()
  }
  watch.leave = () => {
    leaveBefore()
    leaveNew()
  }
  // A run that waits without end would block others.
  const refusal = await within(watchMs, held.watched).then((isInTime) => (isInTime ? null : tooLate), failureOf)
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

const tooLate = failureResponse('DATABASE_UNAVAILABLE', 'Changes are not reported in time.')

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
    kept: kept.open(watch.streams.values().next().value?.owner.party ?? ''),
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
