/** Base64 with the alphabet for URLs, without padding (RFC 4648 section 5), of the UTF-8 bytes of a text. */

export function bytesToBase64Url(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

export const textToBase64Url = (text: string): string => bytesToBase64Url(new TextEncoder().encode(text))

/**
 * Null if it is not base64url of UTF-8. Like other readers of these cookies, it ignores padding, white space, and a
 * last character with too few bits for a byte.
 */
export function base64UrlToText(encoded: string): string | null {
  const digits = encoded.replace(/[ \t\n\r=]/g, '')
  if (/[^\w-]/.test(digits)) return null
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits
  const binary = atob(whole.replaceAll('-', '+').replaceAll('_', '/'))
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return decoder.decode(Uint8Array.from(binary, (byte) => byte.charCodeAt(0)))
  } catch {
    return null
  }
}
