import { randomUUID } from 'node:crypto'
import { createServerClient } from '@supabase/ssr'
import { beforeAll, describe, expect, it } from 'vitest'
import { claimsOf, noRealtime, siteUrl, startAuthServer } from '../support/auth.ts'
import { follow } from '../support/browser.ts'
import { forSuite } from '../support/for-suite.ts'
import { postsOf, postsSql, type Posts } from '../support/posts.ts'

/** The steps of an application that renders on a server, with @supabase/ssr: a client for each request, a session in cookies. */

let posts: Posts
const server = forSuite(startAuthServer, { settings: { mail_cooldown: '0', mail_ceiling: '1000' }, sql: postsSql })
beforeAll(async () => {
  posts = postsOf(server)
})

type Jar = Map<string, string>

/** The client of one request of the browser whose cookies these are. */
const request = (jar: Jar) =>
  createServerClient(server.url, server.anon, {
    realtime: noRealtime,
    cookies: {
      getAll: () => [...jar].map(([name, value]) => ({ name, value })),
      setAll: (cookies) => {
        for (const { name, value, options } of cookies) {
          if (value === '' || options.maxAge === 0) jar.delete(name)
          else jar.set(name, value)
        }
      },
    },
  })

const password = 'correct horse'
const linkTo = async (email: string): Promise<string> => (await server.mails(email))[0]?.url ?? ''

/** Signs up in one request and confirms in another, as the way back from the mail does. */
async function join(jar: Jar, data: object = {}): Promise<string> {
  const email = `${randomUUID()}@example.com`
  const options = { emailRedirectTo: `${siteUrl}/auth/callback`, data }
  expect((await request(jar).auth.signUp({ email, password, options })).error).toBeNull()
  const landed = new URL(await follow(await linkTo(email)))
  expect([landed.origin + landed.pathname, landed.hash]).toEqual([`${siteUrl}/auth/callback`, ''])
  const exchanged = await request(jar).auth.exchangeCodeForSession(landed.searchParams.get('code') ?? '')
  expect(exchanged.error).toBeNull()
  return email
}

const tokenOf = async (jar: Jar): Promise<string> =>
  (await request(jar).auth.getSession()).data.session?.access_token ?? ''

describe('an application with cookies', () => {
  it('signs up, comes back by the link with a code, and has a session in every later request', async () => {
    const jar: Jar = new Map()
    const email = await join(jar)
    const { data } = await request(jar).auth.getUser()
    expect(data.user?.email).toBe(email)
    expect(claimsOf(await tokenOf(jar))).toMatchObject({ email, amr: [{ method: 'email/signup' }] })
    await posts.write(await tokenOf(jar), { title: 'From a server' })
    expect(await posts.read(await tokenOf(jar))).toEqual(['From a server'])
    expect((await request(new Map()).auth.getUser()).data.user).toBeNull()

    await request(jar).auth.signOut()
    expect([jar.size, (await request(jar).auth.getUser()).data.user]).toEqual([0, null])
  })

  it('confirms by the hash that a template may carry in its own link', async () => {
    const [jar, email] = [new Map() as Jar, `${randomUUID()}@example.com`]
    await request(jar).auth.signUp({ email, password })
    const token_hash = new URL(await linkTo(email)).searchParams.get('token') ?? ''
    expect((await request(jar).auth.verifyOtp({ type: 'email', token_hash })).error).toBeNull()
    expect((await request(jar).auth.getUser()).data.user?.email).toBe(email)
  })

  it('refreshes in twenty requests of one page at once, and every copy of the cookies goes on', async () => {
    const jar: Jar = new Map()
    const email = await join(jar)
    const copies = Array.from({ length: 20 }, () => new Map(jar))
    const refreshed = await Promise.all(copies.map((copy) => request(copy).auth.refreshSession()))
    const given = new Set(refreshed.map(({ data }) => data.session?.refresh_token))
    expect([given.size, given.has(undefined)]).toEqual([1, false])
    const users = await Promise.all(copies.map(async (copy) => (await request(copy).auth.getUser()).data.user?.email))
    expect(new Set(users)).toEqual(new Set([email]))
  })

  it('spreads a large session over numbered cookies, and one half of it is not a session', async () => {
    const jar: Jar = new Map()
    const email = await join(jar, { note: 'x'.repeat(6_000) })
    expect([...jar.keys()].filter((name) => /\.\d+$/.test(name)).length).toBeGreaterThanOrEqual(2)
    expect((await request(jar).auth.getUser()).data.user?.email).toBe(email)
    const last = [...jar.keys()].findLast((name) => /\.\d+$/.test(name)) ?? ''
    jar.delete(last)
    const { data } = await request(jar).auth.getUser()
    expect(data.user).toBeNull()
  })
})
