import type { RequestContext } from '../../../contract/execution.ts'
import type { GraphqlRequest, GraphqlResponse } from '../../protocol/request-and-answer.ts'
import type { Holding } from '../../../lib/byte-budget.ts'
import type { SharedAnswer, RunReason, StreamOwner, StreamSink } from './stream-types.ts'

/** A watch: what streams share, and how far each of them is. */
export interface LiveWatch {
  readonly key: string
  readonly request: GraphqlRequest
  readonly streams: Set<StreamState>
  /** What it keeps of its request. */
  readonly held: Holding
  /** Runs that have begun. */
  runs: number
  /** The last of them that was answered. */
  answered: number
  /** When the last of them began, on the monotonic clock in milliseconds. */
  begunAt: number
  phase: 'idle' | 'due' | 'running'
  /** Why it is due, or runs, or runs once more after this run. */
  reason: RunReason
  again: RunReason | null
  /** Takes back what it waits for until it is due. */
  cancel: (() => void) | null
  /** Whether the document has to be read before the next run, since the schema is another one. */
  isUnread: boolean
  /** The schema of which it was read last. */
  revision: string | undefined
  /** Runs that failed one after the other because of an outage or of overload. */
  failures: number
  /** When the first change came that no answer shows yet, on the monotonic clock; null: there is none. */
  changedAt: number | null
  last: LastAnswer | null
  /** Of the run under way. */
  context: RequestContext | null
  /** Gives back what it reads: its places in the index and its holds on relations. */
  leave: () => void
  isClosed: boolean
}

export interface LastAnswer {
  /** Counts answers that differ from the one before. */
  readonly version: number
  readonly id: string
  /** Null: it was sent, and there was no room to keep it. */
  answer: SharedAnswer | null
  /** What makes it of the answer before; null: nothing that is shorter. */
  readonly patch: SharedAnswer | null
  readonly kept: Holding
  isKept: boolean
}

export interface StreamState {
  readonly owner: StreamOwner
  readonly sink: StreamSink
  readonly wantsPatch: boolean
  /** Id of the answer that its client had when it came; null: none. */
  readonly lastId: string | null
  /** The first run whose answer it gets: it begins after the stream was opened. */
  readonly from: number
  /** Version of the answer that it was sent last; 0: none. */
  sent: number
}

/** Sends a stream the newest answer, if it has not got it and takes it now. False: there is none to send any more. */
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

/** Ends those of a watch's streams that are chosen. */
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
