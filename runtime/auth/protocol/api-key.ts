import type { Caller } from '../../contract/execution.ts'
import type { VerifyToken } from '../../identity/jwt.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** The project key is missing or invalid: answered like a gateway, in a separate form (spec/auth.md 2.1). */
export class KeyFailure extends Error {
  override readonly name = 'KeyFailure'
}

const read = new WeakMap<Caller, JsonObject>()

/** The claims of a verified token; a cached token has the same caller, whose claims are parsed once. */
export function claimsOf(caller: Caller): JsonObject {
  const known = read.get(caller)
  if (known !== undefined) return known
  const parsed: unknown = JSON.parse(caller.claims)
  const claims = isJsonObject(parsed) ? parsed : {}
  read.set(caller, claims)
  return claims
}

/** Checks that a text is a key of the project: a token of its secret that names no person. Throws KeyFailure. */
export async function checkApiKey(apikey: string, verify: VerifyToken): Promise<void> {
  if (apikey === '') throw new KeyFailure('No API key found in request')
  const verdict = await verify(apikey)
  if (verdict.kind === 'refused' || 'sub' in claimsOf(verdict.caller)) throw new KeyFailure('Invalid API key')
}
