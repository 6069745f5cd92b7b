import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunStatement } from '../../db/pool/statements.ts'
import { pauseMs, retries } from '../../lib/retry.ts'
import type { Call, Client, Outcome, UserCall } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { userJson } from '../rules/user-json.ts'
import { giveSessionGuessBack, takeSessionGuess } from '../store/factor-guesses.ts'
import * as guesses from '../store/password-guesses.ts'
import { insertSession } from '../store/sessions.ts'
import { findUserWithSignedSession } from '../store/users.ts'
import type { AuthTools } from './tools.ts'
import type { AmrMethod, SessionJson, SignedSession, UserRef, UserRow } from '../protocol/records.ts'

/** A stored session: the source of its answer. */
export interface StartedSession {
  readonly user: UserRow
  readonly session: SignedSession
  readonly refreshToken: string
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** Twelve characters of base32: 60 random bits (spec/auth.md 7). */
export function newRefreshToken(): string {
  return [...randomBytes(12)].map((byte) => alphabet[byte % alphabet.length]).join('')
}

export interface BegunSession {
  /** The present user; null: deleted. */
  readonly user: UserRow | null
  /** Null: the user was banned, or the password changed. */
  readonly started: StartedSession | null
}

/**
 * Begins a session of a user: one exchange, whose statements start together. `provedHash` is the hash of the compared
 * password; null: the caller holds the row of a user who may sign in.
 */
export async function beginSession(
  run: RunStatement,
  tools: AuthTools,
  { client }: Call,
  user: UserRef,
  { way, provedHash = null, isRecovery = false }: Beginning,
): Promise<BegunSession> {
  const [id, refreshToken] = [randomUUID(), newRefreshToken()]
  const { userAgent, address } = client
  const guessedAt = { addressHash: addressHashOf(tools, user), device: tools.deviceOf(client) }
  const by = { ...methodOf(way), userAgent, address, isRecovery, provedHash, ...guessedAt }
  const [, found] = await Promise.all([
    insertSession(run, { id, userId: user.id, refreshToken, ...by }),
    findUserWithSignedSession(run, user.id, id),
  ])
  if (found === null || found.session === null) return { user: found, started: null }
  return { user: found, started: { user: found, session: found.session, refreshToken } }
}

export async function startSession(
  run: RunStatement,
  tools: AuthTools,
  call: Call,
  user: UserRef,
  way: SignInWay,
  isRecovery = false,
): Promise<StartedSession> {
  const { started } = await beginSession(run, tools, call, user, { way, isRecovery })
  if (started === null) throw new Error('A session that was just begun is not there.')
  return started
}

interface Beginning {
  readonly way: SignInWay
  readonly provedHash?: string | null
  readonly isRecovery?: boolean
}

/** The sign-in method: one of ours, or an account at a provider. */
type SignInWay = Exclude<AmrMethod, 'oauth'> | { readonly provider: string }

function methodOf(way: SignInWay): { readonly method: AmrMethod; readonly provider: string } {
  if (typeof way === 'object') return { method: 'oauth', provider: way.provider }
  return { method: way, provider: way === 'anonymous' ? 'anonymous' : 'email' }
}

export async function sessionOutcome(
  tools: AuthTools,
  call: Call,
  started: StartedSession,
  more: object = {},
  headers: Outcome['headers'] = {},
): Promise<Outcome> {
  return { status: 200, body: { ...(await sessionJson(tools, call, started)), ...more }, headers }
}

/** The session in its client's form (spec/auth.md 3.3). */
export async function sessionJson(
  { tokens }: AuthTools,
  { settings }: Call,
  started: StartedSession,
): Promise<SessionJson> {
  const { token, expiresAt } = await tokens.issue(settings, started.user, started)
  return {
    access_token: token,
    token_type: 'bearer',
    expires_in: settings.jwt_exp,
    expires_at: expiresAt,
    refresh_token: started.refreshToken,
    user: userJson(started.user),
  }
}

/** A reserved guess of a password; it counts as wrong unless it is given back. */
export interface PasswordGuess {
  /** The user of the address; null: none. */
  readonly user: UserRow | null
  /** Whether the device signed in to the account before. */
  readonly isKnown: boolean
  readonly release: () => Promise<void>
}

/**
 * Reserves a guess of the password of an address before the comparison (spec/auth.md 4.4). Throws 429
 * `over_request_rate_limit`, for known and unknown addresses alike.
 */
export async function takeGuess(tools: AuthTools, client: Client, address: string): Promise<PasswordGuess> {
  const { run } = tools.database
  const email = address.toLowerCase()
  const [hash, device] = [tools.addressHash(email), tools.deviceOf(client)]
  for (let attempt = 1; ; attempt += 1) {
    const taken = await guesses.takePasswordGuess(run, email, hash, device)
    if (taken === null) throw new Error('The guesses of an address gave no row.')
    const { granted, known, seconds, busy, user } = taken
    if (granted) return { user, isKnown: known, release: () => guesses.givePasswordGuessBack(run, known, hash) }
    // Several devices with the right password may sign in simultaneously.
    if (!busy || attempt >= retries.passwordGuess.attempts) throw refuseGuess(seconds)
    await sleep(pauseMs(retries.passwordGuess, attempt))
  }
}

/** The key that counts guesses of a user's password; null: the user has no address. */
export const addressHashOf = ({ addressHash }: AuthTools, { email }: Pick<UserRef, 'email'>): Buffer | null =>
  email ? addressHash(email.toLowerCase()) : null

/** Counts towards blocking the source address, like a wrong guess. */
export const refuseGuess = (seconds: number): Error =>
  refuse('over_request_rate_limit', { retryAfter: seconds, isAttempt: true })

/** Reserves one of a session's guesses. Throws `spent` if none is left, 403 `session_not_found` if it has ended. */
export async function takeGuessOfSession(run: RunStatement, sessionId: string, spent: () => Error): Promise<void> {
  const taken = await takeSessionGuess(run, sessionId)
  if (taken === null) throw refuse('session_not_found')
  if (!taken.granted) throw spent()
}

/**
 * Reserves a guess of the caller's own password, and returns its release (spec/auth.md 5.2). It counts for the session,
 * so that a stolen session leaves the account's guesses to its owner.
 */
export async function takeOwnGuess(tools: AuthTools, call: UserCall): Promise<() => Promise<void>> {
  const { run } = tools.database
  const { session, user, client } = call
  if (session === null) return (await takeGuess(tools, client, user.email ?? user.id)).release
  await takeGuessOfSession(run, session.id, () =>
    refuse('current_password_invalid', 'Too many wrong passwords in this session: sign in again'),
  )
  return () => giveSessionGuessBack(run, session.id)
}
