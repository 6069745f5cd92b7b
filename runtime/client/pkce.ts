import { bytesToBase64Url } from './base64url.ts'
import { AuthError } from './errors.ts'
import { parseJson, textOf, type Fields } from './json.ts'
import type { SteadyStorage } from './storage.ts'

/** Proof Key for Code Exchange (RFC 7636): only the client that started a sign-in can exchange its code. */

export interface Verifier {
  readonly text: string
  /** For a password reset, so that its return does not count as a sign-in. */
  readonly recovery: boolean
}

export interface Pkce {
  /** Creates and stores a verifier. Returns its challenge as the service expects it; empty in the implicit flow. */
  readonly challenge: (purpose?: 'recovery') => Promise<Fields & Partial<Challenge>>
  readonly read: () => Promise<Verifier | null>
  readonly forget: () => Promise<void>
}

export interface Challenge {
  readonly code_challenge: string
  readonly code_challenge_method: 's256' | 'plain'
}

const recoveryMark = '/recovery'

export function createPkce(storage: SteadyStorage, storageKey: string, flow: 'implicit' | 'pkce'): Pkce {
  const key = `${storageKey}-code-verifier`
  return {
    challenge: async (purpose) => {
      if (flow === 'implicit') return {}
      const verifier = bytesToBase64Url(crypto.getRandomValues(new Uint8Array(32)))
      await storage.set(key, JSON.stringify(verifier + (purpose === 'recovery' ? recoveryMark : '')))
      return challengeOf(verifier)
    },
    read: async () => verifierOf(await storage.get(key)),
    forget: () => storage.set(key, null),
  }
}

function verifierOf(stored: string | null): Verifier | null {
  const text = stored === null ? null : textOf(parseJson(stored))
  if (text === null) return null
  const recovery = text.endsWith(recoveryMark)
  return { text: recovery ? text.slice(0, -recoveryMark.length) : text, recovery }
}

/** Pages without https have no digests; the protocol has the plain method for them (RFC 7636 section 4.2). */
async function challengeOf(verifier: string): Promise<Challenge> {
  const { subtle } = crypto as { readonly subtle?: typeof crypto.subtle }
  if (subtle === undefined) return { code_challenge: verifier, code_challenge_method: 'plain' }
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return { code_challenge: bytesToBase64Url(new Uint8Array(digest)), code_challenge_method: 's256' }
}

export const verifierMissing = (): AuthError =>
  new AuthError('code_verifier_missing', 'This sign-in was not begun in this browser, or was finished already')
