import { randomUUID } from 'node:crypto'
import { processLock, type Session, type SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, describe, expect, it } from 'vitest'
import { claimsOf, siteUrl, startAuthServer, type AuthServer, type ClientAuth } from '../support/auth.ts'
import { createStorage, follow, onPage } from '../support/browser.ts'
import { forSuite } from '../support/for-suite.ts'
import { locationOf, startGoogle } from '../support/google.ts'
import { startMailServer, type ReceivedMail } from '../support/mail-server.ts'
import { postsOf, postsSql, type Posts } from '../support/posts.ts'
import { codeOf } from '../support/totp.ts'

/** The steps of an application with supabase-js, the project's address, and the mails of its users. */

let posts: Posts
const mails = forSuite(startMailServer)
const server = forSuite(() =>
  startAuthServer({
    smtpUrl: mails.url,
    settings: { anonymous_enabled: 'on', mail_cooldown: '0', mail_ceiling: '1000' },
    sql: postsSql,
  }),
)
beforeAll(async () => {
  posts = postsOf(server)
})

const password = 'correct horse'
const newAddress = (): string => `${randomUUID()}@example.com`

function mailTo(email: string): ReceivedMail {
  const mail = mails.received.findLast(({ recipients }) => recipients.includes(email))
  if (mail === undefined) throw new Error(`No mail came to ${email}.`)
  return mail
}

function sessionOf({ data, error }: { data: { session: Session | null }; error: Error | null }): Session {
  if (error !== null) throw error
  if (data.session === null) throw new Error('There is no session.')
  return data.session
}

/** Signs up and confirms by the code. */
async function joins(client: SupabaseClient, email = newAddress()): Promise<Session> {
  const asked = await client.auth.signUp({ email, password })
  expect([asked.error, asked.data.session]).toEqual([null, null])
  return sessionOf(await client.auth.verifyOtp({ email, token: mailTo(email).code, type: 'signup' }))
}

interface Landing {
  readonly client: SupabaseClient
  readonly events: readonly string[]
  /** The address bar after the client has read it. */
  readonly shown: string
}

/** The page of the application that an address opens, with what its client makes of that address. */
async function openPage(on: AuthServer, url: string, auth: ClientAuth): Promise<Landing> {
  let client: SupabaseClient | undefined
  const events: string[] = []
  const shown = await onPage(url, async () => {
    client = on.client({ ...auth, persistSession: true })
    client.auth.onAuthStateChange((event) => void events.push(event))
    expect((await client.auth.initialize()).error).toBeNull()
    await expect.poll(() => events.filter((event) => event !== 'INITIAL_SESSION')).toHaveLength(1)
  })
  if (client === undefined) throw new Error('There is no client.')
  return { client, events, shown }
}

describe('a user who signs up', () => {
  it('confirms by the link of the mail, whose page is signed in, and has their own rows', async () => {
    const [email, storage] = [newAddress(), createStorage()]
    const asked = await server.client().auth.signUp({ email, password, options: { data: { name: 'Ada' } } })
    expect([asked.error, asked.data.session, asked.data.user?.email]).toEqual([null, null, email])
    const early = await server.client().auth.signInWithPassword({ email, password })
    expect(early.error?.code).toBe('email_not_confirmed')

    const landed = await follow(mailTo(email).url)
    expect(landed.startsWith(`${siteUrl}#access_token=`)).toBe(true)
    const { client, events, shown } = await openPage(server, landed, { storage })
    expect([events.includes('SIGNED_IN'), shown]).toEqual([true, `${siteUrl}/`])
    const { access_token: token, user } = sessionOf(await client.auth.getSession())
    expect(user).toMatchObject({ id: asked.data.user?.id, email, user_metadata: { name: 'Ada' } })

    expect(await posts.write(token, { title: 'Mine' })).toBe(1)
    expect(await posts.read(token)).toEqual(['Mine'])
    const stranger = await joins(server.client())
    for (const other of [stranger.access_token, server.anon]) expect(await posts.read(other)).toEqual([])
    await expect(posts.write(server.anon, { title: 'Nobody’s' })).rejects.toThrow(/Unknown type/)
  })

  it('confirms by its code', async () => {
    const client = server.client()
    const { access_token: token, user } = await joins(client)
    expect(user.email_confirmed_at).toBeTruthy()
    expect(await posts.write(token, { title: 'By code' })).toBe(1)
    expect((await client.auth.getUser()).data.user?.id).toBe(user.id)
  })

  it('resets a forgotten password by a link with a proof key, and the old one opens nothing', async () => {
    const [email, storage] = [newAddress(), createStorage()]
    await joins(server.client(), email)
    const pkce = { storage, flowType: 'pkce', persistSession: true } as const
    const asked = await server.client(pkce).auth.resetPasswordForEmail(email)
    expect(asked.error).toBeNull()
    await server.settled()

    const landed = await follow(mailTo(email).url)
    expect(landed).toMatch(/^https:\/\/app\.example\.com\/?\?code=[0-9a-f-]{36}$/)
    const { client, events, shown } = await openPage(server, landed, pkce)
    expect([events.includes('PASSWORD_RECOVERY'), shown]).toEqual([true, `${siteUrl}/`])
    expect((await client.auth.updateUser({ password: 'a new horse' })).error).toBeNull()

    const old = await server.client().auth.signInWithPassword({ email, password })
    expect(old.error?.code).toBe('invalid_credentials')
    sessionOf(await server.client().auth.signInWithPassword({ email, password: 'a new horse' }))
  })
})

