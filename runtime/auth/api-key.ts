import type { VerifyToken } from '../identity/jwt.ts'
import { isObject } from './input.ts'

/** The project key is missing or is none: answered as a gateway does, in a shape of its own (section 2.1). */
export class KeyFailure extends Error {
  override readonly name = 'KeyFailure'
}

/** The claims of a verified token. */
export function claimsOf(text: string): Readonly<Record<string, unknown>> {
  const claims: unknown = JSON.parse(text)
  return isObject(claims) ? claims : {}
}

/** Holds that a text is a key of the project: a token of its secret that names no person. Throws KeyFailure. */
export async function checkApiKey(apikey: string, verify: VerifyToken): Promise<void> {
  if (apikey === '') throw new KeyFailure('No API key found in request')
  const verdict = await verify(apikey)
  if (verdict.kind === 'refused' || 'sub' in claimsOf(verdict.caller.claims)) throw new KeyFailure('Invalid API key')
}
