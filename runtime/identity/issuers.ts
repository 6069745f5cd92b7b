import type { IssuerSetting } from '../settings/parsers.ts'
import { createRemoteJWKSet, decodeJwt, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose'

/** Tokens of other issuers, such as an application's existing identity provider (RFC 7519, RFC 7517). */

/** Its keys are not available, so its tokens cannot be verified. */
export class IssuerSilent extends Error {
  override readonly name = 'IssuerSilent'
}

export interface ForeignToken {
  readonly payload: JWTPayload
  readonly role: string
}

export interface ForeignIssuers {
  /** Whether the token names one of them as issuer; the signature is not checked. */
  readonly claims: (token: string) => boolean
  /** Rejects with an error of jose if the token is invalid, and with IssuerSilent. */
  readonly verify: (token: string, currentDate: Date, skew: number) => Promise<ForeignToken>
}

/** Asymmetric ones only: a public key must not be used as an HMAC secret (RFC 8725 section 3.1). */
const algorithms = ['RS256', 'ES256', 'EdDSA']

/** A key set is read again after this time, or sooner for an unknown key, but not more often than the pause. */
const keptMs = 600_000
const pauseMs = 30_000
const answerMs = 5_000

const remoteKeys = ({ issuer, jwks }: IssuerSetting): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(jwks ?? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`), {
    cacheMaxAge: keptMs,
    cooldownDuration: pauseMs,
    timeoutDuration: answerMs,
  })

/** An error about the token; any other means that the issuer does not respond. */
const isVerdict = (error: unknown): boolean =>
  error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout) && error.code !== 'ERR_JOSE_GENERIC'

const issuerOf = (token: string): string | undefined => {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

export function createIssuers(trusted: readonly IssuerSetting[]): ForeignIssuers {
  const known = new Map(trusted.map((one) => [one.issuer, { ...one, keys: remoteKeys(one) }]))
  const roleOf = ({ roles }: IssuerSetting, { role }: JWTPayload): string => {
    const named = role ?? roles[0]
    if (typeof named === 'string' && roles.includes(named)) return named
    throw new errors.JWTClaimValidationFailed(
      'the role is not one that this issuer may name',
      {},
      'role',
      'check_failed',
    )
  }
  return {
    claims: (token) => known.has(issuerOf(token) ?? ''),
    verify: async (token, currentDate, skew) => {
      const found = known.get(issuerOf(token) ?? '')
      if (found === undefined) throw new errors.JWTInvalid('the issuer is not trusted')
      const { issuer, audience, keys } = found
      const options = { issuer, audience, algorithms, currentDate, clockTolerance: skew, requiredClaims: ['exp'] }
      const { payload } = await jwtVerify(token, keys, options).catch((error: unknown) => {
        throw isVerdict(error) ? error : new IssuerSilent(`the keys of ${issuer} cannot be read`, { cause: error })
      })
      return { payload, role: roleOf(found, payload) }
    },
  }
}