describe('twenty tabs that refresh at once', () => {
  const tabs = 20
  const signedIn = async () => {
    const storage = createStorage()
    const first = server.client({ storage, persistSession: true })
    return { storage, session: await joins(first) }
  }
  /** By what stands in the storage the access token is over. */
  const expire = ({ items, setItem }: ReturnType<typeof createStorage>): void => {
    for (const [key, text] of items) {
      const stored = JSON.parse(text) as { expires_at?: number }
      if (stored.expires_at !== undefined) void setItem(key, JSON.stringify({ ...stored, expires_at: 1 }))
    }
  }
  const live = async (token: string): Promise<readonly string[]> => {
    const { rows } = await server.db.query(
      'select token from auth.refresh_tokens where session_id = $1 and not revoked',
      [claimsOf(token)['session_id']],
    )
    return rows.map((row: { token: string }) => row.token)
  }

  it.each([
    ['one after the other, behind a lock', { lock: processLock }],
    ['with no lock at all', {}],
  ])('and that share their storage, %s, all stay signed in', async (_how, more) => {
    const { storage, session } = await signedIn()
    const all = Array.from({ length: tabs }, () => server.client({ storage, persistSession: true, ...more }))
    const events: string[] = []
    for (const tab of all) tab.auth.onAuthStateChange((event) => void events.push(event))
    await expect.poll(() => events.filter((event) => event === 'INITIAL_SESSION')).toHaveLength(tabs)
    for (let round = 0; round < 3; round += 1) {
      expire(storage)
      await Promise.all(all.map((tab) => tab.auth.getSession()))
      const sessions = await Promise.all(all.map(async (tab) => sessionOf(await tab.auth.getSession())))
      const given = new Set(sessions.map(({ refresh_token }) => refresh_token))
      expect([given.size, await live(session.access_token)]).toEqual([1, [...given]])
      const users = await Promise.all(all.map(async (tab) => (await tab.auth.getUser()).data.user?.id))
      expect(new Set(users)).toEqual(new Set([session.user.id]))
    }
    expect(events).not.toContain('SIGNED_OUT')
  })

  it('and share nothing but the token that they began with, all get the same one', async () => {
    const { session } = await signedIn()
    let refresh_token = session.refresh_token
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: tabs }, () => server.client().auth.refreshSession({ refresh_token })),
      )
      const given = new Set(answers.map((answer) => sessionOf(answer).refresh_token))
      expect([given.size, await live(session.access_token)]).toEqual([1, [...given]])
      refresh_token = [...given][0] ?? ''
    }
  })
})

describe('a guest', () => {
  it('becomes a member with the same id and the same rows', async () => {
    const client = server.client()
    const begun = sessionOf(await client.auth.signInAnonymously({ options: { data: { cart: [1] } } }))
    expect([begun.user.is_anonymous, begun.user.email]).toEqual([true, undefined])
    await posts.write(begun.access_token, { title: 'As a guest' })

    const email = newAddress()
    const asked = await client.auth.updateUser({ email, password })
    expect(asked.data.user).toMatchObject({ id: begun.user.id, new_email: email, is_anonymous: true })
    const token = mailTo(email).code
    sessionOf(await client.auth.verifyOtp({ email, token, type: 'email_change' }))
    const kept = sessionOf(await client.auth.refreshSession())
    expect(kept.user).toMatchObject({ id: begun.user.id, email, is_anonymous: false, user_metadata: { cart: [1] } })
    expect(claimsOf(kept.access_token)).toMatchObject({ sub: begun.user.id, is_anonymous: false })
    expect(await posts.read(kept.access_token)).toEqual(['As a guest'])

    const again = sessionOf(await server.client().auth.signInWithPassword({ email, password }))
    expect(await posts.read(again.access_token)).toEqual(['As a guest'])
  })
})

