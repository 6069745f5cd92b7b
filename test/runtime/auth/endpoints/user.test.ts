import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { hash as argon2 } from '@node-rs/argon2'
import { hash as bcrypt } from '@node-rs/bcrypt'
import { SignJWT } from 'jose'
import { beforeEach, describe, expect, it, test } from 'vitest'
import { routes } from '../../../../runtime/auth/http/routes.ts'
import { claimsOf, hashCost, startAuthServer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { postGraphql } from '../../../support/post-graphql.ts'

const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on' } })

const password = 'correct horse'
const newUser = async (): Promise<{ token: string; refresh: string; id: string; email: string }> => {
  const email = `${randomUUID()}@example.com`
  const { body } = await server.call('POST', '/signup', { body: { email, password } })
  return { token: body.access_token, refresh: body.refresh_token, id: body.user.id, email }
}
const signIn = (email: string, given = password) =>
  server.call('POST', '/token?grant_type=password', { body: { email, password: given } })
const sign = (claims: object, secret = server.secret): Promise<string> =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(Buffer.from(secret))

describe('the project key', () => {
  it('fact 2: has to come with every call but the open ones', async () => {
    const open: string[] = []
    for (const { at } of routes) {
      const [method = '', path = ''] = at.replace(/:\w+/, randomUUID()).split(' ')
      const none = await server.call(method, path, { headers: { apikey: '' } })
      if (none.body.message !== 'No API key found in request') open.push(at)
      else expect([none.status, none.body]).toEqual([401, { message: 'No API key found in request' }])
    }
    expect(open).toEqual([
      'GET /health',
      'GET /.well-known/jwks.json',
      'POST /verify',
      'GET /verify',
      'GET /authorize',
      'GET /callback',
      'POST /callback',
    ])
    const user = await newUser()
    for (const apikey of ['nonsense', user.token]) {
      const wrong = await server.call('GET', '/settings', { headers: { apikey } })
      expect([wrong.status, wrong.body]).toEqual([401, { message: 'Invalid API key' }])
    }
    const inQuery = await server.call('GET', `/settings?apikey=${server.anon}`, { headers: { apikey: '' } })
    expect(inQuery.status).toBe(200)
  })
})

describe('the public part of auth', () => {
  it('is the health, the settings of the sign-in page and the public keys', async () => {
    expect((await server.call('GET', '/health')).body).toMatchObject({ name: 'GoTrue' })
    const settings = await server.call('GET', '/settings')
    expect(settings.body).toMatchObject({
      external: { anonymous_users: false, google: false, email: true, phone: false, github: false, snapchat: false },
      disable_signup: false,
      mailer_autoconfirm: true,
    })
    const keys = await server.call('GET', '/.well-known/jwks.json')
    expect([keys.body, keys.headers.get('cache-control')]).toEqual([{ keys: [] }, 'public, max-age=600'])
  })

  it('shows a page of any origin all it needs, errors and preflights included', async () => {
    const error = await server.call('GET', '/user', { headers: { origin: 'https://app.example.com' } })
    expect(error.headers.get('access-control-allow-origin')).toBe('*')
    for (const name of ['x-total-count', 'link', 'x-supabase-api-version']) {
      expect(error.headers.get('access-control-expose-headers')).toContain(name)
    }
    const preflight = await fetch(`${server.url}/auth/v1/user`, { method: 'OPTIONS' })
    expect(preflight.status).toBe(204)
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(preflight.headers.get('access-control-allow-methods')).toContain(method)
    }
    expect(preflight.headers.get('access-control-allow-headers')).toContain('x-supabase-api-version')
  })

  it('is nothing at other addresses and by other methods', async () => {
    expect((await server.call('GET', '/nowhere')).body).toMatchObject({ code: 404, error_code: 'not_found' })
    const wrong = await server.call('DELETE', '/signup')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    for (const [method, path] of [
      ['HEAD', '/auth/v1/health'],
      ['QUERY', '/auth/v1/user'],
      ['QUERY', '/auth/v1/nowhere'],
      ['QUERY', '/admin/v1/settings'],
      ['QUERY', '/graphql/v1'],
      ['QUERY', '/health'],
    ]) {
      const headers = { authorization: `Bearer ${server.serviceRole}` }
      const { status } = await fetch(server.url + path, { headers, ...(method !== undefined && { method }) })
      expect([method, path, status]).toEqual([method, path, 405])
    }
  })
})

