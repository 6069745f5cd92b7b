import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { merged } from '../../../runtime/auth/rules/user-json.ts'
import { longestToken } from '../../../runtime/identity/jwt.ts'
import { claimsOf, startAuthServer, type Answer, type AuthServer } from '../../support/auth.ts'
import { postGraphql } from '../../support/post-graphql.ts'

let server: AuthServer
beforeAll(async () => {
  const settings = { autoconfirm: 'on', anonymous_enabled: 'on', mail_cooldown: '0', mail_ceiling: '1000' }
  server = await startAuthServer({ settings })
})
afterAll(() => server?.stop())

const password = 'correct horse'
const newAddress = (): string => `${randomUUID()}@example.com`
const most = 32_768

interface Account {
  readonly id: string
  readonly email: string
  readonly token: string
}

const signIn = (email: string): Promise<Answer> =>
  server.call('POST', '/token?grant_type=password', { body: { email, password } })
const account = async (): Promise<Account> => {
  const email = newAddress()
  const { body } = await server.call('POST', '/signup', { body: { email, password } })
  return { id: body.user.id, email, token: body.access_token }
}
/** As a restored dump leaves it. */
const store = ({ id }: Account, column: 'raw_user_meta_data' | 'raw_app_meta_data', value: object) =>
  server.db.query(`update auth.users set ${column} = $2 where id = $1`, [id, JSON.stringify(value)])
const graphql = async (token: string): Promise<number> =>
  (await postGraphql(server, { query: '{ __typename }' }, { authorization: `Bearer ${token}` })).status
const admin = (method: string, path: string, body: object): Promise<Answer> =>
  server.call(method, path, { body, token: server.serviceRole })
const text = (length: number): string => 'x'.repeat(length)

describe('metadata that a token can carry', () => {
  it.each([12_000, 20_000, 32_000])('is kept and carried with %i bytes', async (length) => {
    const { email, token } = await account()
    const changed = await server.call('PUT', '/user', { token, body: { data: { a: text(length) } } })
    expect(changed.status).toBe(200)
    const { access_token } = (await signIn(email)).body
    expect(claimsOf(access_token)).toMatchObject({ user_metadata: { a: text(length) } })
    const user = await server.call('GET', '/user', { token: access_token })
    expect([user.status, await graphql(access_token)]).toEqual([200, 200])
  })

  it('is carried at the very limit, by the longest signature in use', async () => {
    const guest = await server.call('POST', '/signup', { body: { data: { a: text(most - '{"a":""}{}'.length) } } })
    expect(guest.status).toBe(200)
    const { access_token } = guest.body
    expect((claimsOf(access_token)['user_metadata'] as { a: string }).a).toHaveLength(most - 10)
    // An RS256 signature of a key of 4,096 bits, and the other claims at their longest.
    expect(access_token.length + 683 + 3_000).toBeLessThan(longestToken)
    expect((await server.call('GET', '/user', { token: access_token })).status).toBe(200)
    const more = await server.call('POST', '/signup', { body: { data: { a: text(most - 9) } } })
    expect(more.body.error_code).toBe('metadata_too_large')
  })
})

describe('metadata that would make a token too long', () => {
  const data = { a: text(40_000) }
  const email = newAddress()
  const paths: readonly (readonly [string, string, object])[] = [
    ['POST', '/signup', { email, password, data }],
    ['POST', '/signup', { data }],
    ['POST', '/otp', { email, data }],
    ['POST', '/magiclink', { email, data }],
    ['POST', '/invite', { email, data }],
    ['POST', '/admin/users', { email, user_metadata: data }],
    ['POST', '/admin/users', { email, app_metadata: data }],
    ['POST', '/admin/users', { email, app_metadata: { a: text(20_000) }, user_metadata: { a: text(20_000) } }],
    ['POST', '/admin/generate_link', { type: 'signup', email, password, data }],
    ['POST', '/admin/generate_link', { type: 'invite', email, data }],
    ['POST', '/admin/generate_link', { type: 'magiclink', email, data }],
  ]
  test.each(paths)('is refused by %s %s (%#)', async (method, path, body) => {
    const count = async () => (await server.db.query('select count(*)::int as n from auth.users')).rows[0].n
    const before = await count()
    const answer = await admin(method, path, body)
    expect([answer.status, answer.body.error_code]).toEqual([422, 'metadata_too_large'])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    await server.settled()
    expect(await count()).toBe(before)
  })

  it('is refused by a change, which then changes nothing, in both shapes of errors', async () => {
    const { id, token } = await account()
    const body = { data, password: 'another horse' }
    const older = await server.call('PUT', '/user', { token, body })
    expect(older.body).toMatchObject({
      code: 422,
      error_code: 'metadata_too_large',
      msg: expect.stringMatching(/32768/),
    })
    const newer = await server.call('PUT', '/user', { token, body, version: '2024-01-01' })
    expect([newer.status, newer.body.code]).toEqual([422, 'metadata_too_large'])
    expect(newer.headers.get('access-control-allow-origin')).toBe('*')
    for (const change of [{ user_metadata: data }, { app_metadata: data, password: 'another horse' }]) {
      expect((await admin('PUT', `/admin/users/${id}`, change)).body.error_code).toBe('metadata_too_large')
    }
    const user = await server.call('GET', '/user', { token })
    expect([user.status, user.body.user_metadata.a]).toEqual([200, undefined])
  })

  it('is refused when it comes bit by bit, at once or for an invitation that waits', async () => {
    const { token } = await account()
    const parts = ['a', 'b', 'c', 'd'].map((key) => ({ data: { [key]: text(10_000) } }))
    const answers = await Promise.all(parts.map((body) => server.call('PUT', '/user', { token, body })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 422])
    const waiting = newAddress()
    const link = (more: object) => admin('POST', '/admin/generate_link', { type: 'invite', email: waiting, data: more })
    expect((await link({ a: text(20_000) })).status).toBe(200)
    expect((await link({ b: text(20_000) })).body.error_code).toBe('metadata_too_large')
    expect((await link({ b: text(10_000) })).body.user_metadata).toMatchObject({ b: text(10_000) })
  })
})

