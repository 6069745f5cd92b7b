import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it, test } from 'vitest'
import { addressHeader, call, startAuthServer, type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { postGraphql } from '../../../support/post-graphql.ts'

const server = forSuite(startAuthServer, {
  settings: { autoconfirm: 'on', anonymous_enabled: 'on', limit_guests: '30', limit_sign_up: '30' },
})

let last = 0
/** An address without earlier requests. */
const newAddress = (): string => `198.51.${Math.floor((last += 1) / 250)}.${(last % 250) + 1}`
const from = (address: string): Readonly<Record<string, string>> => ({ [addressHeader]: address })
const guest = (address: string, url = server.url): Promise<Answer> =>
  call(url, server.anon, 'POST', '/signup', { body: {}, headers: from(address) })
const wrongPassword = (address: string, headers = {}, url = server.url): Promise<Answer> =>
  call(url, server.anon, 'POST', '/token?grant_type=password', {
    body: { email: 'nobody@example.com', password: 'wrong horse' },
    headers: { ...from(address), ...headers },
  })
const graphql = (address: string, url = server.url, apikey = server.anon): Promise<Response> =>
  postGraphql({ url, anon: apikey }, { query: '{ __typename }' }, { ...from(address) })
const counted = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length
const many = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

describe('limits', () => {
  it('fact 20, attack 38: let thirty guests an hour come from an address, over processes and restarts', async () => {
    const address = newAddress()
    const other = await server.another()
    const answers = await many(40, (n) => guest(address, n % 2 === 0 ? server.url : other.url))
    await other.stop()
    expect([counted(answers, 200), counted(answers, 429)]).toEqual([30, 10])
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.body).toMatchObject({ error_code: 'over_request_rate_limit', msg: 'Request rate limit reached' })
    const waits = answers
      .filter(({ status }) => status === 429)
      .map(({ headers }) => Number(headers.get('retry-after')))
    expect([Math.min(...waits) > 3_500, Math.max(...waits) <= 3_600]).toEqual([true, true])
    expect(refused?.headers.get('access-control-allow-origin')).toBe('*')
    const restarted = await server.another()
    expect((await guest(address, restarted.url)).status).toBe(429)
    await restarted.stop()
    expect((await guest(newAddress())).status).toBe(200)
  })

  /** Makes so many of the guests that came first older. */
  const age = (address: string, count: number, by: string) =>
    server.db.query(
      `update catalograph_auth.guest_windows set taken = array(
        select t - case when n <= $2 then $3::interval else '0' end from unnest(taken) with ordinality as o (t, n)
        order by 1) where source = $1`,
      [address, count, by],
    )

  it('fact 20: let no hour have more than thirty guests, whenever it begins', async () => {
    const address = newAddress()
    await many(29, () => guest(address))
    await age(address, 29, '59 minutes 50 seconds')
    expect((await guest(address)).status).toBe(200)
    const refused = await guest(address)
    expect([refused.status, Number(refused.headers.get('retry-after')) <= 10]).toEqual([429, true])
    await age(address, 3, '10 seconds')
    const answers = await many(6, () => guest(address))
    expect([counted(answers, 200), counted(answers, 429)]).toEqual([3, 3])
    await server.set({ limit_guests: '20' })
    await age(address, 10, '1 hour')
    expect((await guest(address)).status).toBe(429)
    await age(address, 11, '1 hour')
    expect((await guest(address)).status).toBe(200)
    await server.set({ limit_guests: '30' })
    const unbounded = 'select from catalograph_auth.guest_windows where cardinality(taken) > 30'
    expect((await server.db.query(unbounded)).rowCount).toBe(0)
  })

  it.each([0, 29])(
    'say to a guest who waited for others how long it takes, where there were %i before',
    async (count) => {
      const address = newAddress()
      const put = (n: number) =>
        server.db.query(
          `insert into catalograph_auth.guest_windows (source, taken)
        values ($1, array_fill(clock_timestamp(), array[$2::int]))
        on conflict (source) do update set taken = excluded.taken`,
          [address, n],
        )
      if (count > 0) await put(count)
      await server.db.query('begin')
      await put(30)
      const late = guest(address)
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await expect.poll(async () => (await server.db.query(waiting)).rowCount, { interval: 10 }).toBeGreaterThan(0)
      await server.db.query('commit')
      const { status, headers } = await late
      expect([status, Number(headers.get('retry-after')) > 3_500]).toEqual([429, true])
    },
  )

  test.each(['anon', 'service_role'])('fact 3: hold with the key of %s all the same', async (role) => {
    const address = newAddress()
    await many(30, () => guest(address))
    const apikey = role === 'anon' ? server.anon : server.serviceRole
    const headers = { ...from(address), apikey, authorization: `Bearer ${apikey}` }
    expect((await server.call('POST', '/signup', { body: {}, headers })).status).toBe(429)
  })

  it('fact 3: hold without a key, where none is needed', async () => {
    await server.set({ limit_verify: '30' })
    const headers = { ...from(newAddress()), apikey: '' }
    const body = { type: 'signup', token_hash: 'f'.repeat(56) }
    const answers = await many(31, () => server.call('POST', '/verify', { body, headers }))
    await server.set({ limit_verify: '0' })
    expect([counted(answers, 403), counted(answers, 429)]).toEqual([30, 1])
  })

  it('count a /64 of IPv6 as one address', async () => {
    const answers = await many(32, (n) => guest(`2001:db8:7:7:${(n + 1).toString(16)}::${n}`))
    expect(counted(answers, 429)).toBe(2)
    expect((await guest('2001:db8:7:8::1')).status).toBe(200)
  })

  it('attack 32: trust no header but the one that the operator named', async () => {
    const address = newAddress()
    await many(30, () => guest(address))
    const spoofed = { 'x-forwarded-for': '192.0.2.77', 'x-real-ip': '192.0.2.77', forwarded: 'for=192.0.2.77' }
    const answer = await server.call('POST', '/signup', { body: {}, headers: { ...from(address), ...spoofed } })
    expect(answer.status).toBe(429)
    // The client's own part stands before the part that the proxy appended.
    expect((await guest(`192.0.2.78, ${address}`)).status).toBe(429)
  })

  it('hold for all who sign up, ask for mails or change their account together', async () => {
    const address = newAddress()
    const headers = from(address)
    const bad = await many(31, () => server.call('POST', '/signup', { headers, body: { email: 'x', password: 'y' } }))
    expect(counted(bad, 429)).toBe(1)
    expect((await server.call('OPTIONS', '/signup', { headers })).status).toBe(204)
    expect((await server.call('GET', '/settings', { headers })).status).toBe(200)
  })

  it('let thirty sign-ins come at once, though a process does not report them one by one', async () => {
    await server.set({ limit_token: '150' })
    const address = newAddress()
    const body = { email: `${randomUUID()}@example.com`, password: 'correct horse' }
    await server.call('POST', '/signup', { body })
    const statuses: number[] = []
    for (let n = 0; n < 33; n += 1) {
      statuses.push((await server.call('POST', '/token?grant_type=password', { body, headers: from(address) })).status)
    }
    await server.set({ limit_token: '0' })
    const passed = statuses.filter((status) => status === 200).length
    // One comes back in two seconds.
    expect([passed >= 30 && passed <= 32, statuses.slice(0, 30), statuses.includes(429)]).toEqual([
      true,
      Array(30).fill(200),
      true,
    ])
  })
})

