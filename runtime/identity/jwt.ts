import { createHmac, webcrypto, type KeyObject } from 'node:crypto'
import { decodeProtectedHeader, errors, jwtVerify, SignJWT, type JWTPayload } from 'jose'
import type { Caller } from '../contract/execution.ts'
import { createTryingLru, once } from '../lib/caches.ts'
import { sha256Hex } from '../lib/text.ts'
import type { ForeignIssuers } from './issuers.ts'
import type { KeySet, SigningKey, PreviousSecret } from './key-set.ts'

/** Why a token is refused. */
export type TokenFault = 'expired' | 'early' | 'signature' | 'malformed'

export type TokenVerdict =
  | { readonly kind: 'verified'; readonly caller: Caller }
  | { readonly kind: 'refused'; readonly fault: TokenFault }

/** Synchronous for a token that was accepted before. */
export type VerifyToken = (token: string) => TokenVerdict | Promise<TokenVerdict>

/** Synchronous if known. */
export type IsRevoked = (id: string) => boolean | Promise<boolean>

export interface VerifierOptions {
  readonly secret: string
  /** Null or absent: there was no rotation. */
  readonly previous?: PreviousSecret | null
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
  /** The current public keys beside the secret; read only for tokens that name a key. */
  readonly keys?: () => Promise<KeySet>
  /** Whether the key of an id was revoked. Absent: keys cannot be revoked. */
  readonly isRevoked?: IsRevoked
  /** Other issuers whose tokens are accepted; absent: none. */
  readonly issuers?: ForeignIssuers
  /** Receives the caller of each of our own tokens when it is first accepted here. */
  readonly believed?: (caller: Caller) => void
}

/** The only algorithm of the secret: a token that names any other, or none, is refused (RFC 8725 section 3.1). */
const algorithm = 'HS256'
/** Seconds by which the signer's clock may be ahead (spec/auth.md, attack 37). */
const skew = 30
/**
 * The maximum length of a token, accepted or issued. One of 48 KiB and 16 KiB of other headers pass through common
 * proxies with little or no configuration (Envoy takes 60 KiB of headers by default, AWS 64, Cloudflare 128).
 */
export const longestToken = 49_152
/** Characters of cached tokens and claims: of some five thousand simultaneous users. */
const keptCharacters = 8_000_000
/** The largest time of a Date in seconds: a token without `exp` is valid until then. */
const never = 8_640_000_000_000

/**
 * Creates the verifier for a secret, its predecessor, and the keys beside it. A token that names a key (`kid`) must be
 * of that key and its algorithm; any other must be of the secret. `nbf` may be 30 s ahead; `exp` has no leeway (RFC
 * 7519 sections 4.1.4, 4.1.5). Accepted tokens are cached until they expire or the keys change; refused ones are not,
 * so that they cannot fill the memory.
 */
