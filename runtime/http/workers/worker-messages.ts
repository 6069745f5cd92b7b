import type { LaterState } from '../../contract/artifact.ts'
import { DatabaseFailure, type DatabaseFailureKind, reasonOf } from '../../db/failures/failures.ts'
import type { KeptRequest, LiveObservation } from '../../contract/observations.ts'
import { positionText, readPosition, type NotedWrite } from '../../contract/execution.ts'
import { Hopeless } from '../../lib/retry.ts'

interface Calls<Answer> {
  /** Sends a call with a unique number; rejects when the other process has ended. */
  readonly ask: (send: (call: number) => void) => Promise<Answer>
  readonly answered: (call: number, answer: Answer) => void
  readonly failed: (call: number, error: Error) => void
  /** No more answers will come. */
  readonly giveUp: (error: Error) => void
}

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

export function createCalls<Answer>(): Calls<Answer> {
  const waiting = new Map<number, Waiting<Answer>>()
  let last = 0
  const take = (call: number): Waiting<Answer> | undefined => {
    const found = waiting.get(call)
    waiting.delete(call)
    return found
  }
  return {
    ask: (send) =>
      new Promise((resolve, reject) => {
        last += 1
        waiting.set(last, { resolve, reject })
        send(last)
      }),
    answered: (call, answer) => take(call)?.resolve(answer),
    failed: (call, error) => take(call)?.reject(error),
    giveUp: (error) => {
      for (const call of waiting.keys()) take(call)?.reject(error)
    },
  }
}

/** Messages between the primary process and its workers. An answer has the number of its call. */

export type FromWorker =
  | WorkerRequest
  | { readonly kind: 'metrics'; readonly call: number; readonly values: unknown }
  | { readonly kind: 'requests'; readonly call: number; readonly requests: readonly KeptRequest[] }
  | { readonly kind: 'live'; readonly call: number; readonly live: readonly LiveObservation[] }
  /** It listens and has its first schema. */
  | { readonly kind: 'ready'; readonly url: string }
  /** It has received another worker's write. */
  | { readonly kind: 'heard'; readonly call: number }

export type WorkerRequest =
  | { readonly kind: 'ask-revision'; readonly call: number }
  /** Whether the revision of this version, which it received last, holds for some requests. */
  | { readonly kind: 'ask-later'; readonly call: number; readonly version: string | null }
  | { readonly kind: 'ask-metrics'; readonly call: number }
  | { readonly kind: 'ask-requests'; readonly call: number }
  | { readonly kind: 'ask-live'; readonly call: number }
  | { readonly kind: 'taken'; readonly requests: RequestCounts }
  | { readonly kind: 'wrote'; readonly call: number; readonly write: WriteMessage }

export type ToWorker =
  | { readonly kind: 'revision'; readonly call: number; readonly change: Uint8Array }
  | { readonly kind: 'later'; readonly call: number; readonly later: LaterState | null }
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
  | { readonly kind: 'wrote'; readonly call: number; readonly write: WriteMessage }
  /** Every other worker has received this one's write. */
  | { readonly kind: 'all-heard'; readonly call: number }
  /** `replaced`: another worker has taken its place, so its end is not urgent. */
  | { readonly kind: 'stop'; readonly reason: string; readonly replaced: boolean }

export type Asked = 'revision' | 'later' | 'metrics' | 'requests' | 'live'

/** Requests of callers that the rate limit counted recently. */
export type RequestCounts = Readonly<Record<string, number>>

/** A noted write in a message between processes: JSON has no bigints. */
export interface WriteMessage {
  readonly party: string | null
  readonly position: string | null
}

export const writeToTravel = ({ party, position }: NotedWrite): WriteMessage => ({
  party,
  position: position && positionText(position),
})

export const writeFromTravel = ({ party, position }: WriteMessage): NotedWrite => ({
  party,
  position: readPosition(position),
})

interface TravellingFailure {
  readonly hopeless: boolean
  /** Null: it does not come from the database. */
  readonly database: DatabaseFailureKind | null
  readonly sqlstate: string | null
  readonly message: string
  /** For the log. */
  readonly reason: string
}

export const toMessage = (error: unknown): TravellingFailure => ({
  hopeless: error instanceof Hopeless,
  database: error instanceof DatabaseFailure ? error.kind : null,
  sqlstate: error instanceof DatabaseFailure ? error.sqlstate : null,
  message: error instanceof Error ? error.message : String(error),
  reason: reasonOf(error),
})

export function fromTravel({ hopeless, database, sqlstate, message, reason }: TravellingFailure): Error {
  if (hopeless) return new Hopeless(message)
  if (database === null) return new Error(message)
  const failure = new DatabaseFailure(database, message, sqlstate, null)
  failure.cause = new Error(reason)
  return failure
}
