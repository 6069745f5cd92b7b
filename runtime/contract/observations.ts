import type { Phase } from './execution.ts'

/** Observations of requests, and the part that workers of one service share. */

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
  /** With its literal values; null: not kept. */
  readonly document: string | null
}

/** Milliseconds of each phase that a request went through. */
export type PhaseTimes = Readonly<Partial<Record<Phase, number>>>

/** Activity of one process's live queries since its start. */
export interface LiveObservation {
  readonly streams: number
  /** WebSockets that are open. */
  readonly sockets: number
  /** The number of distinct watches that streams share. */
  readonly watches: number
  /** Watches that wait for a run. */
  readonly waiting: number
  readonly runs: readonly LiveRuns[]
  /** Refused streams, by the exceeded limit. */
  readonly refused: Readonly<Record<string, number>>
  /** Milliseconds from a reported change to the answer that shows it, of the last ones. */
  readonly lags: readonly number[]
  readonly tables: readonly WatchedTable[]
  /** Null: changes are reported. Otherwise the obstacle in one sentence. */
  readonly fault: string | null
}

export interface LiveRuns {
  readonly reason: string
  /** Whether the answer differs from the last. */
  readonly result: 'changed' | 'same' | 'failed'
  readonly count: number
}

export interface WatchedTable {
  /** `ObjectId`: `["public","posts"]`. */
  readonly relation: string
  readonly watches: number
  readonly changes: number
  /** Those of them that mattered to no watch. */
  readonly unheard: number
}

export interface OwnObservations {
  readonly metrics: () => Promise<unknown>
  readonly requests: () => Promise<readonly KeptRequest[]>
  readonly live: () => Promise<readonly LiveObservation[]>
}

/** The observations of all workers together. */
export interface SharedObservations {
  readonly metrics: () => Promise<string>
  readonly requests: () => Promise<readonly KeptRequest[]>
  /** One of each worker. */
  readonly live: () => Promise<readonly LiveObservation[]>
  /** Publishes this worker's observations to the others. */
  readonly show: (own: OwnObservations) => void
}
