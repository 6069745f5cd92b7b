import { createHash } from 'node:crypto'
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose'
import { equalTexts } from '../rules/credentials.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { ProviderRow } from './provider.ts'

/**
 * The expected issuer and audience of an ID token. Neither is ever taken from a request or a token (spec/auth.md,
 * attack 5).
 */
export interface TokenExpectations {
  readonly issuers: readonly string[]
  readonly clientId: string
  readonly keys: JWTVerifyGetKey
  /** Only the provider's algorithms; each hashes `at_hash` with SHA-256. */
  readonly algorithms: ProviderRow['algorithms']
  /** Unix milliseconds. */
  readonly now: number
  /** The token for `at_hash`, if the ID token has one; empty: not compared. */
  readonly accessToken: string
}

export interface VerifiedClaims extends JWTPayload {
  readonly sub: string
  /** Unix seconds. */
  readonly exp: number
}

const toleranceSeconds = 30

/** OpenID Connect Core 1.0 section 2: ASCII, at most 255. */
const isSubject = /^[\x20-\x7e]{1,255}$/

/** The published keys of a provider, cached for a while. */
export function publishedKeys(address: string): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(address), { timeoutDuration: 2_500, [customFetch]: boundedFetch })
}

/** OpenID Connect Core 1.0 section 3.1.3.7. Rejects for an invalid token. */
export async function verifyIdToken(token: string, expected: TokenExpectations): Promise<VerifiedClaims> {
  const { payload } = await jwtVerify(token, expected.keys, {
    algorithms: [...expected.algorithms],
    issuer: [...expected.issuers],
    clockTolerance: toleranceSeconds,
    currentDate: new Date(expected.now),
    requiredClaims: ['sub', 'aud', 'exp', 'iat'],
  })
  const { sub, iat, exp } = payload
  if (typeof sub !== 'string' || !isSubject.test(sub)) throw new Error('the subject is missing')
  if (iat === undefined || iat > expected.now / 1000 + toleranceSeconds) throw new Error('it was issued in the future')
  if (!isFor(payload, expected.clientId)) throw new Error('it is for another client')
  if (!matchesAccessToken(payload, expected.accessToken)) throw new Error('it belongs to another access token')
  if (exp === undefined) throw new Error('it never expires')
  return { ...payload, sub, exp }
}

/** Whether verifying failed because the provider's keys were not available, not because of the token. */
export function isOutage(error: unknown): boolean {
  // Errors of fetch itself, and jose's error for an unusable answer.
  const unusable = error instanceof errors.JOSEError && error.code === errors.JOSEError.code
  return unusable || error instanceof TypeError || error instanceof errors.JWKSTimeout
}

/** With several audiences the token names its authorized party. A single audience may have another requester. */
function isFor({ aud = [], azp }: JWTPayload, clientId: string): boolean {
  const audiences = [aud].flat()
  return audiences.includes(clientId) && (audiences.length === 1 || azp === clientId)
}

/** OpenID Connect Core 1.0 section 3.1.3.6: the left half of the hash that the signature uses. */
function matchesAccessToken({ at_hash: hash }: JWTPayload, accessToken: string): boolean {
  if (hash === undefined || accessToken === '') return true
  const left = createHash('sha256').update(accessToken, 'ascii').digest().subarray(0, 16)
  return typeof hash === 'string' && equalTexts(left.toString('base64url'), hash)
}
