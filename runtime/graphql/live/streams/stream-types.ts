import type { Caller, RequestContext } from '../../../contract/execution.ts'
import type { Interest } from '../../../contract/live.ts'
import type { GraphqlRequest, GraphqlResponse } from '../../protocol/request-and-answer.ts'

/** What one answer of a watch is to its streams: made once for all of them. */
export interface SharedAnswer {
  /** Of the whole answer, of which a patch makes the same: SHA-256 of its bytes. */
  readonly id: string
  /** JSON in UTF-8: the answer, or the patch that makes it of the one before. */
  readonly body: Buffer
}

/** Where a stream's answers go: what a transport gives the hub. */
export interface StreamSink {
  /** False: it calls `ready` of its stream once it takes more. */
  readonly isWritable: () => boolean
  readonly next: (answer: SharedAnswer) => void
  /** The query was answered, and the client has the answer already: it named its id. */
  readonly unchanged: () => void
  /** The last call: the query failed, or the stream was ended with a refusal. */
  readonly failed: (response: GraphqlResponse) => void
  /** The last call: this process stops, and another one would serve the client. */
  readonly stopped: () => void
}

/** One client's stream of one subscription. */
export interface LiveStream {
  /** The sink takes more. */
  readonly ready: () => void
  /** Its client is gone, or wants no more of it. Nothing is called any more. */
  readonly close: () => void
}

/** Who opens a stream. */
export interface StreamOwner extends Pick<RequestContext, 'party' | 'kind'> {
  readonly caller: Caller
}

export interface StreamOptions {
  /** Id of an answer that the client has; null: it has none. */
  readonly lastId: string | null
}

export interface StreamLimits {
  readonly streams: number
  readonly streamsOfParty: number
  /** Runs at a time. */
  readonly runs: number
  /** Milliseconds from the beginning of a run of a watch to that of its next one. */
  readonly pauseMs: number
  /** What a run may take, in milliseconds; 0: any time. */
  readonly runMs: number
  /** What the feed may take to watch what a document reads, in milliseconds. */
  readonly watchMs: number
}

/** What a document reads, with the values of its request; or the refusal that a query would get. */
export type ReadInterests = (
  request: GraphqlRequest,
  caller: Caller,
  context?: RequestContext,
) => Promise<GraphqlResponse | DocumentInterests>

export interface DocumentInterests {
  readonly interests: readonly Interest[]
  /** The schema of which that was found. An answer of another one may read something else. */
  readonly revision: string | undefined
}

export type AnswerRequest = (
  request: GraphqlRequest,
  caller: Caller,
  context: RequestContext,
) => GraphqlResponse | Promise<GraphqlResponse>

/** Why a watch is run. */
export type RunReason = 'joined' | 'change' | 'schema' | 'outage' | 'retry' | 'reader'

/** Who may not have a stream, and why. */
export type StreamRefusal = 'party' | 'all' | 'memory'