export function createTokenVerifier(options: VerifierOptions): VerifyToken {
  const { secret, previous = null, now, keys, issuers, isRevoked, believed: report } = options
  const own = secretKey(secret)
  const earlier = previous === null ? null : secretKey(previous.secret)
  const verifyOwn = async (token: string, set: KeySet | null, date: Date): Promise<BelievedToken | Refused> => {
    const verified = await verifyToken(token, own, set, date)
    if (previous === null || earlier === null || set !== null || date.getTime() >= previous.until) return verified
    if (verified.kind !== 'refused' || verified.fault !== 'signature') return verified
    const again = await verifyToken(token, earlier, null, date)
    return again.kind === 'refused' ? again : { ...again, expires: Math.min(again.expires, previous.until / 1000) }
  }
  const believed = createTryingLru<string, BelievedToken>(keptCharacters, tokenWeight)
  const recall = (token: string): BelievedToken | undefined => {
    const known = believed.get(signatureOf(token))
    return known?.token === token ? known : undefined
  }
  const isGood = (known: BelievedToken | undefined, set: KeySet | null): known is BelievedToken => {
    if (known === undefined || known.set !== set) return false
    const seconds = now() / 1000
    return known.notBefore <= seconds && seconds < known.expires
  }
  const look = async (token: string, known: BelievedToken | undefined): Promise<TokenVerdict> => {
    const foreign = issuers !== undefined && token.length <= longestToken && issuers.claims(token) ? issuers : null
    const set = foreign === null && namesKey(known, token) ? ((await keys?.()) ?? noKeys) : null
    if (isGood(known, set)) return judged(known)
    if (known !== undefined) believed.delete(signatureOf(token))
    const date = new Date(now())
    const verified = foreign === null ? await verifyOwn(token, set, date) : await verifyForeign(token, foreign, date)
    if (verified.kind === 'refused') return verified
    believed.set(signatureOf(token), verified)
    if (foreign === null) report?.(verified.verdict.caller)
    return judged(verified)
  }
  const judged = ({ keyId, verdict }: BelievedToken): TokenVerdict | Promise<TokenVerdict> => {
    const revoked = keyId !== null && isRevoked !== undefined && isRevoked(keyId)
    if (revoked instanceof Promise) return revoked.then((is) => (is ? asRevoked : verdict))
    return revoked ? asRevoked : verdict
  }
  return (token) => {
    const known = recall(token)
    return isGood(known, null) ? judged(known) : look(token, known)
  }
}

/**
 * Signs claims with a secret (RFC 7515 section 7.1). The same claims and secret always give the same text. Own code,
 * because every refresh signs: Web Crypto, which jose uses, moves an HMAC of 3 µs to another thread.
 */
export function signToken(claims: Readonly<Record<string, unknown>>, secret: string): string {
  const text = `${base64url({ alg: algorithm, typ: 'JWT' })}.${base64url(claims)}`
  return `${text}.${hmacOf(text, secret).toString('base64url')}`
}

const hmacOf = (text: string, secret: string): Buffer => createHmac('sha256', secret).update(text).digest()

/**
 * The id of a key without `jti` (spec/auth.md 2.1). It is made of the HMAC, not of the signature text: in base64url
 * several texts represent the same bytes.
 */
export function derivedKeyId(token: string, secret: string): string {
  return sha256Hex(hmacOf(token.slice(0, token.lastIndexOf('.')), secret)).slice(0, 16)
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Signs claims with a private key; the token names it. */
export function signWithKey(claims: Readonly<Record<string, unknown>>, key: SigningKey): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: key.algorithm, typ: 'JWT', kid: key.kid }).sign(key.key)
}

interface VerificationKey {
  readonly key: KeyObject | webcrypto.CryptoKey
  readonly algorithm: string
}

const noKeys: KeySet = { public: new Map(), signing: null }

interface BelievedToken {
  readonly kind: 'believed'
  readonly token: string
  readonly verdict: Extract<TokenVerdict, { readonly kind: 'verified' }>
  /** The keys with which it was accepted; null: the secret. */
  readonly set: KeySet | null
  readonly notBefore: number
  readonly expires: number
  /** The id for revocation; null: not revocable. */
  readonly keyId: string | null
}

/** Its holder learns only that the key is invalid. */
const asRevoked: TokenVerdict = { kind: 'refused', fault: 'signature' }

type Refused = Extract<TokenVerdict, { readonly kind: 'refused' }>

function tokenWeight({ token, verdict }: BelievedToken): number {
  return token.length + verdict.caller.claims.length
}

/** The cache key of a token: hashing a whole token costs a microsecond per request, and signatures are unique. */
function signatureOf(token: string): string {
  return token.slice(token.lastIndexOf('.') + 1)
}

/** In the form that jose uses directly: another form would be imported for every token. */
async function verificationKey(secret: string): Promise<VerificationKey> {
  const bytes = Buffer.from(secret, 'utf8')
  const key = await webcrypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  return { key, algorithm }
}

interface SecretKey {
  readonly secret: string
  readonly key: () => Promise<VerificationKey>
}

const secretKey = (secret: string): SecretKey => ({ secret, key: once(() => verificationKey(secret)) })

