import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto'
import type { PreviousSecret } from '../../identity/key-set.ts'
import type { RunStatement } from '../../db/pool/statements.ts'
import { equalTexts } from '../rules/credentials.ts'
import { reserveGuess, reserveGuesses, type GuessedAt, type ReservedGuess } from '../store/codes.ts'
import type { PendingToken, TokenSlot } from '../store/one-time-tokens.ts'

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

interface LinkParts {
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

/** A new code and the link's token, not stored yet: see putOneTimeToken. */
export interface IssuedToken extends Omit<PendingToken, 'userId'> {
  readonly code: string
}

interface TypedCode {
  readonly address: string
  readonly code: string
  /** Life of a code in seconds. */
  readonly lifetime: number
}

interface CodeAttempt extends TypedCode {
  readonly userId: string
  readonly slot: TokenSlot
}

export interface Presented {
  readonly userId: string
  readonly slot: TokenSlot
  /** In stored form. */
  readonly token: string
}

export interface OneTimeTokens {
  readonly issue: (slot: TokenSlot, address: string, flow: 'pkce' | 'implicit') => IssuedToken
  /**
   * Whether a typed code is the mailed one, and not too old: then the token of the slot, which one statement can find
   * and spend; else null. Costs one of the code's five guesses, also if the call fails later: `run` must not be a
   * transaction's.
   */
  readonly check: (run: RunStatement, attempt: CodeAttempt) => Promise<string | null>
  /** The same for every possible account and slot of the code: a guess of each of them. */
  readonly find: (run: RunStatement, typed: TypedCode, at: GuessedAt) => Promise<Presented | null>
}

/** Issues one token for each mailbox, however often it is called: for mails, whose work may run twice. */
export function steadyTokens({ issue }: OneTimeTokens): Pick<OneTimeTokens, 'issue'> {
  const issued = new Map<string, IssuedToken>()
  return {
    issue: (slot, address, flow) => {
      const key = `${slot} ${flow} ${address}`
      const token = issued.get(key) ?? issue(slot, address, flow)
      issued.set(key, token)
      return token
    },
  }
}

interface Rotation {
  readonly previous: PreviousSecret | null
  readonly now: () => number
}

const noRotation: Rotation = { previous: null, now: Date.now }

/** Codes that were mailed under the previous secret are valid until it ends; new ones use only the present secret. */
export function createOneTimeTokens(projectSecret: string, { previous, now } = noRotation): OneTimeTokens {
  const key = linkKey(projectSecret)
  const earlier = previous === null ? null : linkKey(previous.secret)
  const isRight = (guess: ReservedGuess, typed: TypedCode): boolean =>
    isOfKey(key, guess, typed) ||
    (previous !== null && earlier !== null && now() < previous.until && isOfKey(earlier, guess, typed))
  return {
    issue: (slot, address, flow) => {
      const [code, salt] = [newCode(), newSalt()]
      const token = linkToken(key, { purpose: slot, address, code, salt })
      return { slot, address, code, salt, token: flow === 'pkce' ? pkcePrefix + token : token }
    },
    check: async (run, { userId, slot, ...typed }) => {
      const guess = await reserveGuess(run, userId, slot)
      return guess !== null && isRight(guess, typed) ? guess.token : null
    },
    find: async (run, typed, at) => {
      const guesses = await reserveGuesses(run, typed.address, at, typed.lifetime)
      const right = guesses.filter((guess) => isRight(guess, typed))[0]
      return right === undefined ? null : { userId: right.user_id, slot: right.slot, token: right.token }
    },
  }
}

function isOfKey(key: Buffer, guess: ReservedGuess, { address, code, lifetime }: TypedCode): boolean {
  const { slot, salt, token, issued_seconds_ago: age } = guess
  const isImported = salt.length === 0
  const expected = isImported ? importedToken(address, code) : linkToken(key, { purpose: slot, address, code, salt })
  return equalTexts(expected, withoutPrefix(token)) && age <= lifetime
}
