import type { LongBody } from '../../http/long-body.ts'

/** s1: a well-formed question, without HTTP. */
export interface GraphqlRequest {
  /** Null when only a persisted hash was sent. */
  readonly query: string | null
  readonly operationName: string | null
  /** Coerced by operation.ts; integers beyond 2^53 arrive as bigint. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly extensions: Readonly<Record<string, unknown>>
  /** The whole body, where its variables are so many that they are read apart; `variables` is empty then. */
  readonly unread?: string
  /** True: it is a run of a stream, which answers a subscription as a query. */
  readonly live?: boolean
  /** True forbids mutations (GET, GraphQL over HTTP 6.2.1). */
  readonly queryOnly: boolean
}

/** Where a request ended; the route turns it into a status (spec/graphql.md, decision 6). */
export type GraphqlOutcome =
  /** It has data. */
  | 'ok'
  /** The document or its variables were refused before anything ran. */
  | 'invalid'
  /** It was run and failed; nothing was kept. */
  | 'failed'
  /** The caller's role cannot be assumed: 401. */
  | 'unauthorized'
  /** A mutation was sent by GET: 405. */
  | 'method-not-allowed'
  /** The database cannot be reached at the moment: 503 with Retry-After. */
  | 'unavailable'
  /** Nothing ran, since too much else does: 503 with Retry-After. */
  | 'overloaded'

export interface GraphqlResponse {
  readonly outcome: GraphqlOutcome
  /** Of its first error; left out: it has none. */
  readonly code?: string | undefined
  /** JSON text of the whole body, or its bytes in UTF-8; in parts where it is long. */
  readonly body: string | Buffer | LongBody
  /** Of the answer to a run of a stream: the schema that made it. */
  readonly revision?: string
}
