import { randomBytes, randomUUID } from 'node:crypto'
import type { RunStatement } from '../../db/pool/statements.ts'
import type { Call } from '../call/call.ts'
import { userJson } from '../rules/user-json.ts'
import { audit } from '../store/audit-log.ts'
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

/** Begins a session of a user, inside a transaction. The user must not be closed out: banned, unconfirmed. */
export async function startSession(
  run: RunStatement,
  tools: AuthTools,
  { client }: Call,
  user: UserRef,
  way: SignInWay,
  isRecovery = false,
): Promise<StartedSession> {
  const [id, refreshToken] = [randomUUID(), newRefreshToken()]
  const { userAgent, address } = client
  const { method, provider } = methodOf(way)
  const guessedAt = { addressHash: addressHashOf(tools, user), device: tools.deviceOf(client) }
  const session = { id, userId: user.id, method, refreshToken, userAgent, address, isRecovery, ...guessedAt }
  const [, , found] = await Promise.all([
    insertSession(run, session),
    audit(run, { action: 'login', actor: user, address, traits: { provider } }),
    findUserWithSignedSession(run, user.id, id),
  ])
  if (found === null || found.session === null) throw new Error('A session that was just begun is not there.')
  return { user: found, session: found.session, refreshToken }
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
