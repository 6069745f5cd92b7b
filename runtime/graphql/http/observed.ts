import type { Timeline } from '../../contract/timeline.ts'
import { isJsonObject } from '../../lib/json-object.ts'
import { sha256Hex } from '../../lib/sha256.ts'
import type { GraphqlOutcome, GraphqlRequest } from '../protocol/types.ts'

/** A GraphQL request that was answered, for those who watch: it says nothing of variables or rows. */
export interface ObservedRequest {
  readonly requestId: string
  /** What it is called; looked for when it is asked. */
  readonly operation: () => string
  readonly role: string
  readonly outcome: GraphqlOutcome
  /** Of its first error; null: it has none. */
  readonly code: string | null
  readonly timeline: Timeline
  /** When the answer was ready, on the same clock. */
  readonly done: number
  /** The header of W3C Trace Context, as it came. */
  readonly traceparent: string | undefined
  /** Of the document's text; made when it is asked for. */
  readonly hash: () => string
  /** The text, which may hold values; null: only its hash was sent. */
  readonly document: () => string | null
}

/** Never throws and never waits. */
export type ObserveRequest = (request: ObservedRequest) => void

const namedOperation = /\b(?:query|mutation)\s+([_A-Za-z][_0-9A-Za-z]*)/

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

const traceId = /^[0-9a-f]{2}-([0-9a-f]{32})-/

/** Operation and trace, as pg_stat_activity shows them while a request runs. */
export function labelOf(operation: string, traceparent: string | readonly string[] | undefined): string {
  const [, id] = typeof traceparent === 'string' ? (traceId.exec(traceparent) ?? []) : []
  return id === undefined
    ? operation.slice(0, longestLabel)
    : `${operation.slice(0, longestLabel - id.length - 1)} ${id}`
}

export const documentHash = ({ query, extensions }: GraphqlRequest): string =>
  query === null ? persistedHash(extensions) : sha256Hex(query)

/** As the client sent it, if it is one. */
function persistedHash({ persistedQuery }: GraphqlRequest['extensions']): string {
  const hash = isJsonObject(persistedQuery) ? String(persistedQuery['sha256Hash']) : ''
  return /^[0-9a-f]{64}$/i.test(hash) ? hash.toLowerCase() : ''
}
