import { randomUUID } from 'node:crypto'
import { createClient as createTheirs } from '@supabase/supabase-js'
import { createServerClient, serializeCookieHeader } from '@supabase/ssr'
import { afterEach, describe, expect, it } from 'vitest'
import { cookieStorage, type Result, type ServiceErrorCode, type Session } from '../../../runtime/client/client.ts'
import type { AuthErrorCode } from '../../../runtime/auth/protocol/errors.ts'
import { claimsOf, noRealtime, siteUrl } from '../../support/auth.ts'
import { createStorage, follow } from '../../support/browser.ts'
import { createCookieJar } from '../../support/cookie-jar.ts'
import { forSuite } from '../../support/for-suite.ts'
import { locationOf, startGoogle } from '../../support/google.ts'
import { closeTabs, eventNames, openTab, type Tab, type TabOptions } from '../../support/tab.ts'
import { google } from '../../support/openid-provider.ts'
import { codeOf } from '../../support/totp.ts'

const stage = forSuite(startGoogle, 'id-token', { anonymous_enabled: 'on', manual_linking: 'on' })
afterEach(closeTabs)

const password = 'correct horse'
const newEmail = (): string => `${randomUUID()}@example.com`
const open = (options: TabOptions = {}): Tab =>
  openTab(stage.server, { ...options, auth: { storage: createStorage(), ...options.auth } })

async function done<Data extends object>(operation: Promise<Result<Data>>): Promise<Data> {
  const { data, error } = await operation
  if (error !== null) throw error
  return data
}

const codeIn = async (operation: Promise<Result<object>>): Promise<string | undefined> => (await operation).error?.code

/** Opens the link of the newest mail to an address; gives back where it leads. */
async function followMail(email: string): Promise<string> {
  const { pathname, search } = new URL((await stage.server.mails(email))[0]?.url ?? '')
  return follow(stage.server.url + pathname + search)
}

/** A tab in which a new user has confirmed the address by its link. */
async function joined(options: TabOptions = {}): Promise<{ readonly tab: Tab; readonly email: string }> {
  const email = newEmail()
  const auth = { storage: createStorage(), ...options.auth }
  await done(open({ auth }).client.auth.signUp({ email, password }))
  const tab = open({ ...options, auth, at: await followMail(email) })
  await done(tab.client.auth.initialize())
  await done(tab.client.auth.getSession())
  return { tab, email }
}

const sessionIn = async ({ client }: Tab): Promise<Session> => {
  const { session } = await done(client.auth.getSession())
  if (session === null) throw new Error('Nobody is signed in.')
  return session
}

