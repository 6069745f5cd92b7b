import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'

/** The secret before a rotation (spec/auth.md 2.2): accepted until a date, and never used for signing. */
export interface PreviousSecret {
  readonly secret: string
  /** Milliseconds since 1970. */
  readonly until: number
}

/** Algorithms of keys in a set; the project's secret has its own, see jwt.ts. */
type KeyAlgorithm = 'RS256' | 'ES256'

interface PublicKey {
  readonly key: KeyObject
  readonly algorithm: KeyAlgorithm
}

export interface SigningKey extends PublicKey {
  readonly kid: string
}

/** Keys beside the project's secret. A set is immutable: a new set replaces it. */
export interface KeySet {
  /** By `kid`. */
  readonly public: ReadonlyMap<string, PublicKey>
  readonly signing: SigningKey | null
}

/** A JSON Web Key (RFC 7517) with an id and an algorithm. */
export interface NamedJwk {
  readonly kid: string
  readonly alg: string
  readonly key_ops: readonly string[]
}

/** Creates a set of JWKs. Throws if one of them is not a key of its algorithm. */
export function createKeySet(jwks: readonly NamedJwk[]): KeySet {
  const entries = jwks.map((jwk) => [jwk.kid, { key: publicKey(jwk), algorithm: algorithmOf(jwk) }] as const)
  const signing = jwks.find((jwk) => jwk.key_ops.includes('sign')) ?? null
  return { public: new Map(entries), signing: signing && signingKey(signing) }
}

/** The public form of the set (RFC 7517): public members only. */
export function publicJwks(jwks: readonly NamedJwk[]): readonly object[] {
  return jwks.map((jwk) => ({
    ...publicKey(jwk).export({ format: 'jwk' }),
    kid: jwk.kid,
    alg: jwk.alg,
    use: 'sig',
    key_ops: ['verify'],
  }))
}

const jwkInput = (jwk: NamedJwk) => ({ key: jwk as unknown as JsonWebKey, format: 'jwk' }) as const

const publicKey = (jwk: NamedJwk): KeyObject => createPublicKey(jwkInput(jwk))

const signingKey = (jwk: NamedJwk): SigningKey => ({
  kid: jwk.kid,
  key: createPrivateKey(jwkInput(jwk)),
  algorithm: algorithmOf(jwk),
})

function algorithmOf({ alg }: NamedJwk): KeyAlgorithm {
  if (alg === 'RS256' || alg === 'ES256') return alg
  throw new Error(`A key of the set is for ${alg}, which is neither RS256 nor ES256.`)
}
