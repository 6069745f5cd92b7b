/** Cursors and node ids are base64 of the jsonb text of an array (spec/graphql.md 5.5, 7.1). */
export const encodeToken = (elements: readonly string[]): string =>
  Buffer.from(`[${elements.join(', ')}]`, 'utf8').toString('base64')

/**
 * The elements of a token as text, with every digit; null for JSON null; undefined where it is no array of plain
 * values.
 */
export function decodeToken(token: string): readonly (string | null)[] | undefined {
  const bytes = Buffer.from(token, 'base64')
  if (token === '' || bytes.toString('base64') !== token) return undefined
  const text = bytes.toString('utf8')
  try {
    if (!Array.isArray(JSON.parse(text))) return undefined
  } catch {
    return undefined
  }
  const parts =
    text
      .trim()
      .slice(1, -1)
      .match(/"(?:[^"\\]|\\.)*"|[^,\s[\]]+/g) ?? []
  return parts.map((part) => (part === 'null' ? null : part.startsWith('"') ? (JSON.parse(part) as string) : part))
}
