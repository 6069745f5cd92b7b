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

/** A session that is in the database: what its answer is made of. */
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

/** What came of beginning a session. */
export interface BegunSession {
  /** As the user is now; null: there is none any more. */
  readonly user: UserRow | null
  /** Null: the user was closed out meanwhile, or has another password. */
  readonly started: StartedSession | null
}

/**
 * Begins a session of a user: one exchange, whose statements start at once. `provedHash` is what a password was compared
 * with; null: the caller holds the row of a user who is not closed out (banned, unconfirmed).
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

/** The same in a transaction that holds the user's row, or has made it. */
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

/** How somebody signed in: by a method of ours, or by an account at a provider. */
type SignInWay = Exclude<AmrMethod, 'oauth'> | { readonly provider: string }

function methodOf(way: SignInWay): { readonly method: AmrMethod; readonly provider: string } {
  if (typeof way === 'object') return { method: 'oauth', provider: way.provider }
  return { method: way, provider: way === 'anonymous' ? 'anonymous' : 'email' }
}

/** A session as the answer to a call, with what else belongs to it. */
export async function sessionOutcome(
  tools: AuthTools,
  call: Call,
  started: StartedSession,
  more: object = {},
  headers: Outcome['headers'] = {},
): Promise<Outcome> {
  return { status: 200, body: { ...(await sessionJson(tools, call, started)), ...more }, headers }
}

/** The session as its client reads it (spec/auth.md 3.3). */
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

/** A guess of a password that was taken; one that is not given back counts as wrong. */
export interface PasswordGuess {
  /** The user of the address; null: there is none. */
  readonly user: UserRow | null
  readonly giveBack: () => Promise<void>
}

/**
 * Takes a guess of the password that belongs to an address, before it is compared (spec/auth.md 4.4). Throws 429
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
  if (session === null) return (await takeGuess(tools, client, user.email ?? user.id)).giveBack
  await takeGuessOfSession(run, session.id, () =>
    refuse('current_password_invalid', 'Too many wrong passwords in this session: sign in again'),
  )
  return () => giveSessionGuessBack(run, session.id)
}
