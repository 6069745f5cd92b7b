import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createAddressHash } from '../../../../runtime/auth/secrets/algorithms.ts'
import { addressHeader, call, startAuthServer, type Answer } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'

const server = forSuite(startAuthServer, { settings: { autoconfirm: 'on', mail_cooldown: '0' } })

const password = 'correct horse'
const newEmail = (): string => `${randomUUID()}@example.com`
/** A device is known by its address. */
const from = (device: number) => ({ [addressHeader]: `203.0.${device >> 8}.${device & 255}` })
const owner = 1
const newOwner = async () => {
  const email = newEmail()
  const { body } = await server.call('POST', '/signup', { body: { email, password }, headers: from(owner) })
  return { email, id: String(body.user.id), token: String(body.access_token) }
}
const signIn = (email: string, device: number, given = password, url = server.url): Promise<Answer> =>
  call(url, server.anon, 'POST', '/token?grant_type=password', {
    body: { email, password: given },
    headers: from(device),
  })
const wrong = (email: string, device: number, url?: string) => signIn(email, device, 'wrong horse', url)
const many = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))
const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status).toSorted()
const times = (count: number, status: number): number[] => Array<number>(count).fill(status)
/** Changes the count of an address as if its last guess were so old. */
const setCount = (email: string, known: boolean, failures: number, ago = '1 hour') =>
  server.db.query(
    `update catalograph_auth.password_guesses set failures = $3, last_at = clock_timestamp() - $4::interval
    where address_hash = $1 and known = $2`,
    [createAddressHash(server.secret)(email), known, failures, ago],
  )
/** So many wrong passwords of strangers. */
const spend = async (email: string, failures: number, ago?: string): Promise<void> => {
  await wrong(email, 2_000)
  await setCount(email, false, failures, ago)
}

