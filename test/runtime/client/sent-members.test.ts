import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createClient, type Client } from '../../../runtime/client/client.ts'
import { routes } from '../../../runtime/auth/http/routes.ts'

/** The members that the client library sends to each endpoint, with all options of its operations, compared with the endpoint's input. */

const [email, password, token] = ['a@example.com', 'correct horse', 'token']
const options = { data: { name: 'Ada' }, emailRedirectTo: 'https://example.com' }
const oauth = { provider: 'google', options: { scopes: 'email', redirectTo: 'https://example.com' } }

/** In an order in which each one has the session that it needs. */
const operations: readonly ((auth: Client['auth'], code: string) => Promise<unknown>)[] = [
  (auth) => auth.signUp({ email, password, options }),
  (auth) => auth.signInWithPassword({ email, password }),
  (auth) => auth.signInWithIdToken({ provider: 'google', token, access_token: token, nonce: 'n' }),
  (auth) => auth.signInWithOtp({ email, options }),
  (auth) => auth.verifyOtp({ email, token, type: 'email', options: { redirectTo: 'https://example.com' } }),
  (auth) => auth.verifyOtp({ token_hash: token, type: 'email' }),
  (auth) => auth.resend({ type: 'signup', email, options }),
  (auth) => auth.resetPasswordForEmail(email, { redirectTo: 'https://example.com' }),
  (auth, code) => auth.exchangeCodeForSession(code),
  (auth) => auth.refreshSession(),
  (auth) => auth.updateUser({ email, password, current_password: password, nonce: 'n', data: {} }, options),
  (auth) => auth.linkIdentity({ ...oauth, options: { ...oauth.options, skipBrowserRedirect: true } }),
  (auth) => auth.signOut({ scope: 'local' }),
]

/** The members that came to each endpoint, by its method and path. */
async function sentMembers(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const sent = new Map<string, Set<string>>()
  const session = { access_token: token, refresh_token: token, expires_in: 3_600, user: { id: randomUUID() } }
  const answer = { ...session, ...session.user, url: 'https://example.com' }
  const send: typeof fetch = async (address, { method, body } = {}) => {
    const { pathname, searchParams } = new URL(String(address))
    const at = `${method} ${pathname.replace('/auth/v1', '')}`
    const names = [...searchParams.keys(), ...Object.keys(typeof body === 'string' ? JSON.parse(body) : {})]
    sent.set(at, new Set([...(sent.get(at) ?? []), ...names]))
    return Response.json(answer)
  }
  const auth = { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false, flowType: 'pkce' as const }
  const client = createClient('http://127.0.0.1', 'key', { fetch: send, auth })
  for (const operation of operations) expect(await operation(client.auth, 'code')).toMatchObject({ error: null })
  client.close()
  return sent
}

/** Telephone numbers are refused, and no identity is linked by an id token. */
const unsent = ['phone', 'link_identity', 'app_metadata']

test('the client library sends each member of the endpoints that it asks', async () => {
  const sent = await sentMembers()
  const asked = routes.filter(({ at }) => sent.has(at))
  expect(asked.map(({ at }) => at).sort()).toEqual([...sent.keys()].sort())
  const left = asked.flatMap(({ at, io }) =>
    [...Object.keys(io.query ?? {}), ...Object.keys(io.body?.members ?? {})]
      .filter((name) => !sent.get(at)?.has(name) && !unsent.includes(name))
      .map((name) => `${at}: ${name}`),
  )
  expect(left).toEqual([])
})
