import type { Caller, RequestContext } from '../../../contract/execution.ts'
import type { Interest } from '../../../contract/live.ts'
import type { GraphqlRequest, GraphqlResponse } from '../../protocol/request-and-answer.ts'

/** One answer of a watch: made once for all of its streams. */
export interface SharedAnswer {
  /** Of the whole answer, which a patch reproduces: SHA-256 of its bytes. */
  readonly id: string
  /** JSON in UTF-8: the answer, or the patch from the previous one. */
  readonly body: Buffer
}

/** The destination of a stream's answers, which a transport provides. */
export interface StreamSink {
  /** False: it calls `ready` of its stream once it accepts more. */
  readonly isWritable: () => boolean
  readonly next: (answer: SharedAnswer) => void
  /** The answer equals the one whose id the client sent. */
  readonly unchanged: () => void
  /** The last call: the query failed, or the stream was ended with a refusal. */
  readonly failed: (response: GraphqlResponse) => void
  /** The last call: this process stops, and another process would serve the client. */
  readonly stopped: () => void
}

export interface LiveStream {
  /** The sink accepts more. */
  readonly ready: () => void
  /** Its client disconnected or cancelled it. The sink is not called any more. */
  readonly close: () => void
}

export interface StreamOwner extends Pick<RequestContext, 'party' | 'kind'> {
  readonly caller: Caller
}

export interface StreamOptions {
  /** Id of the answer that the client has; null: none. */
  readonly lastId: string | null
}

export interface StreamLimits {
  readonly streams: number
  readonly streamsOfParty: number
  readonly runs: number
  /** Milliseconds between the starts of two runs of a watch. */
  readonly pauseMs: number
  /** The time limit of a run, in milliseconds; 0: none. */
  readonly runMs: number
  /** The time limit for the feed to watch a document's relations, in milliseconds. */
  readonly watchMs: number
}

/** The reads of a document, with the values of its request; or the refusal that a query would get. */
export type ReadInterests = (
  request: GraphqlRequest,
  caller: Caller,
  context?: RequestContext,
) => Promise<GraphqlResponse | DocumentInterests>

export interface DocumentInterests {
  readonly interests: readonly Interest[]
  /** The schema of these reads. An answer of another version may have others. */
  readonly revision: string | undefined
}

export type AnswerRequest = (
  request: GraphqlRequest,
  caller: Caller,
  context: RequestContext,
) => GraphqlResponse | Promise<GraphqlResponse>

export type RunReason = 'joined' | 'change' | 'schema' | 'outage' | 'retry' | 'reader'

/** The reason for refusing a stream. */
export type StreamRefusal = 'party' | 'all' | 'memory'
