import type { RunStatement } from '../../db/pool/statements.ts'
import type { TokenFault, VerifyToken } from '../../identity/jwt.ts'
import { claimsOf, isUuid } from '../protocol/input.ts'
import { refuse } from '../protocol/errors.ts'
import { findSession } from '../store/sessions.ts'
import { findUserWithSession } from '../store/users.ts'
import type { SessionRow, UserRow } from '../protocol/records.ts'

export interface Bearer {
  readonly authorization: string | undefined
  readonly verify: VerifyToken
  readonly run: RunStatement
}

const faults: Readonly<Record<TokenFault, string>> = {
  expired: 'token is expired',
  early: 'token is not valid yet',
  signature: 'signature is invalid',
  malformed: 'token is malformed',
}

interface Verified {
  readonly role: string
  readonly claims: Readonly<Record<string, unknown>>
}

/** RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110 section 11.1). */
async function verifyBearer({ authorization, verify }: Bearer): Promise<Verified> {
  const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) throw refuse('no_authorization')
  const verdict = await verify(token)
  if (verdict.kind === 'verified') return { role: verdict.caller.role, claims: claimsOf(verdict.caller) }
  throw refuse('bad_jwt', `invalid JWT: unable to parse or verify signature, ${faults[verdict.fault]}`)
}

/**
 * The user of the token, and its session if it names one, at their common assurance: a token from before the session
 * was raised keeps its level. Throws the refusals of spec/auth.md 2.2.
 */
export async function userOfBearer(
  bearer: Bearer,
): Promise<{ readonly user: UserRow; readonly session: SessionRow | null }> {
  const { claims } = await verifyBearer(bearer)
  const sub = claims['sub'] ?? ''
  if (sub === '') throw refuse('bad_jwt', 'invalid claim: missing sub claim')
  if (typeof sub !== 'string' || !isUuid(sub)) {
    throw refuse('bad_jwt', { status: 400, message: 'invalid claim: sub claim must be a UUID' })
  }
  const sessionId = sessionIdOf(claims)
  const found = await findUserWithSession(bearer.run, sub, sessionId)
  if (found === null) throw refuse('user_not_found')
  if (sessionId !== null && found.session === null) throw refuse('session_not_found')
  if (found.banned) throw refuse('user_banned')
  return { user: found, session: found.session === null ? null : atMost(claims['aal'], found.session) }
}

function atMost(claimed: unknown, session: SessionRow): SessionRow {
  return claimed === 'aal2' || claimed === 'aal3' ? session : { ...session, aal: 'aal1' }
}

/** Tokens that the owner signs need not belong to a session. */
function sessionIdOf(claims: Readonly<Record<string, unknown>>): string | null {
  const id = claims['session_id'] ?? ''
  if (id === '') return null
  if (typeof id === 'string' && isUuid(id)) return id
  throw refuse('bad_jwt', 'invalid claim: session_id claim must be a UUID')
}

/** The role of an administrator's token. Throws the refusals of spec/auth.md 2.2 for admin endpoints. */
export async function adminOfBearer(bearer: Bearer, adminRoles: readonly string[]): Promise<string> {
  const { role, claims } = await verifyBearer(bearer)
  if (!adminRoles.includes(role)) throw refuse('not_admin')
  const sessionId = sessionIdOf(claims)
  if (sessionId !== null && (await findSession(bearer.run, sessionId)) === null) throw refuse('session_expired')
  return role
}
