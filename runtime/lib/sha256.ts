import { createHash } from 'node:crypto'

/** SHA-256 (FIPS 180-4) of the bytes, those of a text in UTF-8, as 64 lower-case hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}
