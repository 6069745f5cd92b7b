import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, it, test } from 'vitest'
import { claimsOf, siteUrl, startAuthServer, type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'

const server = forSuite(startAuthServer, { settings: { mail_cooldown: '0', anonymous_enabled: 'on' } })

const password = 'correct horse'
const newAddress = (): string => `${randomUUID()}@example.com`
const post = async (path: string, body: object, token?: string): Promise<Answer> => {
  const answer = await server.call('POST', path, { body, ...(token !== undefined && { token }) })
  await server.settled()
  return answer
}
const newest = async (email: string) => (await server.mails(email))[0] ?? { kind: '', url: '', code: '' }
const tokenIn = (url: string): string => new URL(url).searchParams.get('token') ?? ''
const follow = async (url: string): Promise<string> => {
  const response = await fetch(url, { redirect: 'manual' })
  expect(response.status).toBe(303)
  return response.headers.get('location') ?? ''
}
const fragmentOf = (location: string): URLSearchParams => new URLSearchParams(new URL(location).hash.slice(1))
const wrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
const signIn = (email: string, given = password) => post('/token?grant_type=password', { email, password: given })
const signedUp = async (): Promise<string> => {
  const email = newAddress()
  expect((await post('/signup', { email, password, data: { name: 'First' } })).status).toBe(200)
  return email
}
const confirmed = async (): Promise<{ email: string; token: string; id: string }> => {
  const email = await signedUp()
  const { code } = await newest(email)
  const { body } = await post('/verify', { type: 'signup', email, token: code })
  return { email, token: body.access_token, id: body.user.id }
}
const expired = { code: 403, error_code: 'otp_expired' }

describe('a link', () => {
  it('fact 25: confirms and signs in, landing on the site with a session', async () => {
    const email = await signedUp()
    const { url } = await newest(email)
    const location = await follow(url)
    expect(location.startsWith(`${siteUrl}#access_token=`)).toBe(true)
    const fragment = fragmentOf(location)
    expect([...fragment.keys()]).toEqual([
      'access_token',
      'expires_at',
      'expires_in',
      'refresh_token',
      'sb',
      'token_type',
      'type',
    ])
    expect(fragment.get('type')).toBe('signup')
    const user = await server.call('GET', '/user', { token: fragment.get('access_token') ?? '' })
    expect(user.body).toMatchObject({ email, user_metadata: { email_verified: true, name: 'First' } })
    expect(user.body.email_confirmed_at).toBeTruthy()
    expect(claimsOf(fragment.get('access_token') ?? '')).toMatchObject({ aal: 'aal1', amr: [{ method: 'otp' }] })
    expect((await signIn(email)).status).toBe(200)
  })

  it('attack 29: is not spent by HEAD, and works by GET afterwards, once', async () => {
    const { url } = await newest(await signedUp())
    expect((await fetch(url, { method: 'HEAD', redirect: 'manual' })).status).toBe(405)
    expect(fragmentOf(await follow(url)).get('access_token')).toBeTruthy()
    const again = fragmentOf(await follow(url))
    expect([again.get('error'), again.get('error_code'), again.get('error_description')]).toEqual([
      'access_denied',
      'otp_expired',
      'Email link is invalid or has expired',
    ])
  })

  it('fact 34: goes nowhere that is not listed, and stays good', async () => {
    const { url } = await newest(await signedUp())
    const evil = new URL(url)
    evil.searchParams.set('redirect_to', 'https://evil.example')
    const refused = await fetch(evil, { redirect: 'manual' })
    expect([refused.status, ((await refused.json()) as { error_code: string }).error_code]).toEqual([
      400,
      'validation_failed',
    ])
    expect(fragmentOf(await follow(url)).get('access_token')).toBeTruthy()
  })

  it('fact 53: grows old, as its code does', async () => {
    const email = await signedUp()
    const { url, code } = await newest(email)
    await server.db.query(`update catalograph_auth.codes set issued_at = now() - interval '2 hours'`)
    expect(fragmentOf(await follow(url)).get('error_code')).toBe('otp_expired')
    expect((await post('/verify', { type: 'signup', email, token: code })).body).toMatchObject(expired)
  })

  it('attack 10: is nothing that can be computed of address and code', async () => {
    const email = await signedUp()
    const { code } = await newest(email)
    const computed = createHash('sha224')
      .update(email + code)
      .digest('hex')
    for (const token_hash of [computed, `pkce_${computed}`]) {
      expect((await post('/verify', { type: 'email', token_hash })).body).toMatchObject(expired)
      const location = await follow(`${server.url}/auth/v1/verify?type=signup&token=${token_hash}`)
      expect(fragmentOf(location).get('error_code')).toBe('otp_expired')
    }
  })

  it('of a type that there is not leads to the site all the same, and says so there', async () => {
    const email = await signedUp()
    const { url } = await newest(email)
    const location = await follow(url.replace('type=signup', 'type=other'))
    expect(Object.fromEntries(fragmentOf(location))).toEqual({
      error: 'invalid_request',
      error_code: 'validation_failed',
      error_description: 'Invalid email verification type',
      sb: '',
    })
    expect(fragmentOf(await follow(url)).get('access_token')).toBeTruthy()
  })

  it('of a proof key hands over a code, and only once is it a session', async () => {
    const { email } = await confirmed()
    const verifier = 'v'.repeat(43)
    await post('/recover', { email, code_challenge: verifier, code_challenge_method: 'plain' })
    const { url } = await newest(email)
    expect(tokenIn(url)).toMatch(/^pkce_[0-9a-f]{56}$/)
    const location = new URL(await follow(url))
    expect(location.hash).toBe('')
    const auth_code = location.searchParams.get('code')
    const session = await post('/token?grant_type=pkce', { auth_code, code_verifier: verifier })
    expect([session.status, claimsOf(session.body.access_token)['amr']]).toMatchObject([200, [{ method: 'recovery' }]])
    const again = new URL(await follow(url))
    expect([again.searchParams.get('error_code'), fragmentOf(again.href).get('error_code')]).toEqual([
      'otp_expired',
      'otp_expired',
    ])
  })

  it('replaces the code and the error of an earlier attempt in the query', async () => {
    const { email } = await confirmed()
    const redirect = encodeURIComponent(`${siteUrl}/cb?code=9&x=%26&error=old&error_description=Old`)
    const challenge = { code_challenge: 'v'.repeat(43), code_challenge_method: 'plain' }
    await post(`/recover?redirect_to=${redirect}`, { email, ...challenge })
    const { url } = await newest(email)
    expect(await follow(url)).toMatch(new RegExp(`^${siteUrl}/cb\\?x=%26&code=[0-9a-f-]{36}$`))
    const again = new URL(await follow(url))
    expect([again.searchParams.getAll('code'), again.searchParams.getAll('error')]).toEqual([[], ['access_denied']])
  })

  it('attack 18: of twenty at once is one session', async () => {
    const email = await signedUp()
    const { url, code } = await newest(email)
    const calls = Array.from({ length: 20 }, (_none, index) =>
      index % 2 === 0
        ? follow(url).then((location) => fragmentOf(location).has('access_token'))
        : post(
            '/verify',
            index % 4 === 1 ? { type: 'signup', email, token: code } : { type: 'email', token_hash: tokenIn(url) },
          ).then(({ status }) => status === 200),
    )
    expect((await Promise.all(calls)).filter(Boolean)).toHaveLength(1)
    const { rows } = await server.db.query(
      'select count(*)::int as n from auth.sessions s join auth.users u on u.id = s.user_id where u.email = $1',
      [email],
    )
    expect(rows).toEqual([{ n: 1 }])
  })
})

describe('a code', () => {
  it('facts 46 and 51: has six digits and works typed, after four wrong ones too', async () => {
    const email = await signedUp()
    const { code } = await newest(email)
    expect(code).toMatch(/^\d{6}$/)
    for (let i = 0; i < 4; i += 1) {
      expect((await post('/verify', { type: 'signup', email, token: wrong(code) })).body).toMatchObject({
        ...expired,
        msg: 'Token has expired or is invalid',
      })
    }
    const right = await post('/verify', { type: 'email', email: email.toUpperCase(), token: code })
    expect([right.status, right.body.user.email]).toEqual([200, email])
    expect((await post('/verify', { type: 'signup', email, token: code })).body).toMatchObject(expired)
  })

  it('attack 9, facts 50 and 52: is spent by five wrong guesses from anywhere, its link is not, and a new one counts from zero', async () => {
    const email = await signedUp()
    const { code, url } = await newest(email)
    const guesses = Array.from({ length: 50 }, (_none, i) =>
      server.call('POST', '/verify', {
        body: { type: 'email', email, token: wrong(code) },
        headers: { 'x-test-address': `198.51.100.${i}` },
      }),
    )
    expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([403]))
    expect((await post('/verify', { type: 'signup', email, token: code })).body).toMatchObject(expired)
    const { rows } = await server.db.query(
      'select tries from catalograph_auth.codes c join auth.users u on u.id = c.user_id where u.email = $1',
      [email],
    )
    expect(rows).toEqual([{ tries: 5 }])
    await post('/resend', { type: 'signup', email })
    expect(fragmentOf(await follow(url)).get('error_code')).toBe('otp_expired')
    const next = await newest(email)
    for (let i = 0; i < 4; i += 1) await post('/verify', { type: 'signup', email, token: wrong(next.code) })
    expect((await post('/verify', { type: 'signup', email, token: next.code })).status).toBe(200)
  })

  it('that is spent leaves its link good', async () => {
    const email = await signedUp()
    const { code, url } = await newest(email)
    for (let i = 0; i < 5; i += 1) await post('/verify', { type: 'signup', email, token: wrong(code) })
    expect(fragmentOf(await follow(url)).get('access_token')).toBeTruthy()
  })

  test.each([
    [{}, 400, 'Verify requires a verification type'],
    [{ type: 'signup' }, 400, 'Verify requires either a token or a token hash'],
    [{ type: 'signup', token: '1', token_hash: '2' }, 400, 'Verify requires either a token or a token hash'],
    [{ type: 'signup', token: '1' }, 400, 'Only an email address or phone number should be provided on verify'],
    [{ type: 'signup', token_hash: '1', email: 'a@b.de' }, 400, 'Only the token_hash and type should be provided'],
    [{ type: 'other', token: '1', email: 'a@b.de' }, 400, 'Invalid email verification type'],
    [{ type: 'other', token_hash: '1' }, 400, 'Invalid email verification type'],
    [{ type: 'signup', token: '1', email: 'a b' }, 422, 'Invalid email format'],
    [{ type: 'sms', token: '1', phone: 'x' }, 400, 'Invalid phone number format (E.164 required)'],
    [{ type: 'sms', token: '1', phone: '+15551234567' }, 403, 'Token has expired or is invalid'],
    [{ type: 'email', token: '123456', email: 'nobody@example.com' }, 403, 'Token has expired or is invalid'],
    [{ type: 'recovery', token_hash: 'f'.repeat(56) }, 403, 'Email link is invalid or has expired'],
  ])('is refused when it is not well asked: %j', async (body, status, msg) => {
    const answer = await post('/verify', body)
    expect([answer.status, answer.body.msg]).toEqual([status, msg])
  })

  it('of a banned user opens nothing', async () => {
    const email = await signedUp()
    const { code, url } = await newest(email)
    await server.db.query(`update auth.users set banned_until = now() + interval '1 hour' where email = $1`, [email])
    expect((await post('/verify', { type: 'signup', email, token: code })).body).toMatchObject({
      code: 403,
      error_code: 'user_banned',
    })
    expect(fragmentOf(await follow(url)).get('error_code')).toBe('user_banned')
  })
})

