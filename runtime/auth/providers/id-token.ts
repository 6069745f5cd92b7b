import { createHash } from 'node:crypto'
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose'
import { equalTexts } from '../rules/pkce.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { ProviderRow } from './provider.ts'

/**
 * Whom an ID token has to be from and for. Neither is ever taken from a request or a token (spec/auth.md, attack 5).
 */
export interface TokenExpectations {
  readonly issuers: readonly string[]
  readonly clientId: string
  readonly keys: JWTVerifyGetKey
  /** None but what the provider signs with; each hashes `at_hash` by SHA-256. */
  readonly algorithms: ProviderRow['algorithms']
  /** Unix milliseconds. */
  readonly now: number
  /** What `at_hash` has to belong to, where the token has one; empty: nothing to compare. */
  readonly accessToken: string
}

/** Claims that hold: `sub` is there. */
export interface VerifiedClaims extends JWTPayload {
  readonly sub: string
  /** Unix seconds. */
  readonly exp: number
}

const toleranceSeconds = 30

/** OpenID Connect Core 1.0 section 2: ASCII, at most 255. */
const isSubject = /^[\x20-\x7e]{1,255}$/

/** The published keys of a provider, kept for a while. */
export function publishedKeys(address: string): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(address), { timeoutDuration: 2_500, [customFetch]: boundedFetch })
}

/** OpenID Connect Core 1.0 section 3.1.3.7. Rejects for a token that is not to be trusted. */
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
  // What fetch itself throws, and what jose makes of an answer that is none.
  const unusable = error instanceof errors.JOSEError && error.code === errors.JOSEError.code
  return unusable || error instanceof TypeError || error instanceof errors.JWKSTimeout
}

/** Of several audiences the token names the one that it was given to. A single one may be asked for by another client. */
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