/** True for a token whose header names a key; an accepted token is not parsed again. */
function namesKey(known: BelievedToken | undefined, token: string): boolean {
  if (known !== undefined) return known.set !== null
  return token.length <= longestToken && kidOf(token) !== undefined
}

function kidOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid
  } catch {
    // The verification reports a faulty header.
    return undefined
  }
}

async function verifyToken(
  token: string,
  own: SecretKey,
  set: KeySet | null,
  currentDate: Date,
): Promise<BelievedToken | Refused> {
  // jose ignores white space in signatures.
  if (token.length > longestToken || /\s/.test(token)) return refusedToken('malformed')
  const key = set === null ? await own.key() : set.public.get(String(kidOf(token)))
  if (key === undefined) return refusedToken('signature')
  try {
    const options = { algorithms: [key.algorithm], currentDate, clockTolerance: skew }
    const { payload } = await jwtVerify(token, key.key, options)
    const expires = payload.exp ?? never
    if (expires * 1000 <= currentDate.getTime()) return refusedToken('expired')
    const claims = claimsText(token)
    const role = payload['role']
    if (claims === null || !isRoleName(role)) return refusedToken('malformed')
    const user = userOf(payload)
    const verdict = { kind: 'verified', caller: { role, claims, ...(user !== null && { user }) } } as const
    const keyId = keyIdOf(payload, () => (set === null ? derivedKeyId(token, own.secret) : null))
    return { kind: 'believed', token, verdict, set, notBefore: (payload.nbf ?? 0) - skew, expires, keyId }
  } catch (error) {
    return refusedToken(faultOf(error))
  }
}

/** An access token of a user ends with its session; it is revocable separately only if its issuer set `jti`. */
const keyIdOf = ({ jti = '', sub = '' }: JWTPayload, derived: () => string | null): string | null =>
  jti === '' ? (sub === '' ? derived() : null) : jti

/** Keys of other issuers change and are withdrawn there, so cached results expire. */
const foreignSeconds = 600

async function verifyForeign(
  token: string,
  issuers: ForeignIssuers,
  currentDate: Date,
): Promise<BelievedToken | Refused> {
  if (/\s/.test(token)) return refusedToken('malformed')
  try {
    const { payload, role } = await issuers.verify(token, currentDate, skew)
    const seconds = currentDate.getTime() / 1000
    const { exp = 0, nbf = 0, iss, sub } = payload
    if (exp <= seconds) return refusedToken('expired')
    const claims = claimsText(token)
    if (claims === null) return refusedToken('malformed')
    const user = sub === undefined ? null : `${iss} ${sub}`
    const verdict = { kind: 'verified', caller: { role, claims, ...(user !== null && { user }) } } as const
    const expires = Math.min(exp, seconds + foreignSeconds)
    return { kind: 'believed', token, verdict, set: null, notBefore: nbf - skew, expires, keyId: null }
  } catch (error) {
    return refusedToken(faultOf(error))
  }
}

function refusedToken(fault: TokenFault): Refused {
  return { kind: 'refused', fault }
}

/** Names in Postgres contain no NUL, and `none` is not a role but resets to the login role (manual, SET ROLE). */
function isRoleName(role: unknown): role is string {
  return typeof role === 'string' && role !== '' && role !== 'none' && !role.includes('\0')
}

/** A client may become a guest any number of times, so a guest counts by its address. */
function userOf({ sub, is_anonymous: isGuest }: JWTPayload): string | null {
  return typeof sub === 'string' && sub !== '' && isGuest !== true ? sub : null
}

/** The payload exactly as it was signed, so that no digit or key is lost; null if it is not UTF-8. */
function claimsText(token: string): string | null {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(payload)
  } catch {
    return null
  }
}

/** Errors other than jose's own refusals are internal and are rethrown. */
function faultOf(error: unknown): TokenFault {
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed) return error.claim === 'nbf' ? 'early' : 'malformed'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature'
  if (error instanceof errors.JOSEError) return 'malformed'
  throw error
}
