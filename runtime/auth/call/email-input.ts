import { refuse } from '../protocol/errors.ts'
import { judgeEmail, normalEmail } from '../rules/email.ts'
import { readChallenge, type Challenge } from '../rules/pkce.ts'
import type { JsonObject } from '../../lib/json.ts'

/** The input of a request for a mail: to sign up, or to sign in again. Checked. */
export interface Registration {
  readonly email: string
  /** The user's own metadata. */
  readonly data: JsonObject
  readonly challenge: Challenge | null
  readonly destination: string
}

/** The stored form of a given address. Throws 400 `validation_failed` (spec/auth.md 4.2). */
export function checkedEmail(address: string): string {
  switch (judgeEmail(address)) {
    case 'too-long':
      throw refuse('validation_failed', 'An email address is too long')
    case 'malformed':
      throw refuse('validation_failed', 'Unable to validate email address: invalid format')
    case null:
      return normalEmail(address)
  }
}

/** A proof key in a body or a query (RFC 7636). */
interface GivenChallenge {
  readonly code_challenge: string | undefined
  readonly code_challenge_method: string | undefined
}

/** The proof key of a flow, or null. Throws 400 `validation_failed` (spec/auth.md 6.1). */
export function checkedChallenge(given: GivenChallenge): Challenge | null {
  const { code_challenge: challenge = '', code_challenge_method: method = '' } = given
  const verdict = readChallenge(challenge, method)
  if (verdict.kind === 'refused') throw refuse('validation_failed', verdict.reason)
  return verdict.kind === 'none' ? null : verdict.challenge
}
