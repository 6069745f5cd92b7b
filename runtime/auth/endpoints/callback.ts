import { redirect, type Call, type Outcome } from '../call/call.ts'
import { AuthFailure, refuse } from '../protocol/errors.ts'
import { callbackOf, clientOf, isOffered } from '../providers/client.ts'
import { isProviderName, type ProviderName } from '../providers/provider-table.ts'
import { linkReturned, linkAccount, type Linked, type Linking, linkAndKeep } from '../accounts/provider-sign-in.ts'
import type { SignedIn } from '../providers/provider-set.ts'
import { isUuid } from '../protocol/input.ts'
import type { QueryOf } from '../protocol/io.ts'
import { errorFields, withBoth, withQuery, withTokens } from '../rules/landing.ts'
import { judgeRedirect } from '../rules/redirect.ts'
import { sessionJson, startSession } from '../accounts/sign-in.ts'
import { claimFlow, deleteFlow, signFlow, type Claim, type ReturnedFlow } from '../store/flow-states.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'

/** The query of the provider's redirect (RFC 6749 section 4.1.2). */
type Returned = QueryOf<typeof io.callback>

/** GET /callback (spec/auth.md 6.4). */
export async function callback(call: Call<typeof io.callback>, tools: AuthTools): Promise<Outcome> {
  return land(call, tools, call.query)
}

/** POST /callback: a field of the form takes precedence over that of the address. */
export async function callbackForm(call: Call<typeof io.callbackForm>, tools: AuthTools): Promise<Outcome> {
  const { query, body } = call
  return land(call, tools, {
    state: body.state ?? query.state,
    code: body.code ?? query.code,
    error: body.error ?? query.error,
    error_description: body.error_description ?? query.error_description,
  })
}

/** In every case the browser is redirected to a destination that was checked before. */
async function land(call: Call, tools: AuthTools, returned: Returned): Promise<Outcome> {
  const { state = '', code = '', error: refusal = '' } = returned
  const claim = await claimOf(tools, state)
  if (claim instanceof AuthFailure) {
    return redirect(303, withQuery(call.settings.site_url, errorFields(claim)))
  }
  const destination = landingOf(call, claim)
  if (refusal !== '') return relay(destination, refusal, returned.error_description ?? '')
  try {
    return redirect(302, await finish(call, tools, claim, code, destination))
  } catch (error) {
    if (!(error instanceof AuthFailure)) throw error
    const outcome = redirect(302, withBoth(destination, errorFields(error)))
    return error.status >= 500 ? { ...outcome, failure: error } : outcome
  }
}

const claimSentences: Readonly<Record<Exclude<Claim['kind'], 'claimed' | 'used'>, string>> = {
  unknown: 'OAuth state not found or expired',
  expired: 'OAuth state has expired',
}

async function claimOf({ database }: AuthTools, state: string): Promise<ReturnedFlow | AuthFailure> {
  if (state === '') return refuse('bad_oauth_callback')
  if (!isUuid(state)) return refuse('bad_oauth_state')
  const claim = await claimFlow(database.run, state)
  if (claim.kind === 'claimed') return claim.flow
  if (claim.kind === 'used') return refuse('flow_state_already_used')
  return refuse('bad_oauth_state', claimSentences[claim.kind])
}

/** The stored destination, while a list still has it; the callback's own query is ignored. */
function landingOf({ settings }: Call, { referrer }: ReturnedFlow): string {
  const verdict = judgeRedirect(referrer ?? '', settings)
  return verdict.kind === 'allowed' ? verdict.url : settings.site_url
}

function relay(destination: string, error: string, description: string): Outcome {
  const fields = { error, ...(description !== '' && { error_description: description }) }
  return redirect(302, withBoth(destination, fields))
}

async function finish(
  call: Call,
  tools: AuthTools,
  flow: ReturnedFlow,
  code: string,
  destination: string,
): Promise<string> {
  if (code === '') throw refuse('bad_oauth_callback', 'OAuth callback without an authorization code')
  const { provider_type: provider } = flow
  if (!isProviderName(provider) || !isOffered(call.settings, provider)) throw refuse('provider_disabled')
  const { profile, tokens } = await signInWithCode(call, tools, provider, { code, flowId: flow.id })
  const given = { provider, profile, destination }
  const link = linkerOf(flow)
  if (flow.has_challenge) {
    await linkAndKeep(call, tools, given, { link, then: (run, user) => signFlow(run, flow.id, user.id, tokens) })
    return withQuery(destination, { code: flow.auth_code })
  }
  const started = await linkAndKeep(call, tools, given, {
    link,
    then: async (run, user) => {
      await deleteFlow(run, flow.id)
      return startSession(run, tools, call, user, { provider })
    },
  })
  return withTokens(destination, await sessionJson(tools, call, started), {
    provider_token: tokens.accessToken,
    ...(tokens.refreshToken !== null && { provider_refresh_token: tokens.refreshToken }),
  })
}

function linkerOf({
  linking_target_id: userId,
  linking_session_id: sessionId,
}: ReturnedFlow): (linking: Linking) => Promise<Linked> {
  return userId === null ? linkAccount : (linking) => linkReturned(linking, userId, sessionId)
}

/** The message shows only the beginning of the code, by which the owner finds the attempt at the provider. */
async function signInWithCode(
  { settings }: Call,
  { providers, proveFlow }: AuthTools,
  provider: ProviderName,
  { code, flowId }: { readonly code: string; readonly flowId: string },
): Promise<SignedIn> {
  try {
    const grant = { code, redirectUri: callbackOf(settings), proof: proveFlow(flowId) }
    return await providers[provider].exchange(clientOf(settings, provider), grant)
  } catch (cause) {
    throw refuse('unexpected_failure', { message: `Unable to exchange external code: ${code.slice(0, 4)}`, cause })
  }
}
