import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { describe, expect, it, test } from 'vitest'
import { openQuery } from '../../../support/database.ts'
import { addressHeader, claimsOf, startAuthServer, type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { until } from '../../../support/until.ts'
import { answerChallenge, challenge, codeOf, enrol, readQrCode, verify, type Enrolled } from '../../../support/totp.ts'

const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on', anonymous_enabled: 'on' } })

const password = 'correct horse'
const waitingForLock = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
interface Person {
  readonly email: string
  readonly id: string
  readonly token: string
  readonly refresh: string
}
const personOf = (email: string, { body }: Answer): Person => ({
  email,
  id: body.user.id,
  token: body.access_token,
  refresh: body.refresh_token,
})
const signUp = async (): Promise<Person> => {
  const email = `${randomUUID()}@example.com`
  return personOf(email, await server.call('POST', '/signup', { body: { email, password } }))
}
const signIn = async (email: string): Promise<Person> =>
  personOf(email, await server.call('POST', '/token?grant_type=password', { body: { email, password } }))
const refresh = (refresh_token: string): Promise<Answer> =>
  server.call('POST', '/token?grant_type=refresh_token', { body: { refresh_token } })
const codeIn = ({ status, body }: Answer): readonly [number, string] => [status, body.error_code]

/** A user at aal2: the code of the present step is used, the next one is not. */
const stepUp = async (): Promise<Person & { readonly factor: Enrolled }> => {
  const person = await signUp()
  const factor = await enrol(server, person.token)
  const answer = await verify(server, { token: person.token, factor, code: codeOf(factor.secret) })
  expect(answer.status).toBe(200)
  return { ...personOf(person.email, answer), factor }
}

describe('a factor', () => {
  it('fact 26, fact 30: is enrolled with a secret and a QR code of it: six digits, thirty seconds', async () => {
    const { token, email } = await signUp()
    const { status, body } = await server.call('POST', '/factors', {
      token,
      body: { factor_type: 'totp', friendly_name: null, options: {} },
    })
    expect([status, body.type, body.friendly_name]).toEqual([200, 'totp', ''])
    const { secret, uri, qr_code } = body.totp
    expect(secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(uri).toBe(
      `otpauth://totp/app.example.com:${encodeURIComponent(email)}` +
        `?algorithm=SHA1&digits=6&issuer=app.example.com&period=30&secret=${secret}`,
    )
    expect(qr_code).toMatch(/^<svg [^#]*<\/svg>$/)
    expect(readQrCode(qr_code)).toBe(uri)
    const user = await server.call('GET', '/user', { token })
    expect(user.body.factors).toEqual([
      {
        id: body.id,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        status: 'unverified',
        factor_type: 'totp',
      },
    ])
    expect(JSON.stringify(user.body)).not.toContain(secret)
  })

  it('fits the longest names into its QR code', async () => {
    const { token } = await signUp()
    const { body } = await server.call('POST', '/factors', {
      token,
      body: { factor_type: 'totp', friendly_name: '€'.repeat(255), issuer: '€'.repeat(64) },
    })
    expect(readQrCode(body.totp.qr_code)).toBe(body.totp.uri)
  })

  it('fact 12, fact 27, fact 28: is challenged and verified, which raises the session to aal2', async () => {
    const person = await signUp()
    expect(claimsOf(person.token)).toMatchObject({ aal: 'aal1', amr: [{ method: 'password' }] })
    const factor = await enrol(server, person.token, { friendly_name: 'Phone' })
    const challenged = await server.call('POST', `/factors/${factor.id}/challenge`, { token: person.token })
    expect(challenged.body).toEqual({ id: expect.any(String), type: 'totp', expires_at: expect.any(Number) })
    expect(Math.abs(challenged.body.expires_at - Date.now() / 1000 - 300)).toBeLessThan(5)
    const attempt = { token: person.token, factor, code: codeOf(factor.secret) }
    const { status, body } = await answerChallenge(server, attempt, challenged.body.id)
    expect([status, body.token_type, body.user.factors[0].status]).toEqual([200, 'bearer', 'verified'])
    const [before, after] = [claimsOf(person.token), claimsOf(body.access_token)]
    expect(after).toMatchObject({ aal: 'aal2', amr: [{ method: 'totp' }, { method: 'password' }] })
    expect(after['session_id']).toBe(before['session_id'])
    expect(claimsOf((await refresh(body.refresh_token)).body.access_token)).toMatchObject({ aal: 'aal2' })
    const { rows } = await server.db.query(
      `select payload ->> 'action' as action, payload::text as payload from auth.audit_log_entries
      where payload ->> 'actor_id' = $1 and payload ->> 'log_type' = 'factor' order by created_at`,
      [person.id],
    )
    expect(rows.map(({ action }) => action)).toEqual([
      'factor_in_progress',
      'challenge_created',
      'verification_attempted',
    ])
    expect(JSON.stringify(rows)).not.toContain(factor.secret)
  })

  test.each(['POST /factors', 'POST /factors/x/challenge', 'POST /factors/x/verify', 'DELETE /factors/x'])(
    'fact 29: %s needs a bearer token',
    async (at) => {
      const [method = '', path = ''] = at.replace('/x', `/${randomUUID()}`).split(' ')
      expect(codeIn(await server.call(method, path))).toEqual([401, 'no_authorization'])
    },
  )

  it('attack 38: is nothing for guests', async () => {
    const { body } = await server.call('POST', '/signup', { body: {} })
    const answer = await server.call('POST', '/factors', { token: body.access_token, body: { factor_type: 'totp' } })
    expect([answer.status, answer.body]).toMatchObject([
      403,
      { error_code: 'no_authorization', msg: 'Anonymous user not allowed to perform these actions' },
    ])
  })

  test.each([
    [{}, 400, 'validation_failed'],
    [{ factor_type: 'sms' }, 400, 'validation_failed'],
    [{ factor_type: 1 }, 400, 'bad_json'],
    [{ factor_type: 'phone' }, 422, 'mfa_phone_enroll_not_enabled'],
    [{ factor_type: 'webauthn' }, 422, 'mfa_webauthn_enroll_not_enabled'],
    [{ factor_type: 'totp', friendly_name: 'x'.repeat(256) }, 400, 'validation_failed'],
    [{ factor_type: 'totp', issuer: 'x'.repeat(65) }, 400, 'validation_failed'],
  ])('of %j is refused with %i %s', async (body, status, code) => {
    const { token } = await signUp()
    expect(codeIn(await server.call('POST', '/factors', { token, body }))).toEqual([status, code])
  })

  test.each([
    ['GET', '', 'enroll'],
    ['POST', '', 'enroll'],
    ['DELETE', '', 'enroll'],
    ['POST', '/regenerate', 'enroll'],
    ['POST', '/verify', 'verify'],
  ] as const)('of recovery codes is refused by a code that clients know: %s %s', async (method, path, act) => {
    const { token } = await signUp()
    const body = method === 'GET' ? {} : { body: { recovery_code: 'x' } }
    const answer = await server.call(method, `/factors/recovery-codes${path}`, { token, ...body })
    expect(codeIn(answer)).toEqual([422, `mfa_recovery_codes_${act}_not_enabled`])
  })

  it('has a name that no other of its user has; one without takes the place of the last', async () => {
    const { token } = await signUp()
    const body = { factor_type: 'totp', friendly_name: 'Phone' }
    expect((await server.call('POST', '/factors', { token, body })).status).toBe(200)
    expect(codeIn(await server.call('POST', '/factors', { token, body }))).toEqual([422, 'mfa_factor_name_conflict'])
    const first = await enrol(server, token)
    const second = await enrol(server, token)
    const ids = (await server.call('GET', '/user', { token })).body.factors.map(({ id }: Enrolled) => id)
    expect([ids.includes(first.id), ids.includes(second.id), ids.length]).toEqual([false, true, 2])
  })

  it('is one of ten at most, however many are enrolled at once; forgotten ones make room', async () => {
    const { token, id } = await signUp()
    const answers = await Promise.all(
      Array.from({ length: 14 }, (_, n) =>
        server.call('POST', '/factors', { token, body: { factor_type: 'totp', friendly_name: `n${n}` } }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ body }) => body.error_code === 'too_many_enrolled_mfa_factors')).toHaveLength(4)
    await server.db.query(`update auth.mfa_factors set created_at = now() - interval '301 s' where user_id = $1`, [id])
    await enrol(server, token, { friendly_name: 'n0' })
    expect((await server.call('GET', '/user', { token })).body.factors).toHaveLength(1)
  })

  it('of another user is as unknown as one that does not exist', async () => {
    const [mine, theirs] = [await signUp(), await stepUp()]
    const unknown = { id: randomUUID(), secret: '' }
    for (const factor of [theirs.factor, unknown]) {
      for (const path of ['/challenge', '/verify']) {
        const answer = await server.call('POST', `/factors/${factor.id}${path}`, {
          token: mine.token,
          body: { challenge_id: randomUUID(), code: '123456' },
        })
        expect(codeIn(answer)).toEqual([404, 'mfa_factor_not_found'])
      }
      const answer = await server.call('DELETE', `/factors/${factor.id}`, { token: mine.token })
      expect(codeIn(answer)).toEqual([404, 'mfa_factor_not_found'])
    }
    const answer = await server.call('POST', '/factors/..%2f/challenge', { token: mine.token })
    expect([answer.status, answer.body.msg]).toEqual([404, 'factor_id must be an UUID'])
  })
})

describe('verifying', () => {
  it('refuses what spec/auth.md 5.7 lists, in its order', async () => {
    const { token } = await signUp()
    const [factor, other] = [await enrol(server, token, { friendly_name: 'a' }), await enrol(server, token)]
    const code = codeOf(factor.secret)
    const id = await challenge(server, { token, factor })
    const foreign = await challenge(server, { token, factor: other })
    const answer = (given: object, challengeId: string): Promise<Answer> =>
      answerChallenge(server, { token, factor, code, ...given }, challengeId)
    expect(codeIn(await answer({ code: '' }, id))).toEqual([400, 'validation_failed'])
    for (const unknown of ['', 'x', randomUUID(), foreign]) {
      expect(codeIn(await answer({}, unknown))).toEqual([422, 'mfa_factor_not_found'])
    }
    const elsewhere = { [addressHeader]: '203.0.113.9' }
    expect(codeIn(await answer({ headers: elsewhere }, id))).toEqual([422, 'mfa_ip_address_mismatch'])
    for (const wrong of ['000', 'abcdef', codeOf(factor.secret, 5)]) {
      expect(codeIn(await answer({ code: wrong }, id))).toEqual([422, 'mfa_verification_failed'])
    }
    const old = await challenge(server, { token, factor })
    await server.db.query(`update auth.mfa_challenges set created_at = now() - interval '301 s' where id = $1`, [old])
    expect(codeIn(await answer({}, old))).toEqual([422, 'mfa_challenge_expired'])
    const right = await answer({}, id)
    expect(right.status).toBe(200)
    expect(codeIn(await answer({ token: right.body.access_token }, id))).toEqual([422, 'mfa_ip_address_mismatch'])
  })

  it('fact 32, fact 33: accepts a code once, even on a new challenge, and the next code then', async () => {
    const { token, factor } = await stepUp()
    const used = await server.db.query('select last_step from catalograph_auth.totp_steps where factor_id = $1', [
      factor.id,
    ])
    const step = Number(used.rows[0]?.['last_step']) - Math.floor(Date.now() / 30_000)
    const again = await verify(server, { token, factor, code: codeOf(factor.secret, step) })
    expect(codeIn(again)).toEqual([422, 'mfa_verification_rejected'])
    const next = await verify(server, { token, factor, code: codeOf(factor.secret, step + 1) })
    expect([next.status, claimsOf(next.body.access_token)['aal']]).toEqual([200, 'aal2'])
    const before = await verify(server, { token, factor, code: codeOf(factor.secret, step) })
    expect(codeIn(before)[1]).toMatch(/^mfa_verification_(rejected|failed)$/)
  })

  it('attack 15: of one code on eight challenges at once has one winner', async () => {
    const { token, factor } = await stepUp()
    const attempt = { token, factor, code: codeOf(factor.secret, 1) }
    const ids = await Promise.all(Array.from({ length: 8 }, () => challenge(server, attempt)))
    const answers = await Promise.all(ids.map((id) => answerChallenge(server, attempt, id)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.error_code === 'mfa_verification_rejected')).toHaveLength(7)
    const live = await server.db.query('select from auth.refresh_tokens where session_id = $1 and not revoked', [
      claimsOf(token)['session_id'],
    ])
    expect(live.rows).toHaveLength(1)
  })

  it('attack 15: of one challenge by two codes at once has one winner', async () => {
    const { token } = await signUp()
    const factor = await enrol(server, token)
    const id = await challenge(server, { token, factor })
    const answers = await Promise.all(
      [0, 1].map((steps) => answerChallenge(server, { token, factor, code: codeOf(factor.secret, steps) }, id)),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
  })

  const from = (n: number) => ({ [addressHeader]: `203.0.113.${n}` })
  const wrong = (token: string, factor: Enrolled, n: number) =>
    verify(server, { token, factor, code: 'nothin', headers: from(n) })
  const setGuesses = (factor: Enrolled, failures: number) =>
    server.db.query(
      `update catalograph_auth.factor_guesses set failures = $2, last_at = now() - interval '1 hour'
      where factor_id = $1 and not known`,
      [factor.id, failures],
    )

  it('attack 48: pauses after ten wrong codes, from whatever addresses and however parallel, but not for the owner', async () => {
    const { token, factor } = await stepUp()
    const guesses = await Promise.all(Array.from({ length: 20 }, (_, n) => wrong(token, factor, n)))
    expect(guesses.filter(({ body }) => body.error_code === 'mfa_verification_failed')).toHaveLength(10)
    const refused = guesses.find(({ status }) => status === 429)
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(30)
    const code = codeOf(factor.secret, 1)
    expect((await verify(server, { token, factor, code, headers: from(99) })).status).toBe(429)
    expect((await verify(server, { token, factor, code })).status).toBe(200)
  })

  it('attack 48: reports the pause of a guess that is refused for one of the same moment', async () => {
    const { token, factor } = await stepUp()
    await wrong(token, factor, 1)
    await setGuesses(factor, 9)
    const other = openQuery(server.db.ownerUrl)
    await other.query('begin')
    await other.query(
      'update catalograph_auth.factor_guesses set failures = 10, last_at = now() where factor_id = $1 and not known',
      [factor.id],
    )
    const answering = wrong(token, factor, 2)
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await expect.poll(async () => (await server.db.query(waiting)).rows).toHaveLength(1)
    await other.query('commit')
    await other.end()
    const { status, headers } = await answering
    expect([status, headers.get('retry-after')]).toEqual([429, '60'])
  })

  it('attack 48: ends for strangers with the eightieth wrong code, until a device that passed succeeds', async () => {
    const { token, factor } = await stepUp()
    await wrong(token, factor, 1)
    await setGuesses(factor, 79)
    expect((await wrong(token, factor, 2)).status).toBe(429)
    await setGuesses(factor, 69)
    expect((await wrong(token, factor, 2)).status).toBe(422)
    await setGuesses(factor, 80)
    await server.db.query(`update catalograph_auth.factor_guesses set last_at = now() - interval '30 days'`)
    const code = codeOf(factor.secret, 1)
    const late = await verify(server, { token, factor, code, headers: from(3) })
    expect([late.status, late.headers.get('retry-after')]).toEqual([429, '86400'])
    expect((await verify(server, { token, factor, code })).status).toBe(200)
    expect((await wrong(token, factor, 2)).status).toBe(422)
  })

  it('attack 48: lets the owner’s device try once a day after twenty wrong codes of its own', async () => {
    const { token, factor } = await stepUp()
    await verify(server, { token, factor, code: 'nothin' })
    const setOwn = (ago: string) =>
      server.db.query(
        `update catalograph_auth.factor_guesses set failures = 20, last_at = now() - $2::interval
        where factor_id = $1 and known`,
        [factor.id, ago],
      )
    await setOwn('23 hours')
    const right = { token, factor, code: codeOf(factor.secret, 1) }
    expect((await verify(server, right)).status).toBe(429)
    await setOwn('25 hours')
    expect((await verify(server, right)).status).toBe(200)
  })

  it('attack 48: is over for a session at aal1 after five wrong codes, and needs the password again', async () => {
    const { email, factor } = await stepUp()
    const guesser = await signIn(email)
    const guesses = await Promise.all(Array.from({ length: 8 }, (_, n) => wrong(guesser.token, factor, n)))
    expect(guesses.filter(({ body }) => body.error_code === 'mfa_verification_failed')).toHaveLength(5)
    const code = codeOf(factor.secret, 1)
    const late = await verify(server, { token: guesser.token, factor, code })
    expect(codeIn(late)).toEqual([422, 'mfa_verification_rejected'])
    expect((await verify(server, { token: (await signIn(email)).token, factor, code })).status).toBe(200)
  })

  it.each([
    ['a guess', 'session', 403, 'session_not_found'],
    ['a guess', 'factor', 404, 'mfa_factor_not_found'],
    ['a challenge', 'factor', 404, 'mfa_factor_not_found'],
  ] as const)('%s is refused where its %s ends meanwhile', async (act, kind, status, errorCode) => {
    const { email, id, factor } = await stepUp()
    const attempt = { token: (await signIn(email)).token, factor, code: 'nothin' }
    const challengeId = await challenge(server, attempt)
    const ending = new pg.Client(server.db.ownerUrl)
    await ending.connect()
    await ending.query('begin')
    if (kind === 'session') await ending.query('delete from auth.sessions where user_id = $1', [id])
    else await ending.query('delete from auth.mfa_factors where id = $1', [factor.id])
    const answer =
      act === 'a guess'
        ? answerChallenge(server, attempt, challengeId)
        : server.call('POST', `/factors/${factor.id}/challenge`, { token: attempt.token })
    await until(async () => (await ending.query(waitingForLock)).rowCount === 1)
    await ending.query('commit')
    await ending.end()
    expect(codeIn(await answer)).toEqual([status, errorCode])
  })

  it('attack 14: makes every refresh token from before it worthless, without ending the session', async () => {
    const { token, refresh: old } = await signUp()
    const factor = await enrol(server, token)
    const raised = await verify(server, { token, factor, code: codeOf(factor.secret) })
    expect(codeIn(await refresh(old))).toEqual([400, 'refresh_token_already_used'])
    expect((await refresh(raised.body.refresh_token)).status).toBe(200)
  })

  it('attack 14: raced by refreshes never lifts one of them to aal2, nor leaves two live tokens', async () => {
    for (let round = 0; round < 8; round += 1) {
      const { token, refresh: old } = await signUp()
      const factor = await enrol(server, token)
      const attempt = { token, factor, code: codeOf(factor.secret) }
      const id = await challenge(server, attempt)
      const [raised, ...tabs] = await Promise.all([
        answerChallenge(server, attempt, id),
        ...Array.from({ length: 5 }, () => refresh(old)),
      ])
      expect(raised?.status).toBe(200)
      for (const { status, body } of tabs) {
        if (status !== 200) continue
        expect(claimsOf(body.access_token)['aal']).toBe('aal1')
        const later = await refresh(body.refresh_token)
        expect(codeIn(later)).toEqual([400, 'refresh_token_already_used'])
      }
      const live = await server.db.query(
        'select token from auth.refresh_tokens where session_id = $1 and not revoked',
        [claimsOf(token)['session_id']],
      )
      expect(live.rows).toEqual([{ token: raised?.body.refresh_token }])
    }
  })

  it('ends the sessions that are below, and the unfinished enrolments', async () => {
    const person = await signUp()
    const below = await signIn(person.email)
    const [factor] = [await enrol(server, person.token), await enrol(server, person.token, { friendly_name: 'left' })]
    const { body } = await verify(server, { token: person.token, factor, code: codeOf(factor.secret) })
    expect(body.user.factors.map(({ id }: Enrolled) => id)).toEqual([factor.id])
    expect(codeIn(await server.call('GET', '/user', { token: below.token }))).toEqual([403, 'session_not_found'])
    expect(codeIn(await refresh(below.refresh))).toEqual([400, 'refresh_token_not_found'])
  })
})

describe('a user with a factor', () => {
  it('fact 31: is at aal1 after the password', async () => {
    const { email } = await stepUp()
    expect(claimsOf((await signIn(email)).token)).toMatchObject({ aal: 'aal1', amr: [{ method: 'password' }] })
  })

  it('attack 16: enrols no other from aal1', async () => {
    const { email, token } = await stepUp()
    const low = await signIn(email)
    const body = { factor_type: 'totp', friendly_name: 'other' }
    expect(codeIn(await server.call('POST', '/factors', { token: low.token, body }))).toEqual([403, 'insufficient_aal'])
    expect((await server.call('POST', '/factors', { token, body })).status).toBe(200)
  })

  it('attack 16: verifies none from aal1 that was enrolled before, as an imported one may be', async () => {
    const { email, id } = await stepUp()
    const { token } = await signIn(email)
    const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
    const factor = { id: randomUUID(), secret }
    await server.db.query(
      `insert into auth.mfa_factors (id, user_id, factor_type, status, secret, created_at, updated_at)
      values ($1, $2, 'totp', 'unverified', $3, now(), now())`,
      [factor.id, id, secret],
    )
    const answer = await verify(server, { token, factor, code: codeOf(secret) })
    expect(codeIn(answer)).toEqual([403, 'insufficient_aal'])
    expect(claimsOf(token)).toMatchObject({ aal: 'aal1' })
    expect((await server.call('GET', '/user', { token })).body.factors).toMatchObject([{}, { status: 'unverified' }])
  })

  it('attack 17: whose session is lowered while a new password is hashed keeps the old one', async () => {
    const person = await stepUp()
    const holder = new pg.Client({ connectionString: server.db.ownerUrl })
    await holder.connect()
    await holder.query('begin')
    await holder.query('select from auth.users where id = $1 for update', [person.id])
    const changing = server.call('PUT', '/user', { token: person.token, body: { password: 'another horse' } })
    await until(async () => (await server.db.query(waitingForLock)).rowCount === 1)
    await holder.query(`update auth.sessions set aal = 'aal1' where user_id = $1`, [person.id])
    await holder.query('commit')
    await holder.end()
    expect(codeIn(await changing)).toEqual([401, 'insufficient_aal'])
    expect((await signIn(person.email)).token).toBeTruthy()
  })

  it('attack 17: changes no password and removes no factor from aal1', async () => {
    const { email, factor } = await stepUp()
    const { token } = await signIn(email)
    const change = await server.call('PUT', '/user', { token, body: { password: 'another horse' } })
    expect(codeIn(change)).toEqual([401, 'insufficient_aal'])
    const removal = await server.call('DELETE', `/factors/${factor.id}`, { token })
    expect(codeIn(removal)).toEqual([422, 'insufficient_aal'])
  })

  it('attack 17: gains nothing for a token from before the session was raised', async () => {
    const { token: old } = await signUp()
    const factor = await enrol(server, old)
    const { body } = await verify(server, { token: old, factor, code: codeOf(factor.secret) })
    const raised: string = body.access_token
    const acts = (token: string) => [
      () => server.call('POST', '/factors', { token, body: { factor_type: 'totp', friendly_name: 'more' } }),
      () => server.call('PUT', '/user', { token, body: { email: `${randomUUID()}@example.com` } }),
      () => server.call('PUT', '/user', { token, body: { password: 'another horse' } }),
      () => server.call('DELETE', `/factors/${factor.id}`, { token }),
    ]
    for (const act of acts(old)) expect((await act()).body.error_code).toBe('insufficient_aal')
    expect((await server.call('GET', '/user', { token: old })).status).toBe(200)
    expect((await server.call('PUT', '/user', { token: old, body: { data: { a: 1 } } })).status).toBe(200)
    for (const act of acts(raised)) expect((await act()).status).toBe(200)
    // The row has fallen: the claim alone raises nothing either.
    const again = await enrol(server, raised, { friendly_name: 'again' })
    expect((await verify(server, { token: old, factor: again, code: codeOf(again.secret) })).status).toBe(200)
    await server.db.query(`update auth.sessions set aal = 'aal1' where id = $1`, [claimsOf(raised)['session_id']])
    for (const act of acts(raised).slice(1, 3)) expect((await act()).body.error_code).toBe('insufficient_aal')
  })

  it('attack 17: is at aal1 after the recovery link, and changes and removes nothing', async () => {
    const { email, factor } = await stepUp()
    expect((await server.call('POST', '/recover', { body: { email } })).status).toBe(200)
    const code = (await server.mails(email))[0]?.code
    const { body } = await server.call('POST', '/verify', { body: { type: 'recovery', email, token: code } })
    const token: string = body.access_token
    expect(claimsOf(token)['aal']).toBe('aal1')
    const change = await server.call('PUT', '/user', { token, body: { password: 'another horse' } })
    expect(codeIn(change)).toEqual([401, 'insufficient_aal'])
    const removal = await server.call('DELETE', `/factors/${factor.id}`, { token })
    expect(codeIn(removal)).toEqual([422, 'insufficient_aal'])
    expect((await verify(server, { token, factor, code: codeOf(factor.secret, 1) })).status).toBe(200)
  })

  it('falls to aal1 with the next token after removing it', async () => {
    const { token, factor, refresh: held } = await stepUp()
    const removal = await server.call('DELETE', `/factors/${factor.id}`, { token })
    expect([removal.status, removal.body]).toEqual([200, { id: factor.id }])
    const { body } = await refresh(held)
    expect(claimsOf(body.access_token)).toMatchObject({ aal: 'aal1', amr: [{ method: 'password' }] })
    expect(body.user.factors).toBeUndefined()
  })

  it('can neither enrol nor verify once TOTP is off for the project', async () => {
    const { token, factor } = await stepUp()
    await server.set({ mfa_totp_enabled: 'off' })
    const body = { factor_type: 'totp', friendly_name: 'off' }
    expect(codeIn(await server.call('POST', '/factors', { token, body }))).toEqual([422, 'mfa_totp_enroll_not_enabled'])
    const answer = await verify(server, { token, factor, code: codeOf(factor.secret, 1) })
    await server.set({ mfa_totp_enabled: 'on' })
    expect(codeIn(answer)).toEqual([422, 'mfa_totp_verify_not_enabled'])
  })
})
