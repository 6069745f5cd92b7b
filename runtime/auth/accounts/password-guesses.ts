import { setTimeout as sleep } from 'node:timers/promises'
import type { RunStatement } from '../../db/pool/statements.ts'
import { pauseMs, retries } from '../../lib/retry.ts'
import type { Client, UserCall } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import type { UserRef, UserRow } from '../protocol/types.ts'
import { giveSessionGuessBack, takeSessionGuess } from '../store/factor-guesses.ts'
import * as guesses from '../store/password-guesses.ts'
import type { AuthTools } from './tools.ts'

/** A guess of a password that was taken; one that is not given back counts as wrong. */
export interface PasswordGuess {
  /** The user of the address; null: there is none. */
  readonly user: UserRow | null
  readonly giveBack: () => Promise<void>
}

/**
 * Takes a guess of the password that belongs to an address, in lower case, before it is compared (spec/auth.md 4.4). Throws 429
 * `over_request_rate_limit`, for known and unknown addresses alike.
 */
export async function takeGuess(tools: AuthTools, client: Client, email: string): Promise<PasswordGuess> {
  const { run } = tools.database
  const [hash, device] = [tools.addressHash(email), tools.deviceOf(client)]
  for (let attempt = 1; ; attempt += 1) {
    const taken = await guesses.takePasswordGuess(run, email, hash, device)
    if (taken === null) throw new Error('The guesses of an address gave no row.')
    const { granted, known, seconds, busy, user } = taken
    if (granted) return { user, giveBack: () => guesses.givePasswordGuessBack(run, known, hash) }
    // Several devices with the right password may sign in at once.
    if (!busy || attempt >= retries.passwordGuess.attempts) throw refuseGuess(seconds)
    await sleep(pauseMs(retries.passwordGuess, attempt))
  }
}

/** What guesses of a user's password are counted by; null: the user has no address. */
export const addressHashOf = ({ addressHash }: AuthTools, { email }: Pick<UserRef, 'email'>): Buffer | null =>
  email ? addressHash(email.toLowerCase()) : null

/** Counts towards closing the source address, as a wrong guess does. */
export const refuseGuess = (seconds: number): Error =>
  refuse('over_request_rate_limit', { retryAfter: seconds, isAttempt: true })

/** Takes one of the guesses of a session. Throws `spent` where none is left, 403 `session_not_found` where it has ended. */
export async function takeGuessOfSession(run: RunStatement, sessionId: string, spent: () => Error): Promise<void> {
  const taken = await takeSessionGuess(run, sessionId)
  if (taken === null) throw refuse('session_not_found')
  if (!taken.granted) throw spent()
}

/**
 * Takes a guess of the caller's own password, and returns what gives it back (spec/auth.md 5.2). It is one of the
 * session's, so that a session in wrong hands leaves the account's guesses to its owner.
 */
export async function takeOwnGuess(tools: AuthTools, call: UserCall): Promise<() => Promise<void>> {
  const { run } = tools.database
  const { session, user, client } = call
  if (session === null) return (await takeGuess(tools, client, user.email?.toLowerCase() ?? user.id)).giveBack
  await takeGuessOfSession(run, session.id, () =>
    refuse('current_password_invalid', 'Too many wrong passwords in this session: sign in again'),
  )
  return () => giveSessionGuessBack(run, session.id)
}