describe('a code of an imported project', () => {
  it('attack 10: works typed, counted like any other, and never as a link', async () => {
    const email = newAddress()
    const plant = async (): Promise<string> => {
      const token = createHash('sha224').update(`${email}654321`).digest('hex')
      await server.db.query('delete from auth.users where email = $1', [email])
      await server.db.query(
        `with u as (insert into auth.users (id, email, recovery_token, recovery_sent_at, email_confirmed_at)
          values (gen_random_uuid(), $1, $2, now(), now()) returning id)
        insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
        select gen_random_uuid(), id, 'recovery_token', $2, $1 from u`,
        [email, token],
      )
      return token
    }
    const token_hash = await plant()
    for (let i = 0; i < 4; i += 1) {
      expect((await post('/verify', { type: 'recovery', email, token: '654320' })).status).toBe(403)
      expect((await post('/verify', { type: 'recovery', token_hash })).status).toBe(403)
    }
    expect((await post('/verify', { type: 'recovery', email, token: '654321' })).status).toBe(200)
    await plant()
    for (let i = 0; i < 5; i += 1) await post('/verify', { type: 'recovery', email, token: '654320' })
    expect((await post('/verify', { type: 'recovery', email, token: '654321' })).status).toBe(403)
  })
})

describe('somebody who came first', () => {
  it('attack 2: does not keep a password that the owner did not choose', async () => {
    const email = await signedUp()
    await post('/signup', { email, password: 'the owner chose this', data: { name: 'Owner' } })
    const { code } = await newest(email)
    const { body } = await post('/verify', { type: 'signup', email, token: code })
    expect(body.user.user_metadata).not.toHaveProperty('name')
    for (const one of [password, 'the owner chose this']) {
      expect((await signIn(email, one)).body).toMatchObject({ error_code: 'invalid_credentials' })
    }
    const set = await server.call('PUT', '/user', { token: body.access_token, body: { password: 'a third one' } })
    expect([set.status, (await signIn(email, 'a third one')).status]).toEqual([200, 200])
  })

  it.each([
    ['/recover', 'recovery'],
    ['/otp', 'email'],
  ])('attack 3: is not let in by %s either', async (path, type) => {
    const email = await signedUp()
    await post(path, { email })
    const { code } = await newest(email)
    const verified = await post('/verify', { type, email, token: code })
    expect([verified.status, verified.body.user.user_metadata.name]).toEqual([200, undefined])
    expect((await signIn(email)).body).toMatchObject({ error_code: 'invalid_credentials' })
  })
})

