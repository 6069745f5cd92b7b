import { base64UrlToText, textToBase64Url } from './base64url.ts'
import { parseJson } from './json.ts'

/**
 * The cookie format of @supabase/ssr, so that servers with that package read ours and we theirs (spec/auth.md 14.2).
 */

export interface Cookie {
  readonly name: string
  readonly value: string
}

export type CookieEncoding = 'base64url' | 'raw'

/** Characters of a cookie's value, as sent. */
const chunkSize = 3180
const prefix = 'base64-'

export const encodeValue = (value: string, encoding: CookieEncoding): string =>
  encoding === 'raw' ? value : prefix + textToBase64Url(value)

/**
 * The decoded value. Null if chunks of two writes were joined, or one was truncated: a text with the prefix must be
 * base64url of JSON.
 */
export function decodeValue(encoded: string): string | null {
  if (!encoded.startsWith(prefix)) return encoded
  const text = base64UrlToText(encoded.slice(prefix.length))
  return text === null || parseJson(text) === undefined ? null : text
}

/** One cookie of the key's name or, if it is too long, numbered ones; no character is split. */
export function toChunks(key: string, encoded: string): readonly Cookie[] {
  if (encodeURIComponent(encoded).length <= chunkSize) return [{ name: key, value: encoded }]
  const pieces: string[] = []
  let piece = ''
  let size = 0
  for (const character of encoded) {
    const length = encodeURIComponent(character).length
    if (size + length > chunkSize) {
      pieces.push(piece)
      piece = ''
      size = 0
    }
    piece += character
    size += length
  }
  return [...pieces, piece].map((value, index) => ({ name: `${key}.${index}`, value }))
}

/** The chunks of a key joined up to the first gap; null if there are none. An empty cookie counts as absent. */
export function joinChunks(key: string, valueOf: (name: string) => string | undefined): string | null {
  const whole = valueOf(key)
  if (whole) return whole
  let joined = ''
  for (let index = 0; ; index++) {
    const chunk = valueOf(`${key}.${index}`)
    if (!chunk) return joined === '' ? null : joined
    joined += chunk
  }
}

/** Whether a cookie holds the value of a key or a piece of it: `key`, `key.0`, `key.12`, but not `key.01`. */
export function isChunkOf(name: string, key: string): boolean {
  return name === key || (name.startsWith(`${key}.`) && /^(0|[1-9]\d*)$/.test(name.slice(key.length + 1)))
}
