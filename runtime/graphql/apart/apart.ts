import { stringify } from 'lossless-json'
import { holdsDecimals } from '../../lib/json.ts'
import type { Revision } from '../../contract/artifact.ts'
import type { QueueLimits } from '../../lib/sharing/fair-queue.ts'
import { documentId, type DocumentRequest, type Documents } from '../prepared/documents.ts'
import { Refusal } from '../protocol/failures.ts'
import type { GraphqlRequest } from '../protocol/request-and-answer.ts'
import { readyOf } from './answers.ts'
import type { Question } from './messages.ts'
import type { Ready } from '../run/request-state.ts'
import { createQueue } from './queue.ts'
import type { ThreadAnswer, Thread } from './thread.ts'

/** Reads work that would block the event loop on another thread: long documents, and many values. */
export interface Apart {
  /**
   * @param party owner of the request: many requests of one party do not delay another's
   * @param known looks up the result when its turn comes: another request may have read the same document
   * @throws Refusal, HttpFailure
   */
  readonly read: (what: Reading, party: string, known: () => Ready | null) => Promise<Ready>
}

export interface Reading {
  readonly revision: Revision
  readonly documents: Documents
  readonly asked: DocumentRequest
  readonly request: GraphqlRequest
  /** Each step of a field is a statement. */
  readonly byStep: boolean
}

export function createApart(thread: Thread, waiting?: QueueLimits): Apart {
  const queue = createQueue(waiting)
  /** Documents being read. */
  const underWay = new Map<string, Promise<unknown>>()
  const read: Apart['read'] = (what, party, known) =>
    queue(party, async () => known() ?? learnAnswer(what, await thread.ask(what.revision, questionOf(what))))
  return {
    read: async (what, party, known) => {
      const id = `${what.revision.id} ${documentId(what.asked)}`
      // A request with the same document takes no place in the queue: the running read will most likely serve it.
      const before = underWay.get(id)
      if (before !== undefined) {
        await before
        return known() ?? read(what, party, known)
      }
      const reading = read(what, party, known)
      const settled = reading.then(nothing, nothing).finally(() => underWay.delete(id))
      underWay.set(id, settled)
      return reading
    },
  }
}

const nothing = (): void => undefined

/** Numbers with exact digits cannot be cloned as such: they are sent as a text. */
const unreadOf = ({ unread, variables }: GraphqlRequest): string | null =>
  unread ?? (holdsDecimals(variables) ? (stringify({ variables }) ?? null) : null)

const questionOf = ({ revision, asked, request, byStep }: Reading): Question => ({
  kind: 'question',
  revision: revision.id,
  role: asked.role,
  text: asked.text,
  operationName: asked.operationName,
  queryOnly: request.queryOnly,
  live: request.live === true,
  byStep,
  variables: request.unread === undefined ? request.variables : {},
  unread: unreadOf(request),
})

function learnAnswer({ documents, asked }: Reading, answer: ThreadAnswer): Ready | Promise<Ready> {
  if (answer.kind === 'ready' && answer.lesson !== null) documents.learn(asked, { kind: 'read', ...answer.lesson })
  if (answer.kind === 'refused' && answer.always)
    documents.learn(asked, { kind: 'refused', refusal: new Refusal(answer.code, answer.errors) })
  return readyOf(answer)
}
