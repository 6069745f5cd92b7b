import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { describe, expect, it } from 'vitest'
import { addressHeader, call, noRealtime, siteUrl, startAuthServer, type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'

/** Limits of an address end no session, and concern no caller who only seems to come from it (spec/auth.md 10). */

const server = forSuite(startAuthServer, {
  settings: {
    autoconfirm: 'on',
    anonymous_enabled: 'on',
    limit_token: '150',
    limit_verify: '30',
    ban_threshold: '30',
    redirect_allow_list: 'https://preview.example.org/**',
  },
})

let last = 0
const newAddress = (): string => `198.52.0.${(last += 1)}`
const many = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

interface Given {
  readonly address: string
  readonly headers?: Readonly<Record<string, string>>
}
const post = (path: string, { address, headers = {} }: Given, body: object): Promise<Answer> =>
  call(server.url, server.anon, 'POST', path, { body, headers: { [addressHeader]: address, ...headers } })
const guest = async (): Promise<any> => (await post('/signup', { address: newAddress() }, {})).body
const wrongPassword = (given: Given): Promise<Answer> =>
  post('/token?grant_type=password', given, { email: `${randomUUID()}@example.com`, password: 'wrong horse' })
const refresh = (given: Given, token: string): Promise<Answer> =>
  post('/token?grant_type=refresh_token', given, { refresh_token: token })
const statusOf = async (address: string): Promise<number> => {
  const headers = { apikey: server.anon, 'content-type': 'application/json', [addressHeader]: address }
  const body = JSON.stringify({ query: '{ __typename }' })
  return (await fetch(`${server.url}/graphql/v1`, { method: 'POST', headers, body })).status
}

/** A client whose access token has run out. @returns what it stores once it has a verdict, or tries again */
const resumed = (session: any, address: string): Promise<string | null> =>
  new Promise((resolve, reject) => {
    const kept = new Map([['session', JSON.stringify({ ...session, expires_at: 1 })]])
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    }
    let attempts = 0
    const fetchOnce: typeof fetch = async (input, init) => {
      attempts += 1
      if (attempts === 1) return fetch(input, init)
      resolve(storage.getItem('session'))
      return Response.json(
        { code: 400, error_code: 'refresh_token_not_found', msg: 'ends the attempts' },
        { status: 400 },
      )
    }
    const client = createClient(server.url, server.anon, {
      auth: {
        autoRefreshToken: false,
        detectSessionInUrl: false,
        persistSession: true,
        storage,
        storageKey: 'session',
      },
      global: { headers: { [addressHeader]: address }, fetch: fetchOnce },
      realtime: noRealtime,
    })
    client.auth.getSession().then(() => resolve(storage.getItem('session')), reject)
  })

describe('a refresh', () => {
  it('costs its address nothing: forty sessions come back at once from one address', async () => {
    const address = newAddress()
    const sessions = await many(40, guest)
    const kept = await Promise.all(sessions.map((session) => resumed(session, address)))
    expect(kept.map((text) => JSON.parse(text ?? '{}').user?.id)).toEqual(sessions.map(({ user }) => user.id))
    expect(kept.every((text, place) => !text?.includes(sessions[place].refresh_token))).toBe(true)
  })

  it('is answered 503 while its address is closed, and the public client keeps the session', async () => {
    const address = newAddress()
    const session = await guest()
    await many(30, () => wrongPassword({ address }))
    expect((await wrongPassword({ address })).status).toBe(429)
    const closed = await refresh({ address }, session.refresh_token)
    expect([closed.status, closed.body.error_code]).toEqual([503, 'over_request_rate_limit'])
    expect(Number(closed.headers.get('retry-after'))).toBeGreaterThan(500)
    expect(await resumed(session, address)).toContain(session.refresh_token)
    expect((await refresh({ address: newAddress() }, session.refresh_token)).status).toBe(200)
  })

  it('with an unknown token costs as a sign-in does, and prevents no other refresh', async () => {
    const address = newAddress()
    await server.set({ ban_threshold: '0' })
    const answers = await many(45, (n) => refresh({ address }, `unknown-token-${n}`))
    await server.set({ ban_threshold: '30' })
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400, 503]))
    expect((await refresh({ address }, (await guest()).refresh_token)).status).toBe(200)
    expect((await wrongPassword({ address })).status).toBe(429)
  })
})

