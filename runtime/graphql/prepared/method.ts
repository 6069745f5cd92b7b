import { refuse } from '../protocol/failures.ts'
import type { GraphqlRequest } from '../protocol/types.ts'
import type { Known } from './document.ts'

/** @throws Refusal for a mutation where only queries may run, and for a subscription outside of a stream */
export function checkMethod(
  { writes, streams }: Pick<Known, 'writes' | 'streams'>,
  { queryOnly, live }: Pick<GraphqlRequest, 'queryOnly' | 'live'>,
): void {
  if (queryOnly && writes) throw refuse('MUTATION_BY_GET', 'Mutations are only answered by POST.')
  if (streams && live !== true)
    throw refuse(
      'STREAM_REQUIRED',
      'Subscriptions are answered as a stream: by Server-Sent Events (Accept: text/event-stream) or WebSocket.',
    )
}
