import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto'

/** Codes and links of mails (spec/auth.md 9.2). */

/** Six decimal digits, each of the million equally likely. */
export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0')
}

export function newSalt(): Buffer {
  return randomBytes(16)
}

/** The key of all link tokens of a project; the secret itself signs nothing but JWTs. */
export function linkKey(projectSecret: string): Buffer {
  return createHmac('sha256', projectSecret).update('catalograph one-time tokens').digest()
}

export interface LinkParts {
  /** Its slot: a token of one slot is invalid for others. */
  readonly purpose: string
  readonly address: string
  readonly code: string
  readonly salt: Buffer
}

/**
 * The link's token: 56 hex digits of a keyed hash. GoTrue hashes address and code without a key, which anyone can
 * compute for all million codes (spec/auth.md, attack 10).
 */
export function linkToken(key: Buffer, { purpose, address, code, salt }: LinkParts): string {
  const mac = createHmac('sha256', key).update(JSON.stringify([purpose, address, code, salt.toString('base64')]))
  return mac.digest('hex').slice(0, 56)
}

/** GoTrue's token, as in imported projects: for comparing a typed code, whose guesses are counted. */
export function importedToken(address: string, code: string): string {
  return createHash('sha224')
    .update(address + code)
    .digest('hex')
}

/** The prefix of a mail's token that belongs to a PKCE flow. */
export const pkcePrefix = 'pkce_'

export function withoutPrefix(token: string): string {
  return token.startsWith(pkcePrefix) ? token.slice(pkcePrefix.length) : token
}