describe('a body', () => {
  test.each([
    ['{"email":', 400, 'bad_json'],
    ['[]', 400, 'bad_json'],
    ['"text"', 400, 'bad_json'],
    [`{"data":${'['.repeat(500_000)}${']'.repeat(500_000)}}`, 400, 'bad_json'],
    [`{"data":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 400, 'bad_json'],
    [`{"email":"${'x'.repeat(1_100_000)}"}`, 413, 'request_entity_too_large'],
  ])('attack 31: that cannot be read is refused: %.20s', async (body, status, error_code) => {
    const answer = await server.call('POST', '/signup', { body })
    expect([answer.status, answer.body.error_code]).toEqual([status, error_code])
  })

  it('attack 31: may hold keys that would be dangerous elsewhere', async () => {
    const { token } = await newUser()
    const answer = await server.call('PUT', '/user', {
      token,
      body: '{"data":{"__proto__":{"admin":true},"constructor":1}}',
    })
    expect(answer.status).toBe(200)
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
    expect(Object.hasOwn(answer.body.user_metadata, '__proto__')).toBe(true)
  })
})

test('NUL in a query is refused, and nothing of it reaches the database', async () => {
  for (const path of ['/admin/users?filter=%00', '/admin/audit?query=action:%00', '/verify?type=signup&token=%00']) {
    const { status, body } = await server.call('GET', path, { token: server.serviceRole })
    expect([status, body.error_code]).toEqual([400, 'validation_failed'])
  }
})

describe('a bearer token', () => {
  const get = (authorization: string | null) =>
    server.call('GET', '/user', { headers: authorization === null ? {} : { authorization } })

  it('is needed', async () => {
    for (const header of [null, 'Basic eDp5', 'Bearer', 'Bearer  ']) {
      expect((await get(header)).body).toMatchObject({
        code: 401,
        error_code: 'no_authorization',
        msg: 'This endpoint requires a valid Bearer token',
      })
    }
    const { token } = await newUser()
    expect((await get(`bearer ${token}`)).status).toBe(200)
  })

  it('of another make is refused in every way', async () => {
    const user = await newUser()
    const claims = claimsOf(user.token)
    const seconds = Math.floor(Date.now() / 1000)
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${user.token.split('.')[1]}.`
    const foreign = [
      await sign(claims, 'another secret that has more than 32 characters'),
      await sign({ ...claims, exp: seconds - 1 }),
      await sign(claims, publicPem),
      await new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(privateKey),
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'foreign' }).sign(Buffer.from(server.secret)),
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS512' }).sign(Buffer.from(server.secret)),
      none,
      'nonsense',
    ]
    for (const token of foreign) {
      const { body } = await get(`Bearer ${token}`)
      expect(body).toMatchObject({ code: 403, error_code: 'bad_jwt' })
      expect(body.msg).toMatch(/^invalid JWT: unable to parse or verify signature, /)
    }
  })

  it('must name a user and a session that exist', async () => {
    expect((await get(`Bearer ${server.anon}`)).body).toMatchObject({
      code: 403,
      error_code: 'bad_jwt',
      msg: 'invalid claim: missing sub claim',
    })
    const user = await newUser()
    const claims = { ...claimsOf(user.token) }
    const told = async (changed: object): Promise<unknown> => {
      const { status, body } = await get(`Bearer ${await sign({ ...claims, ...changed })}`)
      return [status, body.error_code]
    }
    expect(await told({ sub: 'somebody' })).toEqual([400, 'bad_jwt'])
    expect(await told({ sub: randomUUID() })).toEqual([403, 'user_not_found'])
    expect(await told({ session_id: randomUUID() })).toEqual([403, 'session_not_found'])
    const other = await newUser()
    expect(await told({ sub: other.id })).toEqual([403, 'session_not_found'])
    await server.db.query(`update auth.users set banned_until = now() + interval '1 hour' where id = $1`, [user.id])
    expect(await told({})).toEqual([403, 'user_banned'])
    await server.db.query('delete from auth.users where id = $1', [user.id])
    expect(await told({})).toEqual([403, 'user_not_found'])
  })

  it('that is a project key does not disturb public endpoints', async () => {
    const answer = await server.call('GET', '/settings', { token: server.anon })
    expect(answer.status).toBe(200)
  })
})

