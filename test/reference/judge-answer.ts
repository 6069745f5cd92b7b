import { difference } from './compare.ts'
import type { Outcome } from './interpreter/interpret.ts'
import type { Json } from './interpreter/world.ts'
import { shortened } from './texts-apart.ts'

/** A disagreement of the service and the interpreter. */
export interface Disagreement {
  readonly kind: 'answer' | 'refusal' | 'state' | 'shape'
  /** The code of an unexpected refusal. */
  readonly code: string | null
  readonly message: string
}

/** The body of an answer. */
export interface Answer {
  readonly data: unknown
  readonly errors?: readonly {
    readonly message: string
    readonly extensions: { readonly code: string; readonly sqlstate?: string }
  }[]
}

/** Refusals with the same reason are the same failure, even with different names in them. */
const reasonOf = ({ message, extensions }: NonNullable<Answer['errors']>[number]): string =>
  extensions.sqlstate ?? `${extensions.code} ${message.replace(/"[^"]*"/g, '""')}`

/** The difference of an answer from the interpreter's; null if they agree. */
export function judgeAnswer({ answer: expected, unordered }: Outcome, actual: Answer): Disagreement | null {
  const errors = actual.errors ?? []
  const code = errors[0] === undefined ? null : reasonOf(errors[0])
  if (expected.kind === 'refused') {
    const wanted = expected.reasons.join(' or ')
    if (errors.length === 0)
      return {
        kind: 'refusal',
        code: null,
        message: `expected a refusal (${wanted}), but the answer was ${shortened(JSON.stringify(actual.data))}`,
      }
    const isExpected = errors.some(({ message, extensions: { code: reason, sqlstate } }) =>
      [message, reason, sqlstate ?? ''].some((said) => expected.reasons.includes(said)),
    )
    const isBare = actual.data === null
    return isExpected && isBare
      ? null
      : {
          kind: 'refusal',
          code,
          message: `expected the refusal ${wanted}, but it was ${shortened(JSON.stringify(actual))}`,
        }
  }
  if (errors.length > 0)
    return { kind: 'refusal', code, message: `expected an answer, but it was refused: ${JSON.stringify(errors)}` }
  if (actual.data === undefined)
    return { kind: 'shape', code: null, message: `expected an answer, but it was ${shortened(JSON.stringify(actual))}` }
  const found = difference(expected.data, actual.data as Json, unordered)
  return found === null ? null : { kind: 'answer', code: null, message: found }
}
