import { createHash, timingSafeEqual, createHmac } from 'node:crypto'

/** The rules for new passwords (spec/auth.md 1 and 12). */
export interface PasswordRules {
  readonly password_min_length: number
  /** One character of each class is required. */
  readonly password_required_characters: readonly string[]
}

type WeakReason = 'length' | 'characters'

interface Weakness {
  readonly message: string
  readonly reasons: readonly WeakReason[]
}

/** bcrypt reads no further (spec/auth.md 12). */
const longestBytes = 72

/** The weaknesses of a password, or null. A character is a code point, however many bytes it has. */
export function judgeStrength(password: string, rules: PasswordRules): Weakness | null {
  const tooShort = [...password].length < rules.password_min_length
  const lacking = rules.password_required_characters.filter((all) => ![...all].some((one) => password.includes(one)))
  if (!tooShort && lacking.length === 0) return null
  const sentences = [
    ...(tooShort ? [`Password should be at least ${rules.password_min_length} characters.`] : []),
    ...(lacking.length > 0
      ? [`Password should contain at least one character of each: ${rules.password_required_characters.join(', ')}.`]
      : []),
  ]
  const reasons: readonly WeakReason[] = [
    ...(tooShort ? (['length'] as const) : []),
    ...(lacking.length > 0 ? (['characters'] as const) : []),
  ]
  return { message: sentences.join(' '), reasons }
}

/** Whether a password is longer than its hashed part. */
export function isTooLong(password: string): boolean {
  return Buffer.byteLength(password, 'utf8') > longestBytes
}

/**
 * The duration of a failed password comparison (spec/auth.md 12): equal for every account, whatever hash it has. Pure
 * rules about kinds of hashes; a kind is the beginning of a hash, up to its salt.
 */

/** Of bcrypt; cost 10 is the unit of work. */
const bcryptPattern = /^\$2[aby]\$(\d\d)/
/** Memory in KiB and passes. */
const argon2Pattern = /^\$argon2(?:i|id)\$v=\d+\$m=(\d+),t=(\d+)/
/** Cost, block size and lanes. */
const firebasePattern = /^\$fbscrypt\$v=1,n=(\d+),r=(\d+),p=(\d+)/

/** Blocks that Argon2 fills and scrypt mixes in the time of one bcrypt hash at cost 10, rounded down (measured). */
const blocksPerHash = 100_000

/** The work of a kind of hash, in bcrypt hashes at cost 10; 0 for a text that is not a hash. */
export function hashWork(kind: string): number {
  const numbers = (pattern: RegExp): readonly number[] | null => pattern.exec(kind)?.slice(1).map(Number) ?? null
  const bcrypt = numbers(bcryptPattern)
  if (bcrypt !== null) return bcryptWork(bcrypt[0] ?? 0)
  const argon2 = numbers(argon2Pattern)
  if (argon2 !== null) return product(argon2) / blocksPerHash
  const firebase = numbers(firebasePattern)
  if (firebase === null) return 0
  const [cost = 0, ...sizes] = firebase
  return (2 ** cost * product(sizes)) / blocksPerHash
}

const bcryptWork = (cost: number): number => 2 ** (cost - 10)

const product = (numbers: readonly number[]): number => numbers.reduce((all, one) => all * one, 1)

/** A step has room for a hash that takes twice its usual time. */
const room = 2

/** For an unmeasured hash: that of a slow processor. */
const unknownHashMs = 100

/** Well below the time limit of a request. */
const longestStepMs = 6_000

interface HashPace {
  readonly kinds: readonly string[]
  /** Cost of new hashes. */
  readonly cost: number
  /** The fastest of these in milliseconds; null: none was made yet. */
  readonly quickestMs: number | null
}

/** The step in milliseconds: that of the slowest stored kind, or of our own if none is slower. */
export function stepMs({ kinds, cost, quickestMs }: HashPace): number {
  const own = bcryptWork(cost)
  const hashMs = (quickestMs ?? unknownHashMs * own) / own
  const slowest = Math.max(own, ...kinds.map(hashWork))
  return Math.min(longestStepMs, Math.ceil(room * hashMs * slowest))
}

/** The remaining wait, so that the total is a multiple of the step; at most the time of a request. */
export function remainingMs(tookMs: number, step: number): number {
  const end = Math.max(1, Math.ceil(tookMs / step)) * step
  return Math.max(0, Math.min(end, longestStepMs) - tookMs)
}

/** Proof key of a flow (RFC 7636; spec/auth.md 6.1). */
export interface Challenge {
  readonly challenge: string
  readonly method: 's256' | 'plain'
}

type ChallengeVerdict =
  | { readonly kind: 'none' }
  | { readonly kind: 'challenge'; readonly challenge: Challenge }
  | { readonly kind: 'refused'; readonly reason: string }

const shortest = 43
const longest = 128

const refusing = (reason: string): ChallengeVerdict => ({ kind: 'refused', reason })

/** Reads the two parameters: both or neither. Empty texts are absent. */
export function readChallenge(challenge: string, method: string): ChallengeVerdict {
  if (challenge === '' && method === '') return { kind: 'none' }
  if (challenge === '' || method === '') return refusing('PKCE flow requires code_challenge_method and code_challenge')
  if (challenge.length < shortest || challenge.length > longest) {
    return refusing('code challenge has to be between 43 and 128 characters')
  }
  if (!/^[A-Za-z0-9._~-]+$/.test(challenge)) {
    return refusing('code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes')
  }
  const lower = method.toLowerCase()
  if (lower !== 's256' && lower !== 'plain') return refusing('code challenge method has to be s256 or plain')
  return { kind: 'challenge', challenge: { challenge, method: lower } }
}

/** Whether the verifier matches the challenge (RFC 7636 section 4.6), in constant time. */
export function meetsChallenge(verifier: string, { challenge, method }: Challenge): boolean {
  const made = method === 'plain' ? verifier : createHash('sha256').update(verifier, 'utf8').digest('base64url')
  return equalTexts(made, challenge)
}

/** Compares in a time that depends on the texts only by whether their lengths differ. */
export function equalTexts(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8')]
  return left.length === right.length && timingSafeEqual(left, right)
}

/**
 * Binds the provider's answer to the flow that requested it (RFC 9700 section 4.5): derived from the flow's `state` by
 * a key, so that it need not be stored and cannot be forged.
 */
export interface FlowProof {
  /** RFC 7636. */
  readonly verifier: string
  /** OpenID Connect Core 1.0 section 3.1.2.1. */
  readonly nonce: string
}

export type ProveFlow = (state: string) => FlowProof

export function createFlowProof(projectSecret: string): ProveFlow {
  const key = createHmac('sha256', projectSecret).update('catalograph flows of providers').digest()
  const made = (part: string, state: string): string =>
    createHmac('sha256', key).update(`${part} ${state}`).digest('base64url')
  return (state) => ({ verifier: made('verifier', state), nonce: made('nonce', state) })
}

/** The part for the provider. */
export const challengeOf = ({ verifier, nonce }: FlowProof): Readonly<Record<string, string>> => ({
  code_challenge: createHash('sha256').update(verifier, 'ascii').digest('base64url'),
  code_challenge_method: 'S256',
  nonce,
})