describe('a mail to sign in', () => {
  it('makes an account where there is none, and signs in where there is', async () => {
    const email = newAddress()
    expect((await post('/otp', { email, data: { a: 1 } })).body).toEqual({})
    const first = await newest(email)
    const made = await post('/verify', { type: 'email', email, token: first.code })
    expect([first.kind, made.status, made.body.user.user_metadata.a]).toEqual(['confirmation', 200, 1])
    await post('/magiclink', { email })
    const second = await newest(email)
    const location = await follow(second.url)
    expect([second.kind, fragmentOf(location).get('type')]).toEqual(['magic_link', 'magiclink'])
  })

  test.each([
    [{}, 400, 'validation_failed', 'One of email or phone must be set'],
    [{ phone: '1' }, 400, 'phone_provider_disabled', 'Unsupported phone provider'],
    [
      { phone: '1', email: 'a@b.de' },
      400,
      'validation_failed',
      'Only an email address or phone number should be provided',
    ],
    [{ email: 'nobody2@example.com', create_user: false }, 422, 'otp_disabled', 'Signups not allowed for otp'],
  ])('is refused: %j', async (body, status, error_code, msg) => {
    const answer = await post('/otp', body)
    expect([answer.status, answer.body.error_code, answer.body.msg]).toEqual([status, error_code, msg])
  })

  it('shares its slot with a reset: each takes the place of the other', async () => {
    const { email } = await confirmed()
    await post('/recover', { email })
    const reset = await newest(email)
    await post('/otp', { email })
    expect((await post('/verify', { type: 'recovery', email, token: reset.code })).body).toMatchObject(expired)
    const magic = await newest(email)
    expect((await post('/verify', { type: 'magiclink', email, token: magic.code })).status).toBe(200)
  })
})

