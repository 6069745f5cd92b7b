import type { Revision } from '../../contract/artifact.ts'
import { builtModule } from '../../lib/built-module.ts'
import { readyOf } from '../apart/answers.ts'
import type { Ready } from '../run/request-state.ts'
import { createQueue } from '../apart/queue.ts'
import { createThreadFor } from '../apart/thread.ts'

/** A request with a compiled document whose variables are too many for the event loop. */
export interface LongQuestion {
  readonly folder: string
  readonly role: string
  readonly hash: string
  readonly addresses: { readonly document: string; readonly types: string }
  readonly operationName: string | null
  /** The body that holds the variables. */
  readonly unread: string
}

/**
 * Reads such variables on another thread.
 * @param party owner of the request: many requests of one party do not delay another's
 * @param look called again when it leaves the queue; it throws if the request has ended
 */
export type ReadApart = (revision: Revision, question: LongQuestion, party: string, look: () => void) => Promise<Ready>

/** @throws Refusal, HttpFailure */
export function createReadApart(): ReadApart {
  const module = builtModule(import.meta.url, 'runtime/graphql/compiled/worker.js')
  const thread = createThreadFor<LongQuestion>({ module, parts: () => [] })
  const queue = createQueue()
  return (revision, question, party, look) =>
    queue(party, async () => {
      look()
      return readyOf(await thread.ask(revision, question))
    })
}