describe('POST /token?grant_type=password', () => {
  it('opens a session and shows no hash', async () => {
    const { email, id } = await newUser()
    const { status, body } = await signIn(email.toUpperCase())
    expect([status, body.user.id, body.user.aud]).toEqual([200, id, 'authenticated'])
    expect(JSON.stringify(body)).not.toContain('$2a$')
    expect(claimsOf(body.access_token)).toMatchObject({ aal: 'aal1', session_id: expect.any(String) })
    const { rows } = await server.db.query('select ip::text, user_agent from auth.sessions where user_id = $1', [id])
    expect(rows).toContainEqual({ ip: '127.0.0.1/32', user_agent: 'node' })
  })

  test.each([
    ['password=', {}, 400, 'invalid_credentials', 'unsupported_grant_type'],
    ['grant_type=web3', {}, 422, 'web3_provider_disabled', 'Web3 provider is disabled'],
    ['grant_type=password', {}, 400, 'validation_failed', 'missing email or phone'],
    [
      'grant_type=password',
      { email: 'nobody@example.com', phone: '+15550100', password },
      400,
      'validation_failed',
      'Only an email address or phone number should be provided on login.',
    ],
    [
      'grant_type=password',
      { email: 'nobody@example.com', password },
      400,
      'invalid_credentials',
      'Invalid login credentials',
    ],
  ])('%s %j is refused', async (query, body, status, error_code, msg) => {
    expect((await server.call('POST', `/token?${query}`, { body })).body).toMatchObject({
      code: status,
      error_code,
      msg,
    })
  })

  it('says the same of a wrong password, of none, and of nobody; a ban only to who knows the password', async () => {
    const user = await newUser()
    const wrong = await signIn(user.email, 'wrong horse')
    const unknown = await signIn('nobody@example.com', 'wrong horse')
    expect([wrong.status, wrong.body]).toEqual([unknown.status, unknown.body])
    expect([...wrong.headers.keys()].sort()).toEqual([...unknown.headers.keys()].sort())
    await server.db.query(`update auth.users set banned_until = now() + interval '1 hour' where id = $1`, [user.id])
    expect((await signIn(user.email, 'wrong horse')).body).toEqual(unknown.body)
    expect((await signIn(user.email)).body).toMatchObject({ code: 400, error_code: 'user_banned' })
    await server.db.query('update auth.users set encrypted_password = null where id = $1', [user.id])
    expect((await signIn(user.email, '')).body).toEqual(unknown.body)
  })

  it('lets imported users in, whatever their rows lack, and hashes again what is weak', async () => {
    const stored = [
      (await bcrypt(password, 4)).replace('$2b', '$2y'),
      await argon2(password, { memoryCost: 4096, timeCost: 1 }),
    ]
    for (const [index, hash] of stored.entries()) {
      const id = randomUUID()
      await server.db.query(
        `insert into auth.users (id, email, encrypted_password, email_confirmed_at) values ($1, $2, $3, now())`,
        [id, `Import${index}@Example.com`, hash],
      )
      expect((await signIn(`import${index}@example.com`)).body).toMatchObject({
        user: { id, identities: [{ provider: 'email' }] },
      })
      const { rows } = await server.db.query('select encrypted_password as hash from auth.users where id = $1', [id])
      expect(rows[0].hash.slice(0, 7)).toBe(`$2a$0${hashCost}$`)
      expect((await signIn(`import${index}@example.com`)).status).toBe(200)
    }
  })

  it('reports a password that the present rules refuse', async () => {
    const { email } = await newUser()
    await server.set({ password_min_length: '20' })
    const { body } = await signIn(email)
    await server.set({ password_min_length: '6' })
    expect(body.weak_password).toEqual({ message: 'Password should be at least 20 characters.', reasons: ['length'] })
  })
})

