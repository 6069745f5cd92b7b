import type { Environment } from '../environment.ts'
import type { HttpOptions } from '../http.ts'
import type { Fields } from '../json.ts'
import type { End } from './end.ts'
import type { Waking } from './waking.ts'

export interface StreamRequest {
  readonly body: string
  /** The user's, or the project key. */
  readonly token: string
  /** Of the last answer; empty without one. */
  readonly eventId: string
}

export interface StreamSink {
  /** The service has accepted the request; before its first answer. */
  readonly connected: () => void
  /** An answer without errors. The id is empty if the transport has none. */
  readonly next: (answer: Fields, eventId: string) => void
}

/** Connects a stream until it ends, or until the signal aborts. Never rejects. */
export type Transport = (request: StreamRequest, sink: StreamSink, signal: AbortSignal) => Promise<End>

export interface TransportParts extends HttpOptions {
  readonly environment: Environment
  readonly waking: Waking
}
