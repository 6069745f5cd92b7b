import { createHash, timingSafeEqual } from 'node:crypto'

/** Proof key of a flow (RFC 7636; spec/auth.md 6.1). */
export interface Challenge {
  readonly challenge: string
  readonly method: 's256' | 'plain'
}

export type ChallengeVerdict =
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
