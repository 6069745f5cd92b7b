import { redirect, type Call, type Outcome, destinationOf, checkedChallenge } from '../call/call.ts'
import { refuse } from '../protocol/errors.ts'
import { callbackOf, clientOf } from '../providers/client.ts'
import { otherProviders } from '../providers/other-providers.ts'
import { isProviderName, providers, type ProviderName } from '../providers/provider-table.ts'
import { challengeOf } from '../rules/credentials.ts'
import { insertFlow, type FlowLinker } from '../store/flow-states.ts'
import type { AuthTools } from '../accounts/tools.ts'
import type * as io from '../io/user.ts'

/** GET /authorize (spec/auth.md 6.3): refusals are answered here, without a redirect. */
export async function authorize(call: Call<typeof io.authorize>, tools: AuthTools): Promise<Outcome> {
  return redirect(302, await startAuthorization(call, tools, null))
}

/** Begins a flow: returns the provider's address. `linker`: the user who requests the identity, and the session. */
export async function startAuthorization(
  call: Call<typeof io.authorize>,
  tools: AuthTools,
  linker: FlowLinker | null,
): Promise<string> {
  const provider = checkedProvider(call.query.provider ?? '', call)
  const challenge = checkedChallenge(call.query)
  const referrer = destinationOf(call)
  const state = await insertFlow(tools.database.run, {
    userId: null,
    challenge,
    providerType: provider,
    method: 'oauth',
    referrer,
    ...(linker !== null && { linker }),
  })
  return tools.providers[provider].authorizationUrl(clientOf(call.settings, provider), {
    ...passedThrough(call.query),
    response_type: 'code',
    redirect_uri: callbackOf(call.settings),
    scope: scopesOf(provider, call.query.scopes ?? ''),
    state,
    ...challengeOf(tools.proveFlow(state)),
  })
}

function checkedProvider(name: string, { settings }: Call): ProviderName {
  const unsupported = (why: string) => refuse('validation_failed', `Unsupported provider: ${why}`)
  if (!isProviderName(name)) {
    const known = otherProviders.some((other) => other === name)
    throw unsupported(known ? 'provider is not enabled' : `Provider ${name} could not be found`)
  }
  const { clientId, secret } = clientOf(settings, name)
  if (!settings[providers[name].settings.enabled]) throw unsupported('provider is not enabled')
  if (clientId === '') throw unsupported('missing OAuth client ID')
  if (secret === '') throw unsupported('missing OAuth secret')
  return name
}

function scopesOf(provider: ProviderName, extras: string): string {
  const scopes = [...providers[provider].scopes, ...extras.split(/[\s,]+/)]
  return [...new Set(scopes)].filter((scope) => scope !== '').join(' ')
}

/** Set by us, or relevant to the security of the flow (RFC 6749 section 4.1.1; OpenID Connect Core 1.0 section 6). */
const neverPassed: ReadonlySet<string> = new Set([
  'apikey',
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'invite_token',
  'nonce',
  'provider',
  'redirect_to',
  'redirect_uri',
  'registration',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'scopes',
  'skip_http_redirect',
  'state',
])

/** The io of these endpoints passes all other members of the query. */
function passedThrough(query: object): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !neverPassed.has(name.toLowerCase())))
}