describe('old mails', () => {
  it('attack 41: open nothing once the password was changed', async () => {
    const { email, token } = await confirmed()
    await post('/recover', { email })
    const { url, code } = await newest(email)
    expect((await server.call('PUT', '/user', { token, body: { password: 'another one' } })).status).toBe(200)
    expect(fragmentOf(await follow(url)).get('error_code')).toBe('otp_expired')
    expect((await post('/verify', { type: 'recovery', email, token: code })).body).toMatchObject(expired)
  })
})

describe('a code for a change of password', () => {
  it('is mailed without a link, and works once', async () => {
    const { email, token } = await confirmed()
    expect((await server.call('GET', '/reauthenticate', { token })).body).toEqual({})
    const mail = await newest(email)
    expect([mail.kind, mail.url.includes('/verify')]).toEqual(['reauthentication', false])
    await server.set({ password_reauthentication: 'on' })
    await server.db.query(`update auth.sessions set created_at = now() - interval '2 days'`)
    const put = (nonce: string | null) =>
      server.call('PUT', '/user', { token, body: { password: 'yet another', nonce } })
    expect((await put(null)).body.error_code).toBe('reauthentication_needed')
    expect((await put(wrong(mail.code))).body.error_code).toBe('reauthentication_not_valid')
    expect((await put(mail.code)).status).toBe(200)
    expect((await put(mail.code)).body.error_code).toBe('reauthentication_not_valid')
    await server.set({ password_reauthentication: 'off' })
    const guest = await post('/signup', {})
    const refused = await server.call('GET', '/reauthenticate', { token: guest.body.access_token })
    expect([refused.status, refused.body.error_code]).toEqual([400, 'validation_failed'])
  })
})
