import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto'

/** Codes and links of mails (spec/auth.md 9.2). */

/** Six decimal digits, every one of the million as likely. */
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
  /** The slot that it is for: a token of one opens no other. */
  readonly purpose: string
  readonly address: string
  readonly code: string
  readonly salt: Buffer
}

/**
 * The link's token: 56 hex digits of a keyed hash. GoTrue hashes address and code without a key, which anybody can do
 * for all million codes (spec/auth.md, attack 10).
 */
export function linkToken(key: Buffer, { purpose, address, code, salt }: LinkParts): string {
  const mac = createHmac('sha256', key).update(JSON.stringify([purpose, address, code, salt.toString('base64')]))
  return mac.digest('hex').slice(0, 56)
}

/** GoTrue's token, as imported projects hold it: good for comparing a typed code, whose guesses are counted. */
export function importedToken(address: string, code: string): string {
  return createHash('sha224')
    .update(address + code)
    .digest('hex')
}

/** What stands before the token of a mail that belongs to a PKCE flow. */
export const pkcePrefix = 'pkce_'

export function withoutPrefix(token: string): string {
  return token.startsWith(pkcePrefix) ? token.slice(pkcePrefix.length) : token
}
