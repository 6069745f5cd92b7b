import type { LongBody } from '../../http/bodies.ts'

/** s1: a well-formed request, without HTTP. */
export interface GraphqlRequest {
  /** Null if only a persisted hash was sent. */
  readonly query: string | null
  readonly operationName: string | null
  /** Coerced by operation.ts; integers beyond 2^53 arrive as bigint. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly extensions: Readonly<Record<string, unknown>>
  /** The whole body, if its many variables are read on another thread; `variables` is empty then. */
  readonly unread?: string
  /** True: a run of a stream, which answers a subscription as a query. */
  readonly live?: boolean
  /** True forbids mutations (GET, GraphQL over HTTP 6.2.1). */
  readonly queryOnly: boolean
}

/** The outcome of a request; the route turns it into a status (spec/graphql.md, decision 6). */
export type GraphqlOutcome =
  /** It has data. */
  | 'ok'
  /** The document or its variables were refused before anything ran. */
  | 'invalid'
  /** It ran and failed; it has no effect. */
  | 'failed'
  /** The caller's role cannot be set: 401. */
  | 'unauthorized'
  /** A mutation was sent by GET: 405. */
  | 'method-not-allowed'
  /** The database is unavailable: 503 with Retry-After. */
  | 'unavailable'
  /** The server is overloaded and ran nothing: 503 with Retry-After. */
  | 'overloaded'

export interface GraphqlResponse {
  readonly outcome: GraphqlOutcome
  /** The code of its first error; absent: no error. */
  readonly code?: string | undefined
  /** JSON text of the whole body, or its bytes in UTF-8; in parts if it is long. */
  readonly body: string | Buffer | LongBody
  /** Of the answer to a run of a stream: the schema that made it. */
  readonly revision?: string
}
