import { createHmac } from 'node:crypto'
import type { Client } from '../call/call.ts'

/** The keys that count guesses of a password (spec/auth.md 4.4). */

/** The key that counts guesses of an address, which a reader of the table cannot derive. `email` in lower case. */
export function createAddressHash(projectSecret: string): (email: string) => Buffer {
  const key = createHmac('sha256', projectSecret).update('catalograph password guesses').digest()
  return (email) => createHmac('sha256', key).update(email).digest()
}

/**
 * The identity of a device, from existing data of its client: source address (of IPv6 its /64) and user agent, hashed
 * with a key, so that a reader of the table learns neither.
 */
export function createDeviceOf(projectSecret: string): (client: Client) => Buffer {
  const key = createHmac('sha256', projectSecret).update('catalograph devices').digest()
  return ({ source, userAgent }) =>
    createHmac('sha256', key)
      .update(`${source} ${userAgent ?? ''}`)
      .digest()
}
