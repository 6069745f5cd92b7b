import { refuse, type Refusal } from '../protocol/failures.ts'

/**
 * Runs work that reads a document or its values. Parsers, rules and plans are recursive, so a document that exhausts
 * the stack is nested beyond any use.
 */
export function withinStack<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep()
    throw error
  }
}

export const tooDeep = (): Refusal =>
  refuse('DOCUMENT_TOO_DEEP', 'The document or its variables are nested too deeply.')
