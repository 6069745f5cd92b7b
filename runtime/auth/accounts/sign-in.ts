import { randomBytes, randomUUID } from 'node:crypto'
import type { RunStatement } from '../../db/pool/statements.ts'
import type { Call } from '../call/call.ts'
import { userJson } from '../rules/user-json.ts'
import { insertSession } from '../store/sessions.ts'
import { findUserWithSignedSession } from '../store/users.ts'
import { addressHashOf } from './password-guesses.ts'
import type { AuthTools } from './tools.ts'
import type { AmrMethod, SessionJson, SignedSession, UserRef, UserRow } from '../protocol/types.ts'

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