describe('a second factor', () => {
  it('is enrolled, challenged and verified, and opens what policies keep for aal2', async () => {
    const [client, email] = [server.client(), newAddress()]
    const { access_token: first } = await joins(client, email)
    await posts.write(first, { title: 'Plain' })
    await expect(posts.write(first, { title: 'Secret', secret: true })).rejects.toThrow(/row-level security/)

    const enrolled = await client.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'Phone' })
    if (enrolled.error !== null || enrolled.data.type !== 'totp') throw new Error('It was not enrolled.')
    const { id: factorId, totp } = enrolled.data
    expect(totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg /)
    const challenge = await client.auth.mfa.challenge({ factorId })
    const challengeId = challenge.data?.id ?? ''
    const verified = await client.auth.mfa.verify({ factorId, challengeId, code: codeOf(totp.secret) })
    expect(verified.error).toBeNull()
    expect((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
      currentLevel: 'aal2',
      nextLevel: 'aal2',
    })
    const { access_token: raised } = sessionOf(await client.auth.getSession())
    await posts.write(raised, { title: 'Secret', secret: true })
    expect(await posts.read(raised)).toEqual(['Plain', 'Secret'])

    const elsewhere = server.client()
    const low = sessionOf(await elsewhere.auth.signInWithPassword({ email, password }))
    expect(await posts.read(low.access_token)).toEqual(['Plain'])
    expect((await elsewhere.auth.mfa.getAuthenticatorAssuranceLevel()).data).toMatchObject({
      currentLevel: 'aal1',
      nextLevel: 'aal2',
    })
    const code = codeOf(totp.secret, 1)
    expect((await elsewhere.auth.mfa.challengeAndVerify({ factorId, code })).error).toBeNull()
    expect((await elsewhere.auth.updateUser({ password: 'a new horse' })).error).toBeNull()
  })
})

describe('signing out everywhere', () => {
  it('ends the sessions of all devices at once', async () => {
    const [client, email] = [server.client(), newAddress()]
    await joins(client, email)
    const devices = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const device = server.client()
        return { device, session: sessionOf(await device.auth.signInWithPassword({ email, password })) }
      }),
    )
    expect((await client.auth.signOut({ scope: 'global' })).error).toBeNull()
    expect((await client.auth.getSession()).data.session).toBeNull()
    for (const { device, session } of devices) {
      expect((await server.client().auth.getUser(session.access_token)).error?.name).toBe('AuthSessionMissingError')
      expect((await device.auth.refreshSession()).error?.code).toBe('refresh_token_not_found')
    }
    sessionOf(await client.auth.signInWithPassword({ email, password }))
  })
})

describe('Google', () => {
  const stage = forSuite(startGoogle, 'userinfo', {}, { sql: postsSql })

  it.each(['implicit', 'pkce'] as const)(
    'signs in by the %s flow, and brings people back to their rows',
    async (flowType) => {
      const person = stage.newPerson()
      const own = postsOf(stage.server)
      const visit = async (): Promise<Session> => {
        const auth = { storage: createStorage(), flowType, persistSession: true }
        const queryParams = { login_hint: person.sub }
        const { data } = await stage.server
          .client(auth)
          .auth.signInWithOAuth({ provider: 'google', options: { skipBrowserRedirect: true, queryParams } })
        const back = await stage.provider.visit(await follow(data.url ?? ''))
        const landed = locationOf(await stage.callback(back.search)).href
        const { client, shown } = await openPage(stage.server, landed, auth)
        expect(shown).toBe(`${siteUrl}/`)
        return sessionOf(await client.auth.getSession())
      }
      const first = await visit()
      expect(first.user.email).toBe(person.email)
      expect(first.provider_token).toBeTruthy()
      await own.write(first.access_token, { title: 'Through Google' })
      const second = await visit()
      expect(second.user.id).toBe(first.user.id)
      expect(await own.read(second.access_token)).toEqual(['Through Google'])
    },
  )
})
