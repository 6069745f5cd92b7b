import { createHmac, createCipheriv, scryptSync, timingSafeEqual } from 'node:crypto'
import type { Client } from '../call/call.ts'
import { once } from '../../lib/caches.ts'
import type { HashVerdict } from './hashing.ts'

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

// Native code of some megabytes: a process that only serves data never needs it.
const argon2Library = once(() => import('@node-rs/argon2'))
const bcryptLibrary = once(() => import('@node-rs/bcrypt'))

/**
 * The supported password hashes (spec/auth.md 12): how each is recognised and checked, and whether it is current.
 * Making and checking a hash blocks its thread, which is never the main one (passwords.ts).
 */
interface Algorithm {
  readonly matches: RegExp
  readonly verify: (password: string, stored: string) => boolean | Promise<boolean>
  /** True if a hash is as strong as a new one of that cost. */
  readonly isCurrent: (stored: string, cost: number) => boolean
}

/** Of new hashes (spec/auth.md 12): each step up doubles the work. */
export const usualCost = 10

/** After the version, in two digits. */
const costOf = (stored: string): number => Number(stored.slice(4, 6))

/** A hash of a cost above 14 would keep a processor busy for longer than a request may last. */
const bcrypt: Algorithm = {
  matches: /^\$2[aby]\$(?:0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$/,
  verify: async (password, stored) => (await bcryptLibrary()).verifySync(password, stored),
  isCurrent: (stored, cost) => costOf(stored) >= cost,
}

/** Memory in KiB, passes and lanes of an Argon2 string; each bounded, because it decides the cost of a check. */
const argon2: Algorithm = {
  matches: /^\$argon2(?:i|id)\$v=\d+\$m=\d{1,6},t=\d{1,2},p=\d{1,2}\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/,
  verify: async (password, stored) => {
    const { verifySync } = await argon2Library()
    try {
      return verifySync(stored, password)
    } catch {
      return false
    }
  },
  isCurrent: () => false,
}

/** Groups 1 to 7: cost, block size, lanes, salt separator, signer key, salt, hash. */
const firebasePattern =
  /^\$fbscrypt\$v=1,n=(\d{1,2}),r=(\d{1,2}),p=(\d),ss=([\w+/=-]*),sk=([\w+/=-]+)\$([\w+/=-]+)\$([\w+/=-]+)$/

/** Firebase's variant of scrypt: the derived key encrypts the project's signer key, and that is the hash. */
const firebase: Algorithm = {
  matches: firebasePattern,
  verify: (password, stored) => {
    const [, n = '', r = '', p = '', separator = '', signer = '', salt = '', expected = ''] =
      firebasePattern.exec(stored) ?? []
    const options = { N: 2 ** Number(n), r: Number(r), p: Number(p), maxmem: mostScryptMemory }
    const bytes = (text: string): Buffer => Buffer.from(text, 'base64')
    const key = deriveKey(password, Buffer.concat([bytes(salt), bytes(separator)]), options)
    if (key === null) return false
    return sameBytes(createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(bytes(signer)), bytes(expected))
  },
  isCurrent: () => false,
}

const mostScryptMemory = 256 * 1_048_576

type ScryptOptions = { readonly N: number; readonly r: number; readonly p: number; readonly maxmem: number }

/** Null: scrypt does not accept the parameters. */
function deriveKey(password: string, salt: Buffer, options: ScryptOptions): Buffer | null {
  try {
    return scryptSync(password, salt, 32, options)
  } catch {
    return null
  }
}

const sameBytes = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)

const algorithms: readonly Algorithm[] = [bcrypt, argon2, firebase]

const algorithmOf = (stored: string): Algorithm | null => algorithms.find(({ matches }) => matches.test(stored)) ?? null

/** True for a text that can be stored as a hash: everything else is refused at import. */
export const isHash = (stored: string): boolean => algorithmOf(stored) !== null

/** True if a hash is as strong as a new one. */
export const isCurrentHash = (stored: string, cost = usualCost): boolean =>
  algorithmOf(stored)?.isCurrent(stored, cost) ?? false

/** Versions 2a and 2b are equal up to 72 bytes; other tools know the older name best (spec/auth.md 12). */
export const makeHash = async (password: string, cost = usualCost): Promise<string> =>
  (await bcryptLibrary()).hashSync(password, cost).replace(/^\$2b/, '$2a')

/** A hash that no password has: for comparisons without a stored one, so that they take as long. */
const nobodysHash = (cost: number): string =>
  `$2a$${String(cost).padStart(2, '0')}$7EqJtq98hPqEX7fNZaFWoOhi5ZsVYvDQX7rVg7h8e7gPjG1Bqi2Ga`

/** Compares with a stored hash; an absent or unknown one takes as long as one of that cost and fails. */
export async function compareHash(password: string, stored: string | null, cost = usualCost): Promise<boolean> {
  const algorithm = stored === null ? null : algorithmOf(stored)
  if (stored !== null && algorithm !== null) return algorithm.verify(password, stored)
  await bcrypt.verify(password, nobodysHash(cost))
  return false
}

/** The same, and whether the next sign-in should replace the hash. */
export async function judgeHash(password: string, stored: string | null, cost = usualCost): Promise<HashVerdict> {
  if (!(await compareHash(password, stored, cost))) return 'wrong'
  return isCurrentHash(stored ?? '', cost) ? 'right' : 'outdated'
}
