import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../contract/execution.ts'
import type { TokenFault, VerifyToken } from './jwt.ts'

/** The two headers with credentials, as they were sent. */
export interface Credentials {
  readonly apikey: string | undefined
  readonly authorization: string | undefined
}

export function credentialsOf({ apikey, authorization }: IncomingHttpHeaders): Credentials {
  return { apikey: typeof apikey === 'string' ? apikey : undefined, authorization }
}

export type CredentialRefusal =
  | { readonly kind: 'key-missing' }
  | { readonly kind: 'key-invalid' }
  | { readonly kind: 'token-invalid'; readonly fault: TokenFault }

export type Identified = { readonly kind: 'caller'; readonly caller: Caller } | CredentialRefusal

export type Authenticate = (credentials: Credentials) => Promise<Identified>

/**
 * Creates the authentication of callers (spec/graphql.md, decisions 7 and 21). The key identifies the project and must
 * be a token of its secret; the bearer token, if present, identifies the person, and its role and claims replace the
 * key's.
 * @param verifyBearer of bearer tokens, if these may be of other issuers too
 */
export function createAuthenticate(verify: VerifyToken, verifyBearer: VerifyToken = verify): Authenticate {
  return async ({ apikey, authorization }) => {
    if (apikey === undefined || apikey === '') return { kind: 'key-missing' }
    const verifying = verify(apikey)
    const key = verifying instanceof Promise ? await verifying : verifying
    if (key.kind === 'refused') return { kind: 'key-invalid' }
    if (authorization === undefined) return { kind: 'caller', caller: key.caller }
    return identifyBearer(authorization, verifyBearer)
  }
}

async function identifyBearer(authorization: string, verify: VerifyToken): Promise<Identified> {
  const token = bearerToken(authorization)
  if (token === null) return { kind: 'token-invalid', fault: 'malformed' }
  const verifying = verify(token)
  const verdict = verifying instanceof Promise ? await verifying : verifying
  return verdict.kind === 'verified'
    ? { kind: 'caller', caller: verdict.caller }
    : { kind: 'token-invalid', fault: verdict.fault }
}

/** RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110 section 11.1). */
function bearerToken(authorization: string): string | null {
  const scheme = /^Bearer +/i.exec(authorization)?.[0]
  return scheme === undefined ? null : authorization.slice(scheme.length)
}
