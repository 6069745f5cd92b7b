import { type JsonMembers, type JsonValue } from './json-value.ts'
import { isJsonObject, tryParseJson } from '../../runtime/lib/json.ts'

/** The content of a comment. `outside`: its text without the directive, null if empty. */
export type ParsedComment =
  /** No directive, or one with JSON that is not an object: `ignored` is its text. */
  | { readonly kind: 'plain'; readonly outside: string | null; readonly ignored: string | null }
  | { readonly kind: 'settings'; readonly outside: string | null; readonly settings: JsonMembers }
  | { readonly kind: 'broken'; readonly text: string }

const opening = '@graphql('

/**
 * Finds the directive of a comment (spec/graphql.md 13.1): from the first `@graphql(` greedily to the last `)` of the
 * whole comment, line feeds included, at least one character in between. The content must be JSON.
 */
export function parseComment(comment: string | null): ParsedComment {
  if (comment === null) return { kind: 'plain', outside: null, ignored: null }
  const start = comment.indexOf(opening)
  const from = start + opening.length
  const to = comment.lastIndexOf(')')
  if (start < 0 || to <= from) return { kind: 'plain', outside: joinTexts(comment), ignored: null }
  return readCapture(comment.slice(from, to), joinTexts(comment.slice(0, start), comment.slice(to + 1)))
}

function readCapture(text: string, outside: string | null): ParsedComment {
  const value = tryParseJson(text) as JsonValue | undefined
  if (value === undefined) return { kind: 'broken', text }
  return isJsonObject(value)
    ? { kind: 'settings', outside, settings: value }
    : { kind: 'plain', outside, ignored: text }
}

function joinTexts(...texts: readonly string[]): string | null {
  const joined = texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n')
  return joined === '' ? null : joined
}
