import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../contract/execution.ts'
import type { TokenFault, TokenVerdict, VerifyToken } from './jwt.ts'

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

/** Synchronous for tokens that were accepted before. */
export type Authenticate = (credentials: Credentials) => Identified | Promise<Identified>

/**
 * Creates the authentication of callers (spec/graphql.md, decisions 7 and 21). The key identifies the project and must
 * be a token of its secret; the bearer token, if present, identifies the person, and its role and claims replace the
 * key's.
 * @param verifyBearer of bearer tokens, if these may be of other issuers too
 * @param keyRole the only role that a key may have; absent: any
 */
export function createAuthenticate(
  verify: VerifyToken,
  verifyBearer: VerifyToken = verify,
  keyRole?: string,
): Authenticate {
  const identify = (key: TokenVerdict, authorization: string | undefined): Identified | Promise<Identified> => {
    if (key.kind === 'refused' || (keyRole !== undefined && key.caller.role !== keyRole)) return { kind: 'key-invalid' }
    if (authorization === undefined) return { kind: 'caller', caller: key.caller }
    // RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110 section 11.1).
    const scheme = /^Bearer +/i.exec(authorization)?.[0]
    if (scheme === undefined) return { kind: 'token-invalid', fault: 'malformed' }
    const verdict = verifyBearer(authorization.slice(scheme.length))
    return verdict instanceof Promise ? verdict.then(ofBearer) : ofBearer(verdict)
  }
  return ({ apikey, authorization }) => {
    if (apikey === undefined || apikey === '') return { kind: 'key-missing' }
    const key = verify(apikey)
    return key instanceof Promise ? key.then((known) => identify(known, authorization)) : identify(key, authorization)
  }
}

const ofBearer = (verdict: TokenVerdict): Identified =>
  verdict.kind === 'verified'
    ? { kind: 'caller', caller: verdict.caller }
    : { kind: 'token-invalid', fault: verdict.fault }