describe('a user who came with too much of it', () => {
  it('signs in with a token that leaves it out, sees all of it and shortens it, bit by bit', async () => {
    const someone = await account()
    await store(someone, 'raw_user_meta_data', { a: text(60_000), b: text(40_000), n: 1 })
    const { body } = await signIn(someone.email)
    const token: string = body.access_token
    expect(claimsOf(token)).toMatchObject({ sub: someone.id, user_metadata: {}, app_metadata: { provider: 'email' } })
    const seen = await server.call('GET', '/user', { token })
    expect(seen.body.user_metadata).toEqual({ a: text(60_000), b: text(40_000), n: 1 })
    expect(await graphql(token)).toBe(200)
    const change = (data: object) => server.call('PUT', '/user', { token, body: { data } })
    expect((await change({ c: 1 })).body.error_code).toBe('metadata_too_large')
    expect((await change({ a: null })).status).toBe(200)
    expect((await change({ b: text(20_000) })).status).toBe(200)
    const refreshed = await server.call('POST', '/token?grant_type=refresh_token', {
      body: { refresh_token: body.refresh_token },
    })
    expect(claimsOf(refreshed.body.access_token)['user_metadata']).toEqual({ b: text(20_000), n: 1 })
  })

  it('is refused where it is the project that said it: nothing of that is ever left out of a token', async () => {
    const someone = await account()
    await store(someone, 'raw_app_meta_data', { provider: 'email', closed: true, a: text(60_000) })
    const refused = await signIn(someone.email)
    expect([refused.status, refused.body.error_code]).toEqual([422, 'metadata_too_large'])
    expect((await admin('PUT', `/admin/users/${someone.id}`, { app_metadata: { a: null } })).status).toBe(200)
    const { access_token } = (await signIn(someone.email)).body
    expect(claimsOf(access_token)['app_metadata']).toEqual({ provider: 'email', closed: true })
  })
})

describe('headers that are too long all the same', () => {
  it('are refused with what a page needs to read the refusal', async () => {
    const answer = await server.call('GET', '/user', { token: text(70_000) })
    expect([answer.status, answer.body]).toEqual([
      431,
      { code: 431, error_code: 'request_headers_too_large', msg: 'The headers of the request are too large' },
    ])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-sb-error-code')
    expect(answer.headers.get('x-sb-error-code')).toBe('request_headers_too_large')
  })

  it('may be 64 KiB, most of it one token', async () => {
    expect((await server.call('GET', '/user', { token: text(60_000) })).body.error_code).toBe('bad_jwt')
  })
})

describe('a change of metadata', () => {
  it('is foreseen as the database makes it', async () => {
    const key = fc.constantFrom('a', 'b', '', '__proto__', 'constructor', 'ä')
    const value = fc.oneof(
      fc.constant(null),
      fc.integer(),
      fc.string({ unit: 'binary-ascii' }).map((one) => one.replaceAll('\0', '')),
    )
    const object = fc.array(fc.tuple(key, value)).map((entries) => Object.fromEntries(entries))
    await fc.assert(
      fc.asyncProperty(fc.oneof(object, fc.constantFrom(null, [1], 'x')), object, async (before, change) => {
        const user = await account()
        await server.db.query('update auth.users set raw_user_meta_data = $2::jsonb where id = $1', [
          user.id,
          JSON.stringify(before),
        ])
        const { body } = await server.call('PUT', '/user', { token: user.token, body: { data: change } })
        expect(body.user_metadata).toEqual(merged(before as Record<string, unknown>, change))
      }),
      { numRuns: 40 },
    )
  })
})