describe('an address that fails again and again', () => {
  beforeAll(() => server.set({ ban_threshold: '8' }))

  it('fact 54, fact 55, fact 3: is closed to every service and process, whatever the key, for a while', async () => {
    const [address, innocent] = [newAddress(), newAddress()]
    const other = await server.another()
    expect((await graphql(address, other.url)).status).toBe(200)
    const failures = await many(8, () => wrongPassword(address))
    expect(failures.every(({ status }) => status === 400)).toBe(true)
    const closed = await wrongPassword(address)
    expect([closed.status, closed.body.error_code]).toEqual([429, 'over_request_rate_limit'])
    expect(Number(closed.headers.get('retry-after'))).toBeGreaterThan(590)
    const asService = { apikey: server.serviceRole, authorization: `Bearer ${server.serviceRole}` }
    expect((await wrongPassword(address, asService)).status).toBe(429)
    const data = await graphql(address)
    expect([data.status, await data.json()]).toMatchObject([
      429,
      { data: null, errors: [{ extensions: { code: 'ADDRESS_CLOSED' } }] },
    ])
    expect(Number(data.headers.get('retry-after'))).toBeGreaterThan(590)
    expect((await graphql(innocent)).status).toBe(200)
    await expect.poll(async () => (await graphql(address, other.url)).status, { timeout: 3_000 }).toBe(429)

    await server.db.query(`update catalograph_auth.bans set banned_until = now() - interval '1 s' where source = $1`, [
      address,
    ])
    await expect.poll(async () => (await graphql(address)).status, { timeout: 3_000 }).toBe(200)
    expect((await wrongPassword(address)).status).toBe(400)
    expect((await wrongPassword(address)).status).toBe(400)
    await other.stop()
  })

  it('is open to probes, and to the owner, who may come from where strangers come from', async () => {
    const address = newAddress()
    await many(8, () => wrongPassword(address))
    const headers = from(address)
    const get = async (path: string, key: string): Promise<number> =>
      (await fetch(server.url + path, { headers: { ...headers, apikey: key, authorization: `Bearer ${key}` } })).status
    const statuses = async (key: string) =>
      [
        await get('/auth/v1/admin/users', key),
        await get('/admin/v1/settings', key),
        (await graphql(address, server.url, key)).status,
        await get('/auth/v1/settings', key),
        await get('/auth/v1/health', key),
      ] as const
    expect(await statuses(server.anon)).toEqual([429, 429, 429, 429, 200])
    expect(await statuses(server.serviceRole)).toEqual([200, 200, 200, 429, 200])
    const forged = `${server.serviceRole.slice(0, -4)}AAAA`
    expect((await statuses(forged)).slice(1, 3)).toEqual([429, 429])
  })

  it('is not counted for what was limited, for a missing token, and for endpoints that do not count', async () => {
    const address = newAddress()
    const headers = from(address)
    await many(10, () => server.call('GET', '/user', { headers, token: 'x.y.z' }))
    await many(10, () => server.call('POST', `/factors/${randomUUID()}/verify`, { headers }))
    await many(10, () => server.call('POST', '/token?grant_type=password', { headers: { ...headers, apikey: '' } }))
    await many(40, () => guest(address))
    expect((await graphql(address)).status).toBe(200)
  })

  it('is closed by failures at once, and by failures within the window only', async () => {
    await server.set({ ban_window: '60' })
    const [fast, slow] = [newAddress(), newAddress()]
    await many(7, () => wrongPassword(slow))
    await server.db.query(
      `update catalograph_auth.bans set window_began = window_began - interval '61 s' where source = $1`,
      [slow],
    )
    await many(2, () => wrongPassword(slow))
    expect((await wrongPassword(slow)).status).toBe(400)
    await many(12, () => wrongPassword(fast))
    expect((await wrongPassword(fast)).status).toBe(429)
  })

  it('is closed by bodies and grants that make no sense, too', async () => {
    const [grants, bodies] = [newAddress(), newAddress()]
    await many(8, () =>
      server.call('POST', '/token?grant_type=refresh_token', { headers: from(grants), body: { refresh_token: '' } }),
    )
    await many(8, () => server.call('POST', '/signup', { headers: from(bodies), body: '{' }))
    expect((await graphql(grants)).status).toBe(429)
    expect((await graphql(bodies)).status).toBe(429)
  })
})
