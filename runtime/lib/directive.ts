import { isJsonObject, type JsonObject, tryParseJson } from './json.ts'

/** What a comment asks for, for who writes comments: `@graphql({...})` (spec/graphql.md 13.1). */

/** Up to the last parenthesis of the comment. */
const directive = /^([^]*?)@graphql\(([^]+)\)([^]*)$/

const printed = (settings: object): string => `@graphql(${JSON.stringify(settings)})`

/**
 * The comment with its settings changed, and its text as it was; null where what it holds cannot be read.
 * @param change settings as they are, to settings as they are to be
 */
export function withSettings(comment: string | null, change: (settings: JsonObject) => JsonObject): string | null {
  const [, before = '', text, after = ''] = directive.exec(comment ?? '') ?? []
  if (text === undefined) return [comment ?? '', printed(change({}))].filter((part) => part !== '').join('\n')
  const settings = tryParseJson(text)
  return isJsonObject(settings) ? `${before}${printed(change(settings))}${after}` : null
}