describe('PUT /user', () => {
  let user: Awaited<ReturnType<typeof newUser>>
  beforeEach(async () => {
    user = await newUser()
  })
  const put = (body: object, token = user.token) => server.call('PUT', '/user', { token, body })

  it('merges data, and null removes a key', async () => {
    await put({ data: { a: 1, b: { c: 2 } } })
    const { body } = await put({ data: { a: null, d: 'x' } })
    expect(body.user_metadata).toMatchObject({ b: { c: 2 }, d: 'x', email: user.email })
    expect(body.user_metadata).not.toHaveProperty('a')
  })

  it('takes nothing for neither a password nor an address, and null for no change', async () => {
    const { token, email } = await newUser()
    const put = async (body: object) => {
      const answer = await server.call('PUT', '/user', { token, body: { ...body, data: { a: 1 } } })
      return [answer.status, answer.body.error_code]
    }
    expect(await put({ password: '' })).toEqual([422, 'weak_password'])
    expect(await put({ email: '' })).toEqual([400, 'validation_failed'])
    expect((await server.call('GET', '/user', { token })).body.user_metadata).not.toHaveProperty('a')
    expect(await put({ email: null, password: null })).toEqual([200, undefined])
    expect((await signIn(email)).status).toBe(200)
  })

  it('ignores what is not the user’s to change', async () => {
    const { status, body } = await put({
      role: 'service_role',
      id: randomUUID(),
      is_anonymous: true,
      aud: 'x',
      is_super_admin: true,
    })
    expect([status, body]).toMatchObject([
      200,
      { id: user.id, role: 'authenticated', aud: 'authenticated', is_anonymous: false },
    ])
    expect((await put({ app_metadata: { admin: true } })).body).toMatchObject({ code: 403, error_code: 'not_admin' })
  })

  it('sets a new password, ends the other sessions and takes pending codes back', async () => {
    const other = (await signIn(user.email)).body
    await server.db.query(`update auth.users set recovery_token = 'abc' where id = $1`, [user.id])
    expect((await put({ password })).body).toMatchObject({ code: 422, error_code: 'same_password' })
    expect((await put({ password: '12345' })).body).toMatchObject({ code: 422, error_code: 'weak_password' })
    expect((await put({ password: 'a new horse' })).status).toBe(200)
    expect((await server.call('GET', '/user', { token: other.access_token })).body.error_code).toBe('session_not_found')
    expect((await server.call('GET', '/user', { token: user.token })).status).toBe(200)
    expect([(await signIn(user.email)).status, (await signIn(user.email, 'a new horse')).status]).toEqual([400, 200])
    const { rows } = await server.db.query('select recovery_token as t from auth.users where id = $1', [user.id])
    expect(rows).toEqual([{ t: '' }])
  })

  it('asks for the present password where the owner wants it', async () => {
    await server.set({ password_require_current: 'on' })
    const missing = await put({ password: 'a new horse' })
    const wrong = await put({ password: 'a new horse', current_password: 'wrong' })
    const right = await put({ password: 'a new horse', current_password: password })
    await server.set({ password_require_current: 'off' })
    expect([missing.body.error_code, wrong.body.error_code]).toEqual([
      'current_password_required',
      'current_password_invalid',
    ])
    expect(right.status).toBe(200)
  })

  it('asks for it after a magic link, but not after a reset, by code or by link', async () => {
    await server.set({ password_require_current: 'on', mail_cooldown: '0' })
    const mailOf = async (path: string): Promise<{ readonly url: string; readonly code: string }> => {
      await server.call('POST', path, { body: { email: user.email } })
      await server.settled()
      return (await server.mails(user.email))[0] ?? { url: '', code: '' }
    }
    const byCode = async (path: string, type: string): Promise<string> => {
      const { code } = await mailOf(path)
      return (await server.call('POST', '/verify', { body: { type, email: user.email, token: code } })).body
        .access_token
    }
    const change = async (token: string, next: string) =>
      (await server.call('PUT', '/user', { token, body: { password: next } })).body.error_code
    const magic = await change(await byCode('/magiclink', 'magiclink'), 'a new horse')
    const reset = await change(await byCode('/recover', 'recovery'), 'a new horse')
    const { headers } = await fetch((await mailOf('/recover')).url, { redirect: 'manual' })
    const landed = new URLSearchParams(new URL(headers.get('location') ?? '').hash.slice(1))
    const link = await change(landed.get('access_token') ?? '', 'another horse')
    await server.set({ password_require_current: 'off', mail_cooldown: '60' })
    expect([magic, reset, link]).toEqual(['current_password_required', undefined, undefined])
  })

  it('asks for a code in an old session where the owner wants it', async () => {
    await server.set({ password_reauthentication: 'on' })
    expect((await put({ password: 'young session' })).status).toBe(200)
    await server.db.query(`update auth.sessions set created_at = now() - interval '25 hours' where user_id = $1`, [
      user.id,
    ])
    const missing = await put({ password: 'a new horse' })
    const wrong = await put({ password: 'a new horse', nonce: '123456' })
    await server.set({ password_reauthentication: 'off' })
    expect(missing.body).toMatchObject({ code: 400, error_code: 'reauthentication_needed' })
    expect(wrong.body).toMatchObject({ code: 422, error_code: 'reauthentication_not_valid' })
  })

  it('leaves the sign-in alone at aal1 once a factor is verified', async () => {
    await server.db.query(
      `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at, secret)
      values (gen_random_uuid(), $1, 'totp', 'verified', now(), now(), 'never shown')`,
      [user.id],
    )
    expect((await put({ password: 'a new horse' })).body).toMatchObject({ code: 401, error_code: 'insufficient_aal' })
    const { body } = await put({ data: { a: 1 } })
    expect(body.factors).toMatchObject([{ factor_type: 'totp', status: 'verified' }])
    expect(JSON.stringify(body)).not.toContain('never shown')
  })

  it('gives a guest no password without an address', async () => {
    await server.set({ anonymous_enabled: 'on' })
    const guest = (await server.call('POST', '/signup', { body: {} })).body
    expect((await put({ password: 'a new horse' }, guest.access_token)).body).toMatchObject({
      code: 422,
      error_code: 'validation_failed',
    })
  })

  it('refuses the address of another user', async () => {
    const other = await newUser()
    expect((await put({ email: other.email })).body).toMatchObject({ code: 422, error_code: 'email_exists' })
    expect((await put({ email: user.email })).status).toBe(200)
    expect((await put({ phone: '+15550100' })).body).toMatchObject({ code: 400, error_code: 'phone_provider_disabled' })
  })
})

