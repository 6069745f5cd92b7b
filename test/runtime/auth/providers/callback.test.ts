import { randomUUID } from 'node:crypto'
import { AuthClient } from '@supabase/auth-js'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { claimsOf, siteUrl } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { fragmentOf, locationOf, newVerifier, stateOf, startGoogle } from '../../../support/google.ts'
import { google } from '../../../support/openid-provider.ts'

const stage = forSuite(startGoogle, 'userinfo', { redirect_allow_list: 'myapp://back,https://listed.example.com/**' })

describe('the way back', () => {
  test('fact 41: is implicit, with tokens in the fragment of the destination, and a session that works', async () => {
    const person = stage.newPerson()
    const answer = await stage.callback((await stage.goThrough(person, `&redirect_to=${siteUrl}/in?a=1`)).search)
    expect(answer.status).toBe(302)
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const url = locationOf(answer)
    expect(url.href.split('#')[0]).toBe(`${siteUrl}/in?a=1`)
    const fragment = fragmentOf(url)
    expect(Object.keys(fragment)).toEqual([
      'access_token',
      'expires_at',
      'expires_in',
      'provider_token',
      'refresh_token',
      'sb',
      'token_type',
    ])
    const user = await stage.userOf(fragment['access_token'] ?? '')
    expect(user).toMatchObject({
      email: person.email,
      app_metadata: { provider: 'google', providers: ['google'] },
      is_anonymous: false,
      identities: [{ id: person.sub, provider: 'google', email: person.email }],
    })
    expect(user.email_confirmed_at).toBeTruthy()
    expect(user.user_metadata).toEqual({
      iss: stage.provider.issuer,
      sub: person.sub,
      name: 'Ada',
      full_name: 'Ada',
      email: person.email,
      picture: 'https://p.example.com/a.png',
      avatar_url: 'https://p.example.com/a.png',
      provider_id: person.sub,
      email_verified: true,
      phone_verified: false,
    })
    expect(claimsOf(fragment['access_token'] ?? '')).toMatchObject({ aal: 'aal1', amr: [{ method: 'oauth' }] })
  })

  test('fact 41: PKCE: a code in the query, which supabase-js exchanges', async () => {
    const person = stage.newPerson()
    const store = new Map<string, string>()
    const client = new AuthClient({
      url: `${stage.server.url}/auth/v1`,
      headers: { apikey: stage.server.anon },
      flowType: 'pkce',
      autoRefreshToken: false,
      storage: {
        getItem: (key: string) => store.get(key) ?? null,
        setItem: (key: string, value: string) => void store.set(key, value),
        removeItem: (key: string) => void store.delete(key),
      },
    })
    const options = { redirectTo: 'myapp://back', skipBrowserRedirect: true, queryParams: { login_hint: person.sub } }
    const { data } = await client.signInWithOAuth({ provider: 'google', options })
    const start = await fetch(data.url ?? '', { redirect: 'manual' })
    const back = await stage.provider.visit(start.headers.get('location') ?? '')
    const landing = locationOf(await stage.callback(back.search))
    expect(landing.href).toMatch(/^myapp:\/\/back\?code=[0-9a-f-]{36}$/)
    const exchanged = await client.exchangeCodeForSession(landing.searchParams.get('code') ?? '')
    expect(exchanged.error).toBeNull()
    expect(exchanged.data.session?.provider_token).toBeTruthy()
    expect(exchanged.data.user?.email).toBe(person.email)
    const kept = 'select count(*) from auth.flow_state where provider_access_token is not null'
    expect((await stage.server.db.query(kept)).rows[0].count).toBe('0')
  })

  it('knows the person again', async () => {
    const person = stage.newPerson()
    const first = claimsOf(fragmentOf(await stage.signIn(person))['access_token'] ?? '')
    stage.provider.people.set(person.sub, { email: `moved-${person.email}`, email_verified: true, name: 'Grace' })
    const token = fragmentOf(await stage.signIn(person))['access_token'] ?? ''
    expect(claimsOf(token)['sub']).toBe(first['sub'])
    const user = await stage.userOf(token)
    expect([user.email, user.user_metadata.name, user.identities.length]).toEqual([person.email, 'Grace', 1])
  })

  it('replaces the code of an earlier attempt in the query', async () => {
    const redirect = `&redirect_to=${encodeURIComponent(`${siteUrl}/in?code=9&a=1&error=old`)}`
    const url = await stage.signIn(stage.newPerson(), redirect + newVerifier().query)
    expect(url.search).toMatch(/^\?a=1&code=[0-9a-f-]{36}$/)
    const implicit = await stage.signIn(stage.newPerson(), redirect)
    expect([implicit.search, fragmentOf(implicit)['token_type']]).toEqual(['?a=1', 'bearer'])
  })

  it('takes a form as well', async () => {
    const back = await stage.goThrough(stage.newPerson())
    const answer = await stage.server.call('POST', '/callback', {
      body: back.search.slice(1),
      headers: { apikey: '', 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(fragmentOf(locationOf(answer))['access_token']).toBeTruthy()
  })

  it('makes one account of two first sign-ins at once', async () => {
    const person = stage.newPerson()
    const backs = await Promise.all([1, 2, 3, 4].map(() => stage.goThrough(person)))
    const landings = await Promise.all(backs.map(({ search }) => stage.callback(search)))
    const subs = landings.map((answer) => claimsOf(fragmentOf(locationOf(answer))['access_token'] ?? '')['sub'])
    expect(new Set(subs).size).toBe(1)
  })

  it('shows on the page what is wrong with a state, at the site', async () => {
    const told = async (search: string): Promise<unknown[]> => {
      const answer = await stage.callback(search)
      const { origin, searchParams } = locationOf(answer)
      const names = ['error', 'error_code', 'error_description']
      return [answer.status, origin, ...names.map((name) => searchParams.get(name))]
    }
    const bad = [303, siteUrl, 'invalid_request']
    expect(await told('')).toEqual([...bad, 'bad_oauth_callback', 'OAuth state parameter missing'])
    expect(await told('?state=x&code=y')).toEqual([...bad, 'bad_oauth_state', 'OAuth state parameter is invalid'])
    const unknown = [...bad, 'bad_oauth_state', 'OAuth state not found or expired']
    expect(await told(`?state=${randomUUID()}&code=y`)).toEqual(unknown)
    const { searchParams } = await stage.goThrough(stage.newPerson())
    const age = `update auth.flow_state set created_at = now() - interval '301 seconds' where id = $1`
    await stage.server.db.query(age, [searchParams.get('state')])
    expect(await told(`?${searchParams}`)).toEqual([...bad, 'bad_oauth_state', 'OAuth state has expired'])
    const used = (await stage.goThrough(stage.newPerson(), newVerifier().query)).search
    await stage.callback(used)
    expect(await told(used)).toEqual([...bad, 'flow_state_already_used', 'State has already been used'])
  })

  test('attack 8: an error of the provider goes to the stored destination alone', async () => {
    const answer = await stage.authorize(`&redirect_to=${siteUrl}/in&login_hint=nobody`)
    const back = await stage.provider.visit(locationOf(answer).href)
    expect(back.searchParams.get('error')).toBe('access_denied')
    const refused = await stage.callback(`${back.search}&redirect_to=https://evil.example.org`)
    const url = locationOf(refused)
    expect([refused.status, url.origin + url.pathname]).toEqual([302, `${siteUrl}/in`])
    const fields = { error: 'access_denied', error_description: 'They said no' }
    expect(Object.fromEntries(url.searchParams)).toEqual(fields)
    expect(fragmentOf(url)).toEqual({ ...fields, sb: '' })
  })

  it('says that there is no code, and that the provider does not take it', async () => {
    const [one, two] = [stateOf(await stage.authorize('')), stateOf(await stage.authorize(''))]
    expect(locationOf(await stage.callback(`?state=${one}`)).searchParams.get('error_code')).toBe('bad_oauth_callback')
    const { searchParams } = locationOf(await stage.callback(`?state=${two}&code=abcdefgh`))
    expect(Object.fromEntries(searchParams)).toEqual({
      error: 'server_error',
      error_code: 'unexpected_failure',
      error_description: 'Unable to exchange external code: abcd',
    })
    const logged = stage.server.events.flatMap((event) => (event.kind === 'request-failed' ? event.detail : []))
    expect(logged).toEqual([expect.stringContaining('The provider refused: invalid_grant')])
    expect(logged.join()).not.toMatch(new RegExp(`abcdefgh|${google.secret}`))
  })

  it('refuses a code that was given for another flow, in both kinds of flows', async () => {
    for (const query of ['', newVerifier().query]) {
      const stolen = (await stage.goThrough(stage.newPerson(), query)).searchParams
      const state = stateOf(await stage.authorize(query))
      const landed = locationOf(await stage.callback(`?state=${state}&code=${stolen.get('code')}`))
      expect(landed.searchParams.get('error_code')).toBe('unexpected_failure')
      expect([landed.searchParams.has('code'), fragmentOf(landed)['access_token']]).toEqual([false, undefined])
    }
  })

  it('refuses an ID token that was made for another flow', async () => {
    const person = stage.newPerson()
    const start = locationOf(await stage.authorize(`&login_hint=${person.sub}`))
    start.searchParams.set('nonce', 'of another flow')
    const back = await stage.provider.visit(start.href)
    const landed = locationOf(await stage.callback(back.search))
    expect(landed.searchParams.get('error_code')).toBe('unexpected_failure')
    expect(await stage.byAddress(person.email)).toBeUndefined()
  })

  it('lands at the site when the destination was taken off the list in the meantime', async () => {
    const back = await stage.goThrough(stage.newPerson(), '&redirect_to=https://listed.example.com/x')
    await stage.server.set({ redirect_allow_list: 'myapp://back' })
    onTestFinished(() => stage.server.set({ redirect_allow_list: 'myapp://back,https://listed.example.com/**' }))
    expect(locationOf(await stage.callback(back.search)).origin).toBe(siteUrl)
  })
})
