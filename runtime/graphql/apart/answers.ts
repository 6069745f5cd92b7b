import { HttpFailure } from '../../http/boundary.ts'
import { refuse, Refusal } from '../protocol/failures.ts'
import type { Reply } from './messages.ts'
import { unpack } from './packing.ts'
import type { Ready } from '../run/request-state.ts'
import type { ThreadAnswer } from './thread.ts'

/** Replies of a thread to a request, on both sides. */

/** @param always see Reply. @throws errors that neither the request nor the artifacts caused */
export function replyFor(error: unknown, always: boolean): Reply {
  if (error instanceof Refusal) return { kind: 'refused', code: error.code, errors: error.errors, always }
  if (error instanceof HttpFailure) return { kind: 'unreadable', code: error.code, message: error.message }
  throw error
}

export const failedReply = (error: unknown): Reply => ({
  kind: 'failed',
  detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
})

/** @throws Refusal, HttpFailure */
export function readyOf(answer: ThreadAnswer): Ready | Promise<Ready> {
  switch (answer.kind) {
    case 'ready':
      return unpack(answer.ready)
    case 'refused':
      throw new Refusal(answer.code, answer.errors)
    case 'unreadable':
      throw new HttpFailure(answer.code, answer.message)
    case 'exhausted':
      throw refuse('DOCUMENT_TOO_LARGE', 'The document and its variables take more memory than is allowed.')
    case 'late':
      throw refuse('DEADLINE_EXCEEDED', 'The request took longer than is allowed and was given up; nothing was kept.')
    case 'failed':
      throw new Error(`a document could not be read apart: ${answer.detail}`)
  }
}
