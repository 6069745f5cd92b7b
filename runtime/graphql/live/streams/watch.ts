import type { RequestContext } from '../../../contract/execution.ts'
import type { GraphqlRequest, GraphqlResponse } from '../../protocol/request-and-answer.ts'
import type { Holding } from '../../../lib/byte-budget.ts'
import type { SharedAnswer, RunReason, StreamOwner, StreamSink } from './stream-types.ts'

/** A watch: the state that streams share, and the progress of each of them. */
export interface LiveWatch {
  readonly key: string
  readonly request: GraphqlRequest
  readonly streams: Set<StreamState>
  /** The memory of its request. */
  readonly held: Holding
  runs: number
  /** The last answered run. */
  answered: number
  /** When the last run began, on the monotonic clock in milliseconds. */
  begunAt: number
  phase: 'idle' | 'due' | 'running'
  /** The reason of the pending, running or following run. */
  reason: RunReason
  again: RunReason | null
  /** Cancels the wait until it is due. */
  cancel: (() => void) | null
  /** Whether the document must be read before the next run, because the schema changed. */
  isUnread: boolean
  /** The schema of the last read. */
  revision: string | undefined
  /** Consecutive runs that failed because of an outage or of overload. */
  failures: number
  /** When the first change came that no answer includes yet, on the monotonic clock; null: none. */
  changedAt: number | null
  last: LastAnswer | null
  /** Of the current run. */
  context: RequestContext | null
  /** Removes its entries in the index and its holds on relations. */
  leave: () => void
  isClosed: boolean
}

export interface LastAnswer {
  /** Counts answers that differ from their predecessor. */
  readonly version: number
  readonly id: string
  /** Null: it was sent, and there was no room to keep it. */
  answer: SharedAnswer | null
  /** The patch from the previous answer; null: none that is shorter. */
  readonly patch: SharedAnswer | null
  readonly kept: Holding
  isKept: boolean
}

export interface StreamState {
  readonly owner: StreamOwner
  readonly sink: StreamSink
  readonly wantsPatch: boolean
  /** Id of the answer that its client had on arrival; null: none. */
  readonly lastId: string | null
  /** The first run whose answer it gets: it begins after the stream was opened. */
  readonly from: number
  /** Version of the last answer that it was sent; 0: none. */
  sent: number
}

/** Ends what the current run waits for. */
export function abort({ context }: LiveWatch): void {
  if (context === null) return
  context.aborted = true
  context.onAbort?.()
}

/** Sends a stream the newest answer, if it lacks it and accepts it now. False: the answer is not kept any more. */
export function deliver({ last, answered }: LiveWatch, stream: StreamState): boolean {
  if (last === null || stream.from > answered || stream.sent === last.version) return true
  if (stream.sent === 0 && stream.lastId === last.id) {
    stream.sent = last.version
    stream.sink.unchanged()
    return true
  }
  if (!stream.sink.isWritable()) return true
  const isNext = stream.wantsPatch && stream.sent === last.version - 1 && stream.sent !== 0
  const answer = isNext ? (last.patch ?? last.answer) : last.answer
  if (answer === null) return false
  stream.sent = last.version
  stream.sink.next(answer)
  return true
}

export function endStreams(
  { streams }: LiveWatch,
  response: GraphqlResponse,
  isMeant: (stream: StreamState) => boolean,
): readonly StreamState[] {
  const ended = [...streams].filter(isMeant)
  for (const stream of ended) streams.delete(stream)
  for (const stream of ended) stream.sink.failed(response)
  return ended
}
