import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { startAuthServer, type Answer, type AuthServer, type AuthServerOptions, type SettingTexts } from './auth.ts'
import { google, startOpenIdProvider, type OpenIdProvider, type ProviderOptions } from './openid-provider.ts'

const externalUrl = 'https://project.example.com/auth/v1'

/** The project's callback as the provider knows it; that host receives no request. */
export const redirectUri = `${externalUrl}/callback`

export interface Person {
  readonly sub: string
  readonly email: string
}

/** A server that offers sign-in by a provider on loopback, and what people do there. */
export interface GoogleStage {
  readonly server: AuthServer
  readonly provider: OpenIdProvider
  /** A person with a verified address at the provider, unless the claims say otherwise. */
  readonly newPerson: (claims?: Readonly<Record<string, unknown>>) => Person
  readonly authorize: (query: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>
  /** The way from our door through the provider's, up to the callback's. */
  readonly goThrough: (person: { readonly sub: string }, query?: string) => Promise<URL>
  readonly callback: (search: string) => Promise<Answer>
  /** The whole way: where the person lands. */
  readonly signIn: (person: { readonly sub: string }, query?: string) => Promise<URL>
  readonly exchange: (code: string, verifier: string) => Promise<Answer>
  // Tests look into answers of any shape
  readonly userOf: (token: string) => Promise<any>
  /** The row of anyone who has the address. */
  // Rows of any shape
  readonly byAddress: (email: string) => Promise<any>
  readonly stop: () => Promise<void>
}

export async function startGoogle(
  claimsIn: ProviderOptions['claimsIn'],
  settings: SettingTexts = {},
  more: Pick<AuthServerOptions, 'sql'> = {},
): Promise<GoogleStage> {
  const provider = await startOpenIdProvider({ redirectUri, claimsIn })
  const offered = { google_enabled: 'on', google_client_id: google.clientId, google_secret: google.secret }
  const mails = { mail_cooldown: '0', mail_ceiling: '1000' }
  const texts = { external_url: externalUrl, ...offered, ...mails, ...settings }
  const server = await startAuthServer({ ...more, googleIssuer: provider.issuer, settings: texts })
  const visit = (path: string, headers = {}) => server.call('GET', path, { headers: { apikey: '', ...headers } })
  const authorize: GoogleStage['authorize'] = (query, headers) => visit(`/authorize?provider=google${query}`, headers)
  const callback: GoogleStage['callback'] = (search) => visit(`/callback${search}`)
  const goThrough: GoogleStage['goThrough'] = async ({ sub }, query = '') => {
    const answer = await authorize(`&login_hint=${sub}${query}`)
    expect(answer.status).toBe(302)
    return provider.visit(locationOf(answer).href)
  }
  return {
    server,
    provider,
    authorize,
    callback,
    goThrough,
    newPerson: (claims = {}) => newPerson(provider, claims),
    signIn: async (person, query) => locationOf(await callback((await goThrough(person, query)).search)),
    exchange: (auth_code, code_verifier) =>
      server.call('POST', '/token?grant_type=pkce', { body: { auth_code, code_verifier } }),
    userOf: async (token) => (await server.call('GET', '/user', { token })).body,
    byAddress: async (email) => (await server.db.query('select * from auth.users where email = $1', [email])).rows[0],
    stop: async () => {
      await server.stop()
      await provider.stop()
    },
  }
}

function newPerson({ people }: OpenIdProvider, claims: Readonly<Record<string, unknown>>): Person {
  const [sub, email] = [randomUUID(), `${randomUUID()}@example.com`]
  const usual = { email, email_verified: true, name: 'Ada', picture: 'https://p.example.com/a.png' }
  people.set(sub, { ...usual, ...claims })
  return { sub, email: String(claims['email'] ?? email) }
}

/** A proof key, and the query that begins a flow with it. */
export function newVerifier(): { readonly verifier: string; readonly query: string } {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  return { verifier, query: `&code_challenge=${challenge}&code_challenge_method=s256` }
}

export function locationOf({ headers }: Answer): URL {
  return new URL(headers.get('location') ?? '')
}

export function stateOf(answer: Answer): string {
  return locationOf(answer).searchParams.get('state') ?? ''
}

export function fragmentOf(url: URL): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(url.hash.slice(1)))
}
