import { isFields, type Fields } from '../json.ts'
import { applyPatch, isSame } from './patch.ts'

/** The last answer of a stream, across its connections. */
export interface Answers {
  /** The id of its event; empty without one. */
  readonly eventId: () => string
  /** A new connection: its first answer may repeat the last one. */
  readonly connected: () => void
  /** The data of a message; undefined if unchanged. Throws TypeError for an invalid message. */
  readonly take: (message: Fields, eventId: string) => unknown
  /** The next connection must begin with a complete answer. */
  readonly forget: () => void
}

export function createAnswers(): Answers {
  let data: unknown
  let [eventId, isFirst] = ['', true]
  return {
    eventId: () => eventId,
    connected: () => (isFirst = true),
    forget: () => (eventId = ''),
    take: (message, id) => {
      const next = dataOf(message, data)
      const isNew = !isFirst || !isSame(data, next)
      ;[data, eventId, isFirst] = [next, id, false]
      return isNew ? next : undefined
    },
  }
}

function dataOf(message: Fields, before: unknown): unknown {
  const { data, extensions } = message
  if (isFields(data)) return data
  const patch = isFields(extensions) ? extensions['patch'] : undefined
  if (!Array.isArray(patch) || before === undefined) throw new TypeError('The service sent neither data nor a patch')
  return applyPatch(before, patch)
}
