import { parse, type DocumentNode } from 'graphql'

/** Null if it is not a document. */
export function parsedOf(text: string): DocumentNode | null {
  try {
    return parse(text, { noLocation: true })
  } catch {
    return null
  }
}
