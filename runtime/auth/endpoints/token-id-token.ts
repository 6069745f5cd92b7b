import { createHash } from 'node:crypto'
import type { RunStatement } from '../../db/pool/statements.ts'
import { type Call, type Outcome } from '../call/call.ts'
import { OauthFailure, refuse } from '../protocol/errors.ts'
import { clientOf, isOffered } from '../providers/client.ts'
import { isOutage, type VerifiedClaims } from '../providers/id-token.ts'
import { isProviderName, type ProviderName } from '../providers/provider-table.ts'
import {
  checkMayLink,
  linkToUser,
  linkAccount,
  type Linked,
  type Linking,
  linkAndKeep,
} from '../accounts/provider-sign-in.ts'
import { openIdProfile } from '../rules/providers.ts'
import { equalTexts } from '../rules/credentials.ts'
import { startSession, sessionOutcome } from '../accounts/sign-in.ts'
import { useIdToken } from '../store/identities.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'

/** POST /token?grant_type=id_token (spec/auth.md 4.7). The expected issuer is decided before the token is read. */
export async function idTokenGrant(call: Call<typeof io.token>, tools: AuthTools): Promise<Outcome> {
  const { body, settings } = call
  const link = await linkerOf(call)
  const { provider: name = '', id_token: idToken = '' } = body
  if (idToken === '') throw new OauthFailure('invalid request', 'id_token required')
  if (name === '') throw new OauthFailure('invalid request', 'provider or client_id and issuer required')
  if (!isProviderName(name)) throw refuse('provider_disabled', `Provider (${name}) is not enabled`)
  const { issuer } = tools.providers[name]
  if (!isOffered(settings, name)) throw refuse('provider_disabled', `Provider (issuer "${issuer}") is not enabled`)
  const claims = await verify(call, tools, name, idToken)
  checkNonce(body.nonce ?? '', claims)
  const profile = openIdProfile(claims.sub, claims, issuer)
  const started = await linkAndKeep(
    call,
    tools,
    { provider: name, profile, destination: settings.site_url },
    {
      link,
      then: async (run, user) => {
        if (claims['nonce'] === undefined) await spend(run, idToken, claims)
        return startSession(run, tools, call, user, { provider: name })
      },
    },
  )
  return sessionOutcome(tools, call, started)
}

/** With `link_identity` the identity joins the account of the signed-in user (spec/auth.md 5.6). */
async function linkerOf(call: Call<typeof io.token>): Promise<(linking: Linking) => Promise<Linked>> {
  if (!call.body.link_identity) return linkAccount
  if (!call.settings.manual_linking) throw refuse('manual_linking_disabled')
  const caller = await call.bearer()
  checkMayLink(caller)
  return (linking) => linkToUser(linking, caller)
}

async function verify(
  { body, settings }: Call<typeof io.token>,
  { providers }: AuthTools,
  provider: ProviderName,
  idToken: string,
): Promise<VerifiedClaims> {
  try {
    return await providers[provider].verify(clientOf(settings, provider), idToken, body.access_token ?? '')
  } catch (cause) {
    if (isOutage(cause)) throw refuse('unavailable', { cause })
    throw new OauthFailure('invalid request', 'Bad ID token')
  }
}

/** An ID token without a nonce opens one session, so that a leaked token cannot be replayed. */
async function spend(run: RunStatement, idToken: string, { exp }: VerifiedClaims): Promise<void> {
  if (!(await useIdToken(run, idToken, exp))) {
    throw new OauthFailure('invalid request', 'Bad ID token: it has been used already')
  }
}

function checkNonce(nonce: string, claims: VerifiedClaims): void {
  const named = typeof claims['nonce'] === 'string' ? claims['nonce'] : ''
  if ((nonce === '') !== (named === '')) {
    throw new OauthFailure('invalid request', 'Passed nonce and nonce in id_token should either both exist or not.')
  }
  if (nonce === '') return
  const hash = createHash('sha256').update(nonce, 'utf8').digest('hex')
  if (!equalTexts(hash, named)) throw new OauthFailure('invalid nonce', 'Nonces mismatch')
}