describe('guesses of a password', () => {
  it('attack 49: from sixty addresses, however parallel and over processes, are thirty, and shut out no device of the owner', async () => {
    const other = await server.another()
    const { email } = await newOwner()
    const unknown = newEmail()
    const attack = async (address: string) => {
      const guess = (n: number) => wrong(address, 100 + n, n % 2 === 0 ? server.url : other.url)
      return [...(await many(40, guess)), ...(await many(20, (n) => guess(40 + n)))]
    }
    const [known, nobody] = [await attack(email), await attack(unknown)]
    await other.stop()
    expect(statusesOf(known)).toEqual([...times(30, 400), ...times(30, 429)])
    expect(statusesOf(nobody)).toEqual(statusesOf(known))
    const [late, lateOfNobody] = [await signIn(email, 99), await signIn(unknown, 99)]
    expect([late.status, late.body.error_code]).toEqual([429, 'over_request_rate_limit'])
    expect(lateOfNobody.body).toEqual(late.body)
    expect([...lateOfNobody.headers.keys()]).toEqual([...late.headers.keys()])
    for (const { headers } of [late, lateOfNobody]) expect(Number(headers.get('retry-after'))).toBeGreaterThan(30)
    expect((await signIn(email, owner)).status).toBe(200)
    expect((await signIn(email, 99)).status).toBe(200)
  })

  it('attack 49: pause longer and longer, and end with the eightieth', async () => {
    const { email } = await newOwner()
    await spend(email, 40, '10 minutes 50 seconds')
    const early = await wrong(email, 100)
    expect([early.status, Number(early.headers.get('retry-after')) <= 10]).toEqual([429, true])
    await setCount(email, false, 40, '11 minutes')
    expect((await wrong(email, 100)).status).toBe(400)
    await setCount(email, false, 80, '300 days')
    const [stranger, unknown] = [await signIn(email, 101), newEmail()]
    expect([stranger.status, stranger.headers.get('retry-after')]).toEqual([429, '86400'])
    await spend(unknown, 80, '300 days')
    const ofNobody = await signIn(unknown, 101)
    expect([ofNobody.status, ofNobody.body, ofNobody.headers.get('retry-after')]).toEqual([429, stranger.body, '86400'])
    expect((await signIn(email, owner)).status).toBe(200)
    expect((await wrong(email, 101)).status).toBe(400)
  })

  it('attack 49: leave a way in by mail, after which the password opens the account there too', async () => {
    const { email } = await newOwner()
    await spend(email, 80)
    const device = 102
    await server.call('POST', '/recover', { body: { email }, headers: from(device) })
    const [{ code } = { code: '' }] = await server.mails(email)
    const body = { type: 'recovery', email, token: code }
    expect((await server.call('POST', '/verify', { body, headers: from(device) })).status).toBe(200)
    await spend(email, 80)
    expect((await signIn(email, 103)).status).toBe(429)
    expect((await signIn(email, device)).status).toBe(200)
  })

  it('attack 49: of a device that signed in are twenty, and then one a day', async () => {
    const { email } = await newOwner()
    expect(statusesOf(await many(20, () => wrong(email, owner)))).toEqual(times(20, 400))
    await setCount(email, true, 20, '23 hours')
    expect((await signIn(email, owner)).status).toBe(429)
    expect((await signIn(email, 104)).status).toBe(200)
    await wrong(email, owner)
    await setCount(email, true, 20, '25 hours')
    expect((await signIn(email, owner)).status).toBe(200)
  })

  it('are not correct passwords, be they many at once or of an account that gets no session', async () => {
    const { email, id } = await newOwner()
    expect(statusesOf(await many(64, () => signIn(email, owner)))).toEqual(times(64, 200))
    expect(statusesOf(await many(64, (n) => signIn(email, 110 + n)))).toEqual(times(64, 200))
    await server.db.query(`update auth.users set banned_until = now() + interval '1 hour' where id = $1`, [id])
    for (let n = 0; n < 35; n += 1) expect((await signIn(email, 105)).body.error_code).toBe('user_banned')
  })

  it('are reset by a new password, after which only the device that set it is known', async () => {
    const { email, id, token } = await newOwner()
    await signIn(email, 106)
    await spend(email, 80)
    const put = { token, body: { password: 'a new horse' }, headers: from(owner) }
    expect((await server.call('PUT', '/user', put)).status).toBe(200)
    expect((await wrong(email, 107)).status).toBe(400)
    await setCount(email, false, 80)
    expect((await signIn(email, 106, 'a new horse')).status).toBe(429)
    expect((await signIn(email, owner, 'a new horse')).status).toBe(200)
    await spend(email, 80)
    const admin = { token: server.serviceRole, body: { password } }
    expect((await server.call('PUT', `/admin/users/${id}`, admin)).status).toBe(200)
    expect((await signIn(email, 108)).status).toBe(200)
  })

  it('that are refused still close the address that they come from', async () => {
    const email = newEmail()
    await server.set({ ban_threshold: '40' })
    for (let n = 0; n < 40; n += 1) await wrong(email, 109)
    const other = await signIn(newEmail(), 109)
    await server.set({ ban_threshold: '0' })
    expect(other.status).toBe(429)
  }, 120_000)

  it('are also sign-ups for an account that waits for its confirmation', async () => {
    const email = newEmail()
    const body = { email, password }
    await server.call('POST', '/admin/users', { token: server.serviceRole, body })
    const signUp = (given: string, device: number) =>
      server.call('POST', '/signup', { body: { email, password: given }, headers: from(device) })
    expect((await signUp('wrong horse', 111)).status).toBe(422)
    await setCount(email, false, 80)
    expect((await signUp(password, 112)).body.error_code).toBe('user_already_exists')
    await setCount(email, false, 79, '1 day')
    expect((await signUp(password, 112)).status).toBe(200)
  })
})

describe('guesses of the old password', () => {
  const put = (token: string, body: object) => server.call('PUT', '/user', { token, body, headers: from(owner) })

  it('attack 49: are five in a session, however parallel, and then need another one', async () => {
    const { email, token } = await newOwner()
    await server.set({ password_require_current: 'on' })
    const change = (current_password: string, session = token) =>
      put(session, { password: 'a new horse', current_password })
    await put(token, { password: 'a new horse' })
    const answers = await many(8, () => change('wrong horse'))
    const late = await change(password)
    const other = (await signIn(email, owner)).body.access_token
    const right = await change(password, other)
    await server.set({ password_require_current: 'off' })
    const spent = answers.filter(({ body }) => body.msg.startsWith('Too many wrong passwords'))
    expect(spent).toHaveLength(3)
    expect([late.body.error_code, late.body.msg]).toEqual(['current_password_invalid', spent[0]?.body.msg])
    expect(right.status).toBe(200)
  })

  it('attack 49: are new passwords that are compared and not stored', async () => {
    const { token } = await newOwner()
    const ask = async (given: string) => (await put(token, { password: given, phone: '+123456789' })).body.error_code
    for (let n = 0; n < 3; n += 1) expect(await ask(password)).toBe('same_password')
    for (let n = 0; n < 5; n += 1) expect(await ask(`wrong horse ${n}`)).toBe('phone_provider_disabled')
    expect(await ask(password)).toBe('current_password_invalid')
  })

  it('are not successful changes of the password', async () => {
    const { token } = await newOwner()
    for (let n = 0; n < 7; n += 1) expect((await put(token, { password: `horse ${n}` })).status).toBe(200)
  })
})