describe('signing up and in', () => {
  it.each(['implicit', 'pkce'] as const)('lands with a session on the site after the link (%s)', async (flowType) => {
    const { tab, email } = await joined({ auth: { flowType } })
    expect(tab.address()).toBe(`${siteUrl}/`)
    expect(eventNames(tab)).toEqual(['INITIAL_SESSION', 'SIGNED_IN'])
    expect(tab.events[0]?.[1]?.user.email).toBe(email)
    expect((await done(tab.client.auth.getUser())).user.email).toBe(email)
  })

  it('has no session until the address is confirmed, and takes the typed code', async () => {
    const [{ client }, email] = [open(), newEmail()]
    const signedUp = await done(client.auth.signUp({ email, password, options: { data: { name: 'Ada' } } }))
    expect(signedUp).toMatchObject({ user: { email, user_metadata: { name: 'Ada' } }, session: null })
    expect(await codeIn(client.auth.signInWithPassword({ email, password }))).toBe('email_not_confirmed')
    const token = (await stage.server.mails(email))[0]?.code ?? ''
    expect(await codeIn(client.auth.verifyOtp({ email, token: 'abcdef', type: 'signup' }))).toBe('otp_expired')
    const { session } = await done(client.auth.verifyOtp({ email, token, type: 'signup' }))
    expect(session?.user.email).toBe(email)
  })

  it('says what is wrong with a code, a status and reasons', async () => {
    const { client } = open()
    const weak = await client.auth.signUp({ email: newEmail(), password: 'short' })
    expect(weak).toMatchObject({
      data: { user: null, session: null },
      error: { name: 'AuthError', code: 'weak_password', status: 422, reasons: ['length'] },
    })
    expect(await codeIn(client.auth.signInWithPassword({ email: newEmail(), password }))).toBe('invalid_credentials')
    expect(await codeIn(client.auth.getUser())).toBe('session_missing')
    expect(await codeIn(client.auth.updateUser({ data: {} }))).toBe('session_missing')
    expect(await codeIn(client.auth.refreshSession())).toBe('session_missing')
    expect(await codeIn(client.auth.getUser('nonsense'))).toBe('bad_jwt')
    expect(await codeIn(open({ fetch: wrongKey }).client.auth.signInAnonymously())).toBe('bad_api_key')
  })

  it('signs in by password, changes the user, and signs out', async () => {
    const { email } = await joined()
    const tab = open()
    const { auth } = tab.client
    const { session } = await done(auth.signInWithPassword({ email, password }))
    await done(auth.updateUser({ data: { team: 'blue' } }))
    expect(await sessionIn(tab)).toMatchObject({
      access_token: session.access_token,
      user: { email, user_metadata: { team: 'blue' } },
    })
    await done(auth.signOut())
    expect(await done(auth.getSession())).toEqual({ session: null })
    expect(await codeIn(auth.getUser(session.access_token))).toBe('session_not_found')
    expect(eventNames(tab)).toEqual(['INITIAL_SESSION', 'SIGNED_IN', 'USER_UPDATED', 'SIGNED_OUT'])
  })

  it('ends the sessions that the scope names', async () => {
    const { tab, email } = await joined()
    const others = await Promise.all(
      [open(), open()].map(async (other) => {
        await done(other.client.auth.signInWithPassword({ email, password }))
        return other
      }),
    )
    await done(tab.client.auth.signOut({ scope: 'others' }))
    expect((await done(tab.client.auth.getUser())).user.email).toBe(email)
    for (const { client } of others) expect(await codeIn(client.auth.getUser())).toBe('session_not_found')
    for (const { client } of others)
      expect(await client.auth.signOut({ scope: 'local' })).toEqual({ data: {}, error: null })
  })

  it('makes a new guest on every call, who becomes a person with the same id', async () => {
    const tab = open()
    const { auth } = tab.client
    const first = await done(auth.signInAnonymously({ options: { data: { cart: [1] } } }))
    const guest = await done(auth.signInAnonymously())
    expect(guest.user.id).not.toBe(first.user.id)
    expect([first.user.user_metadata, first.user.email, first.user.is_anonymous]).toEqual([
      { cart: [1] },
      undefined,
      true,
    ])
    expect(await codeIn(auth.updateUser({ password }))).toBe('validation_failed')
    const email = newEmail()
    expect((await done(auth.updateUser({ email, password }))).user.new_email).toBe(email)
    const token = (await stage.server.mails(email))[0]?.code ?? ''
    await done(auth.verifyOtp({ email, token, type: 'email_change' }))
    const { session } = await done(auth.refreshSession())
    expect([session.user.id, session.user.email]).toEqual([guest.user.id, email])
    expect(claimsOf(session.access_token)['is_anonymous']).toBe(false)
    await done(open().client.auth.signInWithPassword({ email, password }))
  })

  it.each(['implicit', 'pkce'] as const)('comes back from a password reset as such (%s)', async (flowType) => {
    const { tab, email } = await joined({ auth: { flowType } })
    const auth = { storage: createStorage(), flowType }
    await done(tab.client.auth.signOut())
    await done(open({ auth }).client.auth.resetPasswordForEmail(email, { redirectTo: `${siteUrl}/reset?step=2` }))
    const back = open({ auth, at: await followMail(email) })
    await done(back.client.auth.initialize())
    await done(back.client.auth.updateUser({ password: 'another horse' }))
    expect(eventNames(back)).toEqual(['INITIAL_SESSION', 'PASSWORD_RECOVERY', 'USER_UPDATED'])
    expect(back.address()).toBe(`${siteUrl}/reset?step=2`)
    await done(open().client.auth.signInWithPassword({ email, password: 'another horse' }))
  })

  it('mails a link or code for signing in, and a second one', async () => {
    const { email } = await joined()
    const { auth } = open().client
    expect(await done(auth.signInWithOtp({ email }))).toEqual({ user: null, session: null })
    const token_hash = new URL((await stage.server.mails(email))[0]?.url ?? '').searchParams.get('token') ?? ''
    expect((await done(auth.verifyOtp({ token_hash, type: 'magiclink' }))).user?.email).toBe(email)
    expect(await codeIn(auth.signInWithOtp({ email: newEmail(), options: { shouldCreateUser: false } }))).toBe(
      'otp_disabled',
    )
    const late = newEmail()
    await done(auth.signUp({ email: late, password }))
    await done(auth.resend({ type: 'signup', email: late }))
    expect((await stage.server.mails(late)).length).toBe(2)
  })

  it.each(['implicit', 'pkce'] as const)('goes to the provider and comes back (%s)', async (flowType) => {
    const person = stage.newPerson()
    const auth = { storage: createStorage(), flowType }
    const leaving = open({ auth })
    const queryParams = { login_hint: person.sub, provider: 'github' }
    const { url } = await done(leaving.client.auth.signInWithOAuth({ provider: 'google', options: { queryParams } }))
    expect(leaving.address()).toBe(url)
    const atProvider = await stage.provider.visit(await follow(url))
    const back = open({ auth, at: locationOf(await stage.callback(atProvider.search)).href })
    expect((await sessionIn(back)).user.email).toBe(person.email)
    expect((await sessionIn(back)).provider_token).toBeTruthy()
    expect(back.address()).toBe(`${siteUrl}/`)
  })

  it('takes a token that the provider gave', async () => {
    const person = stage.newPerson()
    const now = Math.floor(Date.now() / 1000)
    const about = { iss: stage.provider.issuer, aud: google.clientId, sub: person.sub, iat: now, exp: now + 300 }
    const token = await stage.provider.sign({ ...about, ...stage.provider.people.get(person.sub) })
    const { client } = open()
    const { user } = await done(client.auth.signInWithIdToken({ provider: 'google', token }))
    expect(user.email).toBe(person.email)
    expect(await codeIn(client.auth.signInWithIdToken({ provider: 'google', token: 'nonsense' }))).toBeDefined()
  })

  it.each(['implicit', 'pkce'] as const)(
    'links an account of a provider, and takes it off again (%s)',
    async (flowType) => {
      const person = stage.newPerson()
      const { tab, email } = await joined({ auth: { flowType } })
      const { auth } = tab.client
      const { id } = (await sessionIn(tab)).user
      const queryParams = { login_hint: person.sub }
      const { url } = await done(auth.linkIdentity({ provider: 'google', options: { queryParams } }))
      expect(tab.address()).toBe(url)
      const answer = await stage.callback((await stage.provider.visit(url)).search)
      const back = locationOf(answer)
      expect([back.origin, back.searchParams.get('error')]).toEqual([siteUrl, null])
      const { identities } = await done(auth.getUserIdentities())
      expect(identities.map(({ provider }) => provider)).toEqual(['email', 'google'])
      const [, linked] = identities
      if (linked === undefined) throw new Error('nothing was linked')
      await done(auth.unlinkIdentity(linked))
      const { user } = await done(auth.getUser())
      expect([user.id, user.email, user.identities?.length]).toEqual([id, email, 1])
      const [last] = user.identities ?? []
      expect(await codeIn(auth.unlinkIdentity(last ?? { identity_id: '' }))).toBe('single_identity_not_deletable')
      expect(await codeIn(open().client.auth.linkIdentity({ provider: 'google' }))).toBe('session_missing')
    },
  )

  it('raises a session to aal2 through the factor endpoints', async () => {
    const { tab } = await joined()
    const { auth, fetch } = tab.client
    const post = async (path: string, body?: object): Promise<any> => {
      const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      return (await fetch(path, { method: 'POST', ...(body !== undefined && json) })).json()
    }
    const { id, totp } = await post('/auth/v1/factors', { factor_type: 'totp' })
    const challenge = await post(`/auth/v1/factors/${id}/challenge`)
    const raised = await post(`/auth/v1/factors/${id}/verify`, {
      challenge_id: challenge.id,
      code: codeOf(totp.secret),
    })
    await done(auth.setSession(raised))
    expect(eventNames(tab).at(-1)).toBe('MFA_CHALLENGE_VERIFIED')
    expect(claimsOf((await sessionIn(tab)).access_token)['aal']).toBe('aal2')
    await expect(fetch(`/auth/v1/factors/${'..%2fadmin%2fusers'}/challenge`)).rejects.toThrow(TypeError)
    await expect(fetch(`/auth/v1/factors/${'../admin/users'}/challenge`)).rejects.toThrow(TypeError)
  })
})

