import { HttpFailure, type HttpFailureCode } from '../../http/boundary.ts'
import type { CredentialRefusal, Identified } from '../../identity/caller.ts'
import { IssuerSilent } from '../../identity/issuers.ts'
import type { TokenFault } from '../../identity/jwt.ts'
import { unreachable } from '../../lib/unreachable.ts'
import type { GraphqlResponse } from '../protocol/request-and-answer.ts'

/** Identifies the caller over HTTP, and builds the refusals. */

/** Rejects with an HttpFailure if the issuer does not respond: the token is unverified, not invalid. */
export async function verified(found: Identified | Promise<Identified>): Promise<Identified> {
  try {
    return await found
  } catch (error) {
    throw error instanceof IssuerSilent ? new HttpFailure('UNAVAILABLE') : error
  }
}

const faultSentences: Readonly<Record<TokenFault, string>> = {
  expired: 'Invalid token: it has expired',
  early: 'Invalid token: it is not valid yet',
  signature: 'Invalid token: its signature does not match',
  malformed: 'Invalid token: it is malformed',
}

export function failureOf(refusal: CredentialRefusal): HttpFailure {
  switch (refusal.kind) {
    case 'key-missing':
      return new HttpFailure('KEY_MISSING')
    case 'key-invalid':
      return new HttpFailure('KEY_INVALID')
    case 'token-invalid':
      return new HttpFailure('TOKEN_INVALID', faultSentences[refusal.fault])
    default:
      return unreachable(refusal)
  }
}

export const httpErrors = (code: HttpFailureCode, message: string): string =>
  JSON.stringify({ data: null, errors: [{ message, extensions: { code } }] })

/** The answer to a caller whose credentials are refused. */
export function refusalResponse(refusal: CredentialRefusal): GraphqlResponse {
  const { code, message } = failureOf(refusal)
  return { outcome: 'unauthorized', code, body: httpErrors(code, message) }
}
