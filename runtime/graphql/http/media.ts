import { negotiate } from '../../http/accept.ts'
import { HttpFailure, statusHeaders } from '../../http/failures.ts'
import type { GraphqlOutcome } from '../protocol/request-and-answer.ts'
import { eventStream } from './event-stream.ts'

/** The media types of answers, and their status codes. */

/** The default first (GraphQL over HTTP, section Legacy watershed). */
const jsonTypes = ['application/json', 'application/graphql-response+json'] as const
type MediaType = (typeof jsonTypes)[number]

/** The accepted media type: an answer of this type, or events, whose refusals have this type. */
export interface Wanted {
  readonly media: MediaType
  readonly isStream: boolean
  /** Whether it accepts a stream if there is no other answer. */
  readonly takesStream: boolean
}

export const contentTypes: Readonly<Record<MediaType, string>> = {
  'application/json': 'application/json; charset=utf-8',
  'application/graphql-response+json': 'application/graphql-response+json; charset=utf-8',
}

/** Status of each outcome by the media type of the answer (spec/graphql.md, decision 6). */
export const statusTable: Readonly<Record<GraphqlOutcome, Readonly<Record<MediaType, number>>>> = {
  ok: { 'application/json': 200, 'application/graphql-response+json': 200 },
  invalid: { 'application/json': 200, 'application/graphql-response+json': 400 },
  failed: { 'application/json': 200, 'application/graphql-response+json': 200 },
  unauthorized: { 'application/json': 401, 'application/graphql-response+json': 401 },
  'method-not-allowed': { 'application/json': 405, 'application/graphql-response+json': 405 },
  unavailable: { 'application/json': 503, 'application/graphql-response+json': 503 },
  overloaded: { 'application/json': 503, 'application/graphql-response+json': 503 },
}

type Headers = Readonly<Record<string, string>>

const headersOf = (outcome: GraphqlOutcome, status: number): Headers => ({
  ...statusHeaders(status),
  ...(outcome === 'method-not-allowed' && { allow: 'POST' }),
})

/** Headers that belong to the status of an outcome. */
export const outcomeHeaders = Object.fromEntries(
  Object.entries(statusTable).map(([outcome, statuses]) => [
    outcome,
    Object.fromEntries(
      Object.entries(statuses).map(([media, status]) => [media, headersOf(outcome as GraphqlOutcome, status)]),
    ),
  ]),
) as Readonly<Record<GraphqlOutcome, Readonly<Record<MediaType, Headers>>>>

const usual: Wanted = { media: jsonTypes[0], isStream: false, takesStream: false }

/** @throws HttpFailure if the client accepts none of them */
export function acceptedMedia(method: string, accept: string | undefined): Wanted {
  if (accept === undefined || accept === '*/*') return usual
  // Only on explicit request: `text/*` does not mean event streams.
  const takesStream = method !== 'HEAD' && accept?.includes(eventStream) === true
  const media = negotiate(accept, takesStream ? [...jsonTypes, eventStream] : jsonTypes)
  if (media === null) throw new HttpFailure('NOT_ACCEPTABLE')
  if (media !== eventStream) return { media, isStream: false, takesStream }
  return { media: 'application/graphql-response+json', isStream: true, takesStream }
}
