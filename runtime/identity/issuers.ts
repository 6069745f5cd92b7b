import { createRemoteJWKSet, decodeJwt, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose'

/** Tokens of other issuers, such as an identity provider that an application has already (RFC 7519, RFC 7517). */

export interface TrustedIssuer {
  /** The `iss` of its tokens. */
  readonly issuer: string
  /** What has to be among their `aud`. */
  readonly audience: string
  /** Roles that its tokens may name; the first is that of a token that names none. */
  readonly roles: readonly string[]
  /** Where its keys are; null: at .well-known/jwks.json below the issuer. */
  readonly jwks: string | null
}

/** Its keys cannot be had at the moment, so nothing is known of its tokens. */
export class IssuerSilent extends Error {
  override readonly name = 'IssuerSilent'
}

export interface ForeignToken {
  readonly payload: JWTPayload
  readonly role: string
}

export interface ForeignIssuers {
  /** Whether the token says that it is of one of them; the signature is not looked at. */
  readonly claims: (token: string) => boolean
  /** Rejects with an error of jose where the token is not to be believed, and with IssuerSilent. */
  readonly verify: (token: string, currentDate: Date, skew: number) => Promise<ForeignToken>
}

/** Asymmetric ones only: a public key is no secret for an HMAC (RFC 8725 section 3.1). */
const algorithms = ['RS256', 'ES256', 'EdDSA']

/** A key set is read again after this, or sooner for a key that it does not hold, but not more often than the pause. */
const keptMs = 600_000
const pauseMs = 30_000
const answerMs = 5_000

const keysOf = ({ issuer, jwks }: TrustedIssuer): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(jwks ?? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`), {
    cacheMaxAge: keptMs,
    cooldownDuration: pauseMs,
    timeoutDuration: answerMs,
  })

/** What says something of the token; anything else is the issuer's silence. */
const isVerdict = (error: unknown): boolean =>
  error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout) && error.code !== 'ERR_JOSE_GENERIC'

const issuerOf = (token: string): string | undefined => {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

export function createIssuers(trusted: readonly TrustedIssuer[]): ForeignIssuers {
  const known = new Map(trusted.map((one) => [one.issuer, { ...one, keys: keysOf(one) }]))
  const roleOf = ({ roles }: TrustedIssuer, { role }: JWTPayload): string => {
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
