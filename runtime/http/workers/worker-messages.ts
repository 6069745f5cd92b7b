import { DatabaseFailure, type DatabaseFailureKind, reasonOf } from '../../db/failures/failures.ts'
import type { KeptRequest, LiveObservation } from '../../contract/observations.ts'
import { positionText, readPosition, type NotedWrite } from '../../contract/execution.ts'
import { Hopeless } from '../../lib/retry.ts'

/** Messages between the primary process and its workers. An answer has the number of its call. */

export type FromWorker =
  | WorkerRequest
  /** The metrics of this worker alone. */
  | { readonly kind: 'metrics'; readonly call: number; readonly values: unknown }
  | { readonly kind: 'requests'; readonly call: number; readonly requests: readonly KeptRequest[] }
  | { readonly kind: 'live'; readonly call: number; readonly live: readonly LiveObservation[] }
  /** It listens and has its first schema. */
  | { readonly kind: 'ready'; readonly url: string }
  /** It has received another worker's write. */
  | { readonly kind: 'heard'; readonly call: number }

/** A request of a worker to its primary. */
export type WorkerRequest =
  | { readonly kind: 'ask-revision'; readonly call: number }
  | { readonly kind: 'ask-metrics'; readonly call: number }
  | { readonly kind: 'ask-requests'; readonly call: number }
  | { readonly kind: 'ask-live'; readonly call: number }
  | { readonly kind: 'taken'; readonly requests: RequestCounts }
  | { readonly kind: 'wrote'; readonly call: number; readonly write: TravellingWrite }

export type ToWorker =
  /** See changeToTravel. */
  | { readonly kind: 'revision'; readonly call: number; readonly change: Uint8Array }
  /** The sums of all workers, in the format of Prometheus. */
  | { readonly kind: 'metrics'; readonly call: number; readonly text: string }
  /** Those that all workers keep. */
  | { readonly kind: 'requests'; readonly call: number; readonly requests: readonly KeptRequest[] }
  | { readonly kind: 'live'; readonly call: number; readonly live: readonly LiveObservation[] }
  | { readonly kind: 'failed'; readonly about: Asked; readonly call: number; readonly failure: TravellingFailure }
  | { readonly kind: 'get-metrics'; readonly call: number }
  | { readonly kind: 'get-requests'; readonly call: number }
  | { readonly kind: 'get-live'; readonly call: number }
  | { readonly kind: 'taken'; readonly requests: RequestCounts }
  | { readonly kind: 'wrote'; readonly call: number; readonly write: TravellingWrite }
  /** Every other worker has received this one's write. */
  | { readonly kind: 'all-heard'; readonly call: number }
  /** `replaced`: another worker has taken its place, so its end is not urgent. */
  | { readonly kind: 'stop'; readonly reason: string; readonly replaced: boolean }

/** The kind of a worker's request to its primary. */
export type Asked = 'revision' | 'metrics' | 'requests' | 'live'

/** Requests of callers that the rate limit counted recently. */
export type RequestCounts = Readonly<Record<string, number>>

/** A noted write in a message between processes: JSON has no bigints. */
export interface TravellingWrite {
  readonly party: string | null
  readonly position: string | null
}

export const writeToTravel = ({ party, position }: NotedWrite): TravellingWrite => ({
  party,
  position: position && positionText(position),
})

export const writeFromTravel = ({ party, position }: TravellingWrite): NotedWrite => ({
  party,
  position: readPosition(position),
})

/** A failure in a message between processes. */
export interface TravellingFailure {
  readonly hopeless: boolean
  /** Null: it does not come from the database. */
  readonly database: DatabaseFailureKind | null
  readonly message: string
  /** For the log. */
  readonly reason: string
}

export const toTravel = (error: unknown): TravellingFailure => ({
  hopeless: error instanceof Hopeless,
  database: error instanceof DatabaseFailure ? error.kind : null,
  message: error instanceof Error ? error.message : String(error),
  reason: reasonOf(error),
})

export function fromTravel({ hopeless, database, message, reason }: TravellingFailure): Error {
  if (hopeless) return new Hopeless(message)
  if (database === null) return new Error(message)
  const failure = new DatabaseFailure(database, message, null, null)
  failure.cause = new Error(reason)
  return failure
}