describe('coming back with something else', () => {
  it('says why a link was refused, and keeps the present session', async () => {
    const { tab, email } = await joined()
    const storage = createStorage()
    await done(open({ auth: { storage } }).client.auth.signInWithPassword({ email, password }))
    const at = `${siteUrl}/#error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid&sb=`
    const back = open({ auth: { storage }, at })
    expect(await back.client.auth.initialize()).toMatchObject({
      error: { code: 'otp_expired', message: 'Email link is invalid' },
    })
    expect([back.address(), (await sessionIn(back)).user.email]).toEqual([`${siteUrl}/`, email])
    expect(eventNames(tab)).not.toContain('SIGNED_OUT')
  })

  it('leaves parameters alone that are not ours', async () => {
    for (const at of [`${siteUrl}/?code=123&x=1#part`, `${siteUrl}/?error=none`, `${siteUrl}/#type=recovery`]) {
      const tab = open({ at })
      expect(await tab.client.auth.initialize()).toEqual({ data: {}, error: null })
      expect(tab.address()).toBe(at)
    }
  })

  it('does not sign in by what another browser began', async () => {
    const email = newEmail()
    await done(open({ auth: { flowType: 'pkce' } }).client.auth.signUp({ email, password }))
    const landed = new URL(await followMail(email))
    const other = open({ auth: { flowType: 'pkce' }, at: landed.href })
    const code = landed.searchParams.get('code') ?? ''
    expect(await codeIn(other.client.auth.exchangeCodeForSession(code))).toBe('code_verifier_missing')
    expect(await done(other.client.auth.getSession())).toEqual({ session: null })
    // Nor by tokens in a forged link, where PKCE was requested.
    const at = `${siteUrl}/#access_token=a.b.c&refresh_token=r&expires_in=3600&token_type=bearer`
    const lured = open({ auth: { flowType: 'pkce' }, at })
    expect(await codeIn(lured.client.auth.initialize())).toBe('code_verifier_missing')
    expect(lured.address()).toBe(`${siteUrl}/`)
    expect(await codeIn(open({ at }).client.auth.initialize())).toBe('bad_jwt')
  })

  it('keeps what it could not ask for in the address, so that a reload asks again', async () => {
    for (const flowType of ['implicit', 'pkce'] as const) {
      const [email, auth] = [newEmail(), { storage: createStorage(), flowType }]
      await done(open({ auth }).client.auth.signUp({ email, password }))
      const at = await followMail(email)
      const offline = open({ auth, at, fetch: () => Promise.reject(new TypeError('offline')) })
      expect(await codeIn(offline.client.auth.initialize())).toBe('network_failure')
      expect(offline.address()).toBe(at)
      expect((await sessionIn(open({ auth, at }))).user.email).toBe(email)
    }
  })
})

