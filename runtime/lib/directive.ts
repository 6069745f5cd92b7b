import { isJsonObject, type JsonObject, tryParseJson } from './json.ts'

/** Settings in comments, for writers of comments: `@graphql({...})` (spec/graphql.md 13.1). */

/** Up to the last parenthesis of the comment. */
const directive = /^([^]*?)@graphql\(([^]+)\)([^]*)$/

const printed = (settings: object): string => `@graphql(${JSON.stringify(settings)})`

/**
 * The comment with changed settings, and its other text unchanged; null if its settings cannot be read.
 * @param change maps old settings to new ones
 */
export function withSettings(comment: string | null, change: (settings: JsonObject) => JsonObject): string | null {
  const [, before = '', text, after = ''] = directive.exec(comment ?? '') ?? []
  if (text === undefined) return [comment ?? '', printed(change({}))].filter((part) => part !== '').join('\n')
  const settings = tryParseJson(text)
  return isJsonObject(settings) ? `${before}${printed(change(settings))}${after}` : null
}
