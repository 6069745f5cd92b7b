import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client'
import type { JWTVerifyGetKey } from 'jose'
import { once, singleFlight } from '../../lib/caches.ts'
import { openIdProfile } from '../rules/providers.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { publishedKeys, verifyIdToken, type VerifiedClaims } from './id-token.ts'
import type { ProviderRow } from './provider.ts'
import type { CodeGrant, Issuers, Provider, ProviderClient, ProviderSet } from './provider-set.ts'
import { providerNames, providers } from './provider-table.ts'

/** Sign-in by a provider, by OpenID Connect. */

/** Below the time limit of a whole request, keys included: the answer then says that the provider was too slow. */
const exchangeMs = 6_000

interface Endpoints {
  readonly metadata: ServerMetadata
  readonly keys: JWTVerifyGetKey
}

/** Loaded with the first sign-in of this kind: a server starts without it. */
const openid = once(() => import('openid-client'))

export function createProviders(issuers: Issuers, now: () => number): ProviderSet {
  const made = providerNames.map((name) => [name, createProvider(providers[name], issuers[name], now)])
  return Object.fromEntries(made) as ProviderSet
}

function createProvider(row: ProviderRow, issuer: string, now: () => number): Provider {
  const isOwn = issuer === row.issuer
  // Created on first use: fetching keys loads all of fetch.
  const endpoints = isOwn ? once(async () => endpointsOf(row.metadata)) : discovered(issuer)
  const issuers = isOwn ? [issuer, ...row.aliases] : [issuer]
  const check = async ({ clientId }: ProviderClient, token: string, accessToken: string): Promise<VerifiedClaims> => {
    const { keys } = await endpoints()
    const { algorithms } = row
    return verifyIdToken(token, { issuers, clientId, keys, algorithms, now: now(), accessToken })
  }
  return {
    issuer,
    verify: check,
    authorizationUrl: async (client, parameters) => {
      const config = await configure(await endpoints(), client, null)
      return (await openid()).buildAuthorizationUrl(config, { ...parameters }).href
    },
    exchange: async (client, grant) => {
      const config = await configure(await endpoints(), client, AbortSignal.timeout(exchangeMs))
      const answer = await tradeCode(config, grant)
      if (answer.id_token === undefined) throw new Error('The provider gave no ID token.')
      const claims = await check(client, answer.id_token, answer.access_token)
      if (claims['nonce'] !== grant.proof.nonce) throw new Error('The ID token is of another flow.')
      const hasEmail = typeof claims['email'] === 'string'
      const more = hasEmail ? {} : await (await openid()).fetchUserInfo(config, answer.access_token, claims.sub)
      return {
        profile: openIdProfile(claims.sub, { ...more, ...claims }, issuer),
        tokens: { accessToken: answer.access_token, refreshToken: answer.refresh_token ?? null },
      }
    },
  }
}

/** The provider's own code, such as `invalid_client`: it shows the owner the cause in the log. */
async function tradeCode(config: Configuration, { code, redirectUri, proof }: CodeGrant) {
  const { genericGrantRequest, ResponseBodyError } = await openid()
  try {
    // The ID token is verified by us, like a presented one.
    const parameters = { code, redirect_uri: redirectUri, code_verifier: proof.verifier }
    return await genericGrantRequest(config, 'authorization_code', parameters)
  } catch (cause) {
    throw cause instanceof ResponseBodyError ? new Error(`The provider refused: ${cause.error}`, { cause }) : cause
  }
}

/** Requested until the first answer; kept from then on. */
function discovered(issuer: string): () => Promise<Endpoints> {
  let known: Endpoints | null = null
  const ask = singleFlight(async () => {
    const { allowInsecureRequests, discovery } = await openid()
    const execute = issuer.startsWith('http:') ? [allowInsecureRequests] : []
    const found = await discovery(new URL(issuer), 'discovery', undefined, undefined, { execute, timeout: 5 })
    known = endpointsOf(found.serverMetadata())
    return known
  })
  return async () => known ?? ask()
}

function endpointsOf(metadata: ServerMetadata): Endpoints {
  if (metadata.jwks_uri === undefined) throw new Error('The provider publishes no keys.')
  return { metadata, keys: publishedKeys(metadata.jwks_uri) }
}

/** The client's settings may change at any time, so the library receives them for each call. */
async function configure(
  { metadata }: Endpoints,
  { clientId, secret }: ProviderClient,
  signal: AbortSignal | null,
): Promise<Configuration> {
  const library = await openid()
  const config = new library.Configuration(metadata, clientId, secret)
  if (metadata.issuer.startsWith('http:')) library.allowInsecureRequests(config)
  if (signal !== null) config[library.customFetch] = fetchUntil(signal)
  return config
}

function fetchUntil(signal: AbortSignal): CustomFetch {
  return (url, { body = null, headers, method, redirect }) =>
    boundedFetch(url, { body, headers, method, redirect, signal })
}
