import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client'
import type { JWTVerifyGetKey } from 'jose'
import { once } from '../../lib/once.ts'
import { singleFlight } from '../../lib/single-flight.ts'
import { openIdProfile, type OpenIdProfile } from '../rules/openid-profile.ts'
import type { ProviderTokens } from '../store/flow-states.ts'
import type { FlowProof } from '../rules/flow-proof.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { publishedKeys, verifyIdToken, type VerifiedClaims } from './id-token.ts'
import type { ProviderRow } from './provider.ts'
import { providerNames, providers, type ProviderName } from './provider-table.ts'

/** Sign-in by a provider, as OpenID Connect has it. */

export interface ProviderClient {
  readonly clientId: string
  readonly secret: string
}

export interface SignedIn {
  readonly profile: OpenIdProfile
  readonly tokens: ProviderTokens
}

/** A code that a browser came back with, and what the flow that it came to was begun with. */
export interface CodeGrant {
  readonly code: string
  readonly redirectUri: string
  readonly proof: FlowProof
}

export interface Provider {
  /** The issuer that tokens have to be from. */
  readonly issuer: string
  /** Where a browser is sent to; rejects while the provider cannot be reached. */
  readonly authorizationUrl: (client: ProviderClient, parameters: Readonly<Record<string, string>>) => Promise<string>
  /** Trades a code for what the provider says of the person. Rejects when it refuses, lies or is late. */
  readonly exchange: (client: ProviderClient, grant: CodeGrant) => Promise<SignedIn>
  /** The claims of an ID token that somebody brought. Rejects for one that is not to be trusted. */
  readonly verify: (client: ProviderClient, idToken: string, accessToken: string) => Promise<VerifiedClaims>
}

/** Below the limit of a whole request, keys included: the answer then says that the provider was too slow. */
const exchangeMs = 6_000

interface Endpoints {
  readonly metadata: ServerMetadata
  readonly keys: JWTVerifyGetKey
}

/** Loaded when somebody first signs in this way: a server starts without it. */
const openid = once(() => import('openid-client'))

/** Every provider of the table, by name. */
export type ProviderSet = Readonly<Record<ProviderName, Provider>>

/** Whom each provider's tokens are from: its own issuer, or one that the operator puts in its place to test against. */
export type Issuers = Readonly<Record<ProviderName, string>>

export function createProviders(issuers: Issuers, now: () => number): ProviderSet {
  const made = providerNames.map((name) => [name, createProvider(providers[name], issuers[name], now)])
  return Object.fromEntries(made) as ProviderSet
}

function createProvider(row: ProviderRow, issuer: string, now: () => number): Provider {
  const isOwn = issuer === row.issuer
  const endpoints = isOwn ? pinned(row.metadata) : discovered(issuer)
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
      const isTold = typeof claims['email'] === 'string'
      const more = isTold ? {} : await (await openid()).fetchUserInfo(config, answer.access_token, claims.sub)
      return {
        profile: openIdProfile(claims.sub, { ...more, ...claims }, issuer),
        tokens: { accessToken: answer.access_token, refreshToken: answer.refresh_token ?? null },
      }
    },
  }
}

/** The provider's own code, such as `invalid_client`: with it the owner's log says what to fix. */
async function tradeCode(config: Configuration, { code, redirectUri, proof }: CodeGrant) {
  const { genericGrantRequest, ResponseBodyError } = await openid()
  try {
    // The ID token is verified by us, like one that somebody brings.
    const parameters = { code, redirect_uri: redirectUri, code_verifier: proof.verifier }
    return await genericGrantRequest(config, 'authorization_code', parameters)
  } catch (cause) {
    throw cause instanceof ResponseBodyError ? new Error(`The provider refused: ${cause.error}`, { cause }) : cause
  }
}

/** Made when they are first asked for: what fetches keys brings all of fetch along. */
function pinned(metadata: ServerMetadata): () => Promise<Endpoints> {
  const endpoints = once(() => endpointsOf(metadata))
  return async () => endpoints()
}

/** Asked until it was answered once; kept from then on. */
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
