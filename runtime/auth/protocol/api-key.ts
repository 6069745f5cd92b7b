import type { Caller } from '../../contract/execution.ts'
import type { VerifyToken } from '../../identity/jwt.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** The project key is missing or is none: answered as a gateway does, in a shape of its own (spec/auth.md 2.1). */
export class KeyFailure extends Error {
  override readonly name = 'KeyFailure'
}

const read = new WeakMap<Caller, JsonObject>()

/** The claims of a verified token; a token that comes again has the same caller, whose claims are read once. */
export function claimsOf(caller: Caller): JsonObject {
  const known = read.get(caller)
  if (known !== undefined) return known
  const parsed: unknown = JSON.parse(caller.claims)
  const claims = isJsonObject(parsed) ? parsed : {}
  read.set(caller, claims)
  return claims
}

/** Holds that a text is a key of the project: a token of its secret that names no person. Throws KeyFailure. */
export async function checkApiKey(apikey: string, verify: VerifyToken): Promise<void> {
  if (apikey === '') throw new KeyFailure('No API key found in request')
  const verdict = await verify(apikey)
  if (verdict.kind === 'refused' || 'sub' in claimsOf(verdict.caller)) throw new KeyFailure('Invalid API key')
}
