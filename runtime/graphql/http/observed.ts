import type { Timeline } from '../../contract/execution.ts'
import { isJsonObject } from '../../lib/json.ts'
import { sha256Hex } from '../../lib/text.ts'
import type { GraphqlRequest, GraphqlResponse } from '../protocol/request-and-answer.ts'

/** An answered GraphQL request for observers, without variables or rows. */
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

/** An admitted GraphQL request before it is served. */
export interface BegunRequest {
  /** On the monotonic clock, in milliseconds. */
  readonly arrived: number
  /** Its name; computed on demand. */
  readonly operation: () => string
  readonly role: string
  /** The header of W3C Trace Context, unparsed; undefined: absent. */
  readonly traceparent: string | undefined
}

export interface TracedRequest {
  /** Operation and trace, as pg_stat_activity shows them while the request runs. */
  readonly label: string
  readonly end: ObserveRequest
}

/** Null: the sampler drops the request, and its trace ends here. */
export type TraceRequest = (request: BegunRequest) => TracedRequest | null

const namedOperation = /\b(?:query|mutation|subscription)\s+([_A-Za-z][_0-9A-Za-z]*)/

/** A name after this many characters is ignored. */
const lookedAt = 500

/** The name of a request: its operation's name, or else the first one of its document. */
export function operationNameOf({ query, operationName, extensions }: GraphqlRequest): string {
  if (operationName !== null) return operationName
  if (query !== null) return namedOperation.exec(query.slice(0, lookedAt))?.[1] ?? 'anonymous'
  return 'persistedQuery' in extensions ? 'persisted' : 'anonymous'
}

/** Postgres truncates a longer name (manual, application_name). */
const longestLabel = 63

export const labelOf = (operation: string, traceId: string): string =>
  `${operation.slice(0, longestLabel - traceId.length - 1)} ${traceId}`

export const documentHash = ({ query, extensions }: GraphqlRequest): string =>
  query === null ? persistedHash(extensions) : sha256Hex(query)

/** The hash as the client sent it, if it is one. */
function persistedHash({ persistedQuery }: GraphqlRequest['extensions']): string {
  const hash = isJsonObject(persistedQuery) ? String(persistedQuery['sha256Hash']) : ''
  return /^[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : ''
}
