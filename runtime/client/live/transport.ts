import type { Environment } from '../environment.ts'
import type { HttpOptions } from '../http.ts'
import type { Fields } from '../json.ts'
import type { End } from './end.ts'
import type { Waking } from './waking.ts'

/** What a stream is asked with. */
export interface StreamRequest {
  /** The body of a request, as JSON. */
  readonly body: string
  /** The user's, or the project key. */
  readonly token: string
  /** Of the last answer; empty where there was none. */
  readonly eventId: string
}

/** What is known of a connected stream. */
export interface StreamSink {
  /** The service has taken the request; before its first answer. */
  readonly connected: () => void
  /** An answer, which has no errors. The id is empty where the transport has none. */
  readonly next: (answer: Fields, eventId: string) => void
}

/** Connects a stream until it ends, or until the signal says that nobody wants it any more. Never rejects. */
export type Transport = (request: StreamRequest, sink: StreamSink, signal: AbortSignal) => Promise<End>

export interface TransportParts extends HttpOptions {
  readonly environment: Environment
  readonly waking: Waking
}