describe('a server with the service_role key', () => {
  const through = (address: string, apikey: string): Readonly<Record<string, string>> => ({
    apikey,
    'sb-forwarded-for': address,
  })

  it('calls for its users: each has the limits of the address that Sb-Forwarded-For names', async () => {
    const [address, user] = [newAddress(), newAddress()]
    await many(30, () => wrongPassword({ address, headers: through(`${user}, 10.0.0.1`, server.serviceRole) }))
    expect(await statusOf(user)).toBe(429)
    expect(await statusOf(address)).toBe(200)
    expect((await wrongPassword({ address, headers: through(newAddress(), server.serviceRole) })).status).toBe(400)
  })

  it('is refused where it names no address', async () => {
    const answer = await wrongPassword({ address: newAddress(), headers: through('everyone', server.serviceRole) })
    expect([answer.status, answer.body]).toMatchObject([400, { error_code: 'validation_failed' }])
    expect(answer.body.msg).toBe('Sb-Forwarded-For must be an IP address')
  })

  it('is the only caller who is believed', async () => {
    const [address, user] = [newAddress(), newAddress()]
    await many(30, () => wrongPassword({ address, headers: through(user, server.anon) }))
    expect([await statusOf(user), await statusOf(address)]).toEqual([200, 429])
    const forged = await wrongPassword({ address: newAddress(), headers: through(user, `${server.serviceRole}x`) })
    expect(forged.status).toBe(401)
  })
})

describe('a page of a foreign site', () => {
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' }
  const [, ...image] = Object.entries(foreign).slice(0, 2)
  const spend = async (address: string, headers: Readonly<Record<string, string>>): Promise<void> => {
    await many(20, () => wrongPassword({ address, headers }))
    await many(20, () => post('/signup', { address, headers }, { email: 'no address', password: '' }))
    const asImage = { ...Object.fromEntries(image), [addressHeader]: address }
    await many(20, () => fetch(`${server.url}/auth/v1/verify?token=0&type=signup`, { headers: asImage }))
  }

  it('closes nothing but itself, and spends nothing of the address of its visitor', async () => {
    const address = newAddress()
    await spend(address, foreign)
    expect((await wrongPassword({ address, headers: foreign })).status).toBe(429)
    expect(await statusOf(address)).toBe(200)
    expect((await wrongPassword({ address })).status).toBe(400)
    const link = await fetch(`${server.url}/auth/v1/verify?token=0&type=signup`, {
      headers: { [addressHeader]: address },
      redirect: 'manual',
    })
    expect(link.status).toBe(303)
  })

  it('is one by its origin alone in an old browser, and in a frame without an origin', async () => {
    for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null', 'sec-fetch-site': 'cross-site' }]) {
      const address = newAddress()
      await many(30, () => wrongPassword({ address, headers }))
      expect((await wrongPassword({ address, headers })).status).toBe(429)
      expect(await statusOf(address)).toBe(200)
    }
  })

  it('is none where the owner names its origin', async () => {
    for (const origin of [siteUrl, 'https://preview.example.org']) {
      const address = newAddress()
      await many(30, () => wrongPassword({ address, headers: { ...foreign, origin } }))
      expect(await statusOf(address)).toBe(429)
    }
  })

  it('is closed with the address that it comes from', async () => {
    const address = newAddress()
    await many(30, () => wrongPassword({ address }))
    expect((await wrongPassword({ address, headers: foreign })).status).toBe(429)
  })
})
