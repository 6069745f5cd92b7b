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

/** What a worker has observed by itself. */
export interface OwnObservations {
  readonly metrics: () => Promise<unknown>
  readonly requests: () => Promise<readonly KeptRequest[]>
}

/** What all workers together have observed. */
export interface SharedObservations {
  readonly metrics: () => Promise<string>
  readonly requests: () => Promise<readonly KeptRequest[]>
  /** Hands over how the others learn of those of this one. */
  readonly show: (own: OwnObservations) => void
}
