import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'

/** A real OpenID provider on loopback in place of Google. */
export interface OpenIdProvider {
  readonly issuer: string
  /** The claims of the provider about each of its users, by subject. */
  readonly people: Map<string, Readonly<Record<string, unknown>>>
  /**
   * Does what a browser does with the address that /authorize sent it to, as the person `login_hint` names: the address
   * that the provider sends it back to.
   */
  readonly visit: (url: string) => Promise<URL>
  /** An ID token with any claims, signed with the provider's own key. */
  readonly sign: (claims: Readonly<Record<string, unknown>>) => Promise<string>
  readonly stop: () => Promise<void>
}

export const google = { clientId: 'project.apps.example.com', secret: 'a secret at the provider' }

export interface ProviderOptions {
  readonly redirectUri: string
  /** Whether address and name stand in the ID token, as at Google, or have to be asked for. */
  readonly claimsIn: 'id-token' | 'userinfo'
}

const kid = 'of the provider'

export async function startOpenIdProvider({ redirectUri, claimsIn }: ProviderOptions): Promise<OpenIdProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'RS256' }
  const people: OpenIdProvider['people'] = new Map()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: google.clientId,
        client_secret: google.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['a key of the cookies'] },
    pkce: { required: () => false },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'picture'] },
    conformIdTokenClaims: claimsIn === 'userinfo',
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ ...people.get(sub), sub }) }),
    // No consent is asked for.
    loadExistingGrant: async ({ oidc }) => {
      const { client, session } = oidc
      if (client === undefined || session?.accountId === undefined) return undefined
      const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) return void answer(request, response)
    void provider.interactionDetails(request, response).then(({ params }) => {
      const person = String(params['login_hint'])
      const no = { error: 'access_denied', error_description: 'They said no' }
      const result = people.has(person) ? { login: { accountId: person } } : no
      return provider.interactionFinished(request, response, result)
    })
  })
  return {
    issuer,
    people,
    visit: (url) => visit(url, redirectUri),
    sign: (claims) => new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

async function visit(start: string, redirectUri: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = start
  for (let hop = 0; hop < 10; hop += 1) {
    if (url.startsWith(redirectUri)) return new URL(url)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`The provider answered ${response.status}: ${await response.text()}`)
    url = new URL(location, url).href
  }
  throw new Error('The provider sends a browser round and round.')
}
