import type { Timeline } from '../../contract/timeline.ts'
import { isJsonObject } from '../../lib/json.ts'
import { sha256Hex } from '../../lib/sha256.ts'
import type { GraphqlRequest, GraphqlResponse } from '../protocol/types.ts'

/** A GraphQL request that was answered, for those who watch: they note nothing of variables or rows. */
export interface ObservedRequest {
  readonly requestId: string
  readonly asked: GraphqlRequest
  readonly role: string
  readonly response: GraphqlResponse
  readonly timeline: Timeline
  /** When the answer was ready, on the same clock. */
  readonly done: number
}

/** Never throws and never waits. */
export type ObserveRequest = (request: ObservedRequest) => void

/** A GraphQL request that was admitted and is about to be served. */
export interface BegunRequest {
  /** On the monotonic clock, in milliseconds. */
  readonly arrived: number
  /** What it is called; looked for when it is asked. */
  readonly operation: () => string
  readonly role: string
  /** The header of W3C Trace Context, as it came; undefined: it did not. */
  readonly traceparent: string | undefined
}

/** A request that is being traced. */
export interface TracedRequest {
  /** Operation and trace, as pg_stat_activity shows them while the request runs. */
  readonly label: string
  readonly end: ObserveRequest
}

/** Null: the sampler drops the request, and nothing more is done for its trace. */
export type TraceRequest = (request: BegunRequest) => TracedRequest | null

const namedOperation = /\b(?:query|mutation|subscription)\s+([_A-Za-z][_0-9A-Za-z]*)/

/** Beyond this a name would not stand at the beginning of a document. */
const lookedAt = 500

/** What a request is called: its operation's name, or else the first one of its document. */
export function operationNameOf({ query, operationName, extensions }: GraphqlRequest): string {
  if (operationName !== null) return operationName
  if (query !== null) return namedOperation.exec(query.slice(0, lookedAt))?.[1] ?? 'anonymous'
  return 'persistedQuery' in extensions ? 'persisted' : 'anonymous'
}

/** A longer name is cut off by Postgres (manual, application_name). */
const longestLabel = 63

export const labelOf = (operation: string, traceId: string): string =>
  `${operation.slice(0, longestLabel - traceId.length - 1)} ${traceId}`

export const documentHash = ({ query, extensions }: GraphqlRequest): string =>
  query === null ? persistedHash(extensions) : sha256Hex(query)

/** As the client sent it, if it is one. */
function persistedHash({ persistedQuery }: GraphqlRequest['extensions']): string {
  const hash = isJsonObject(persistedQuery) ? String(persistedQuery['sha256Hash']) : ''
  return /^[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : ''
}