describe('sessions of other clients', () => {
  const theirs = (storage: ReturnType<typeof createStorage>, storageKey: string) =>
    createTheirs(stage.server.url, stage.server.anon, {
      auth: { storage, storageKey, autoRefreshToken: false, detectSessionInUrl: false },
      realtime: noRealtime,
    })

  it('fact 60: reads what supabase-js has stored under the same key, and the other way round', async () => {
    const [{ email }, storage] = [await joined(), createStorage()]
    await theirs(storage, 'shared').auth.signInWithPassword({ email, password })
    const tab = open({ auth: { storage, storageKey: 'shared' } })
    expect((await sessionIn(tab)).user.email).toBe(email)
    const { session } = await done(tab.client.auth.refreshSession())
    const read = await theirs(storage, 'shared').auth.getSession()
    expect(read.data.session).toEqual(session)
    expect((await theirs(storage, 'shared').auth.refreshSession()).error).toBeNull()
    expect((await done(tab.client.auth.getUser())).user.email).toBe(email)
  })

  it('fact 61: keeps the session in localStorage under the usual key unless an option differs', async () => {
    const { email } = await joined()
    const storage = createStorage()
    const tab = openTab(stage.server, { environment: { storage } })
    await done(tab.client.auth.signInWithPassword({ email, password }))
    expect([...storage.items.keys()]).toEqual(['sb-127-auth-token'])
    const memory = openTab(stage.server, { auth: { persistSession: false }, environment: { storage } })
    expect(await done(memory.client.auth.getSession())).toEqual({ session: null })
  })

  it('fact 59: shares cookies with a server that uses @supabase/ssr, in both directions', async () => {
    const { email } = await joined()
    const page = createCookieJar().page('https://app.example.com/')
    const storage = cookieStorage({ domain: 'example.com', secure: true, document: page })
    const tab = open({ auth: { storage, storageKey: 'sb-127-auth-token' } })
    const long = { about: '字😀é'.repeat(600) }
    await done(tab.client.auth.signInWithPassword({ email, password }))
    await done(tab.client.auth.updateUser({ data: long }))
    expect(page.cookie.split('; ').length).toBeGreaterThan(2)
    const onServer = createServerClient(stage.server.url, stage.server.anon, {
      realtime: noRealtime,
      cookieOptions: { domain: 'example.com', secure: true },
      cookies: {
        getAll: () =>
          page.cookie.split('; ').map((pair) => ({ name: pair.split('=')[0] ?? '', value: pair.split('=')[1] ?? '' })),
        setAll: (cookies) => {
          for (const { name, value, options } of cookies) page.cookie = serializeCookieHeader(name, value, options)
        },
      },
    })
    const { data } = await onServer.auth.getSession()
    expect(data.session?.user.user_metadata).toMatchObject(long)
    const refreshed = await onServer.auth.refreshSession()
    expect((await sessionIn(tab)).access_token).toBe(refreshed.data.session?.access_token)
    await onServer.auth.signOut()
    expect(await done(tab.client.auth.getSession())).toEqual({ session: null })
  })
})

it('the client knows every code of the service, and no others', () => {
  const missing: Exclude<AuthErrorCode, ServiceErrorCode> extends never ? true : never = true
  const invented: Exclude<ServiceErrorCode, AuthErrorCode> extends never ? true : never = true
  expect([missing, invented]).toEqual([true, true])
})

const wrongKey: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('apikey', 'no key')
  return fetch(input, { ...init, headers })
}
