import { base64UrlToText } from './base64url.ts'
import { AuthError } from './errors.ts'
import { isFields, parseJson, textOf, type Fields } from './json.ts'
import type { Session, User } from './types.ts'

/** A session in a storage: some helpers of other clients keep the user elsewhere. */
export type StoredSession = Omit<Session, 'user'> & { readonly user: User | null }

export const isWhole = (session: StoredSession | null): session is Session => session !== null && session.user !== null

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The user in an answer; null if absent. An id that is not a UUID does not come from the service. */
export function userOf(value: unknown): User | null {
  if (!isFields(value) || !uuid.test(textOf(value['id']) ?? '')) return null
  const { app_metadata, user_metadata } = value
  return { ...value, app_metadata: app_metadata ?? {}, user_metadata: user_metadata ?? {} } as unknown as User
}

/** The session in an answer, with the expiry of its access token; null if absent. */
export function sessionOf(value: unknown, now: number): Session | null {
  const stored = storedSessionOf(value)
  if (!isWhole(stored) || typeof stored.expires_in !== 'number') return null
  return { ...stored, expires_at: stored.expires_at || Math.floor(now / 1000) + stored.expires_in }
}

/** A session in a storage; without an expiry it counts as expired, and is refreshed before it is used. */
export function storedSessionOf(value: unknown): StoredSession | null {
  if (!isFields(value)) return null
  if (textOf(value['access_token']) === null || textOf(value['refresh_token']) === null) return null
  const expiresAt = value['expires_at']
  const end = typeof expiresAt === 'number' && Number.isFinite(expiresAt) ? expiresAt : 0
  return { ...value, expires_at: end, user: userOf(value['user']) } as unknown as StoredSession
}

export function expected<T>(value: T | null): T {
  if (value === null) throw new AuthError('bad_answer', 'The service sent something else than was expected')
  return value
}

/** The claims of an access token, unverified: the service verifies them. */
export function claimsOf(accessToken: string): Fields {
  const text = base64UrlToText(accessToken.split('.')[1] ?? '')
  const claims = text === null ? null : parseJson(text)
  return isFields(claims) ? claims : {}
}
