import { parse, type DocumentNode } from 'graphql'

/** Null for what is no document. */
export function parsedOf(text: string): DocumentNode | null {
  try {
    return parse(text, { noLocation: true })
  } catch {
    return null
  }
}
