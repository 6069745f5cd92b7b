import { isList, readJson, type JsonNode } from './json.ts'

/** Cursors and node ids are base64 of the jsonb text of an array (spec/graphql.md 5.5, 7.1). */
export const encodeToken = (elements: readonly string[]): string =>
  Buffer.from(`[${elements.join(', ')}]`, 'utf8').toString('base64')

/** The elements of a cursor or node id, numbers with every digit; undefined if it is not an array. */
export function decodeToken(token: string): readonly JsonNode[] | undefined {
  const bytes = Buffer.from(token, 'base64')
  if (token === '' || bytes.toString('base64') !== token) return undefined
  const text = bytes.toString('utf8')
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  const elements = readJson(text)
  return isList(elements) ? elements : undefined
}
