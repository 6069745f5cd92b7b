import type { Phase } from './timeline.ts'

/** What is observed of requests, and what the workers of one service show each other of it. */

/** A slow or a failed request, as it is kept. */
export interface KeptRequest {
  readonly requestId: string
  /** Milliseconds since 1970 at which it was answered. */
  readonly at: number
  readonly operation: string
  readonly role: string
  /** Of the outcomes of a GraphQL request (graphql/protocol). */
  readonly outcome: string
  /** Of its first error; null: it has data, and was slow. */
  readonly code: string | null
  /** Milliseconds from its arrival to its answer. */
  readonly ms: number
  readonly phases: PhaseTimes
  /** SHA-256 of the document. */
  readonly hash: string
  /** With the values in it; null: it is not kept. */
  readonly document: string | null
}

/** Milliseconds of each phase that a request went through. */
export type PhaseTimes = Readonly<Partial<Record<Phase, number>>>

/** What live queries of one process do, and have done since it started. */
export interface LiveObservation {
  readonly streams: number
  /** WebSockets that are open. */
  readonly sockets: number
  /** What streams share that ask the same. */
  readonly watches: number
  /** Watches that wait for a run. */
  readonly waiting: number
  readonly runs: readonly LiveRuns[]
  /** Streams that were refused, by what was too many. */
  readonly refused: Readonly<Record<string, number>>
  /** Milliseconds from a change that was told to the answer that shows it, of the last ones. */
  readonly lags: readonly number[]
  readonly tables: readonly WatchedTable[]
  /** Null: changes are told. Otherwise what keeps them from being told, in one sentence. */
  readonly fault: string | null
}

export interface LiveRuns {
  /** Why they were made. */
  readonly reason: string
  /** Whether the answer was another one than the last. */
  readonly result: 'changed' | 'same' | 'failed'
  readonly count: number
}

export interface WatchedTable {
  /** `ObjectId`: `["public","posts"]`. */
  readonly relation: string
  /** Watches of it that are there now. */
  readonly watches: number
  /** Changes of it that were told. */
  readonly changes: number
  /** Of these, those that mattered to no watch. */
  readonly unheard: number
}

/** What a worker has observed by itself. */
export interface OwnObservations {
  readonly metrics: () => Promise<unknown>
  readonly requests: () => Promise<readonly KeptRequest[]>
  readonly live: () => Promise<readonly LiveObservation[]>
}

/** What all workers together have observed. */
export interface SharedObservations {
  readonly metrics: () => Promise<string>
  readonly requests: () => Promise<readonly KeptRequest[]>
  /** One of each worker. */
  readonly live: () => Promise<readonly LiveObservation[]>
  /** Hands over how the others learn of those of this one. */
  readonly show: (own: OwnObservations) => void
}