describe('POST /logout', () => {
  test.each([
    ['global', [403, 403]],
    ['local', [403, 200]],
    ['others', [200, 403]],
  ])('ends with ?scope=%s the sessions of that scope', async (scope, expected) => {
    const { email } = await newUser()
    const [here, there] = [(await signIn(email)).body, (await signIn(email)).body]
    const answer = await server.call('POST', `/logout?scope=${scope}`, { token: here.access_token })
    expect([answer.status, answer.body]).toEqual([204, ''])
    const statuses = await Promise.all(
      [here, there].map(async ({ access_token: token }) => (await server.call('GET', '/user', { token })).status),
    )
    expect(statuses).toEqual(expected)
  })

  it('refuses another scope', async () => {
    const { token } = await newUser()
    expect((await server.call('POST', '/logout?scope=x', { token })).body.msg).toBe('Unsupported logout scope "x"')
  })
})

describe('a set of keys', () => {
  it('signs with its own key, is published without its private part, and leaves older tokens valid', async () => {
    const before = await newUser()
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', key_ops: ['sign', 'verify'] }
    await server.set({ jwt_keys: JSON.stringify([jwk]) })
    const after = await newUser()
    expect(JSON.parse(Buffer.from(after.token.split('.')[0] ?? '', 'base64url').toString())).toEqual({
      alg: 'ES256',
      typ: 'JWT',
      kid: 'one',
    })
    for (const token of [before.token, after.token]) {
      expect((await server.call('GET', '/user', { token })).status).toBe(200)
      const response = await postGraphql(server, { query: '{ __typename }' }, { authorization: `Bearer ${token}` })
      expect(await response.json()).toEqual({ data: { __typename: 'Query' } })
    }
    const { keys } = (await server.call('GET', '/.well-known/jwks.json')).body
    expect(keys).toMatchObject([{ kid: 'one', alg: 'ES256', kty: 'EC' }])
    expect(keys[0]).not.toHaveProperty('d')
    await server.set({ jwt_keys: '[]' })
    expect((await server.call('GET', '/user', { token: after.token })).body.error_code).toBe('bad_jwt')
    expect((await server.call('GET', '/user', { token: before.token })).status).toBe(200)
  })
})

it('an empty body with the type of JSON is as good as none', async () => {
  const { token } = await newUser()
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST /auth/v1/logout HTTP/1.1\r\nHost: x\r\napikey: ${server.anon}\r\nAuthorization: Bearer ${token}\r\n` +
      'Content-Type: application/json;charset=UTF-8\r\nConnection: close\r\n\r\n',
  )
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 204/)
})
