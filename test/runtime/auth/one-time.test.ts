import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importedToken } from '../../../runtime/auth/secrets/one-time-tokens.ts'
import { openAuth, type OpenAuth } from '../../../runtime/auth/http/open.ts'
import { putOneTimeToken, spendOneTimeToken } from '../../../runtime/auth/store/one-time-tokens.ts'
import { insertUser } from '../../../runtime/auth/store/users.ts'
import { createDatabase } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'

let auth: OpenAuth
const db = forSuite(createDatabase, { prepare: 'auth' })
beforeAll(async () => {
  const baseUrl = (): string => 'https://project.example.com'
  auth = openAuth({
    url: db.ownerUrl,
    poolSize: 10,
    secret: 'x'.repeat(32),
    baseUrl,
    issuers: { google: baseUrl() },
    now: Date.now,
    log: () => undefined,
  })
})
afterAll(() => auth?.close())

const slot = 'recovery'
const newcomer = { passwordHash: null, appMetadata: {}, userMetadata: {} }
const settings = { jwt_aud: 'authenticated', jwt_default_role: 'authenticated' }
const newUser = async (): Promise<{ userId: string; address: string }> => {
  const [userId, address] = [randomUUID(), `${randomUUID()}@example.com`]
  await insertUser(auth.tools.database.run, { ...newcomer, id: userId, email: address }, settings)
  return { userId, address }
}
const mailed = async (): Promise<{ userId: string; address: string; code: string; token: string }> => {
  const user = await newUser()
  const issued = auth.tools.oneTime.issue(slot, user.address, 'implicit')
  await putOneTimeToken(auth.tools.database.run, { userId: user.userId, ...issued })
  return { ...user, code: issued.code, token: issued.token }
}
const check = (user: { userId: string; address: string }, code: string, lifetime = 3600): Promise<string | null> =>
  auth.tools.oneTime.check(auth.tools.database.run, {
    userId: user.userId,
    slot,
    address: user.address,
    code,
    lifetime,
  })
const wrong = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')

describe('a mailed code', () => {
  it('facts 51, 52: may be guessed wrong four times, and a new one counts from zero', async () => {
    const user = await mailed()
    for (let i = 0; i < 4; i += 1) expect(await check(user, wrong(user.code))).toBeNull()
    expect(await check(user, user.code)).toBe(user.token)
    expect(await check(user, user.code)).toBeNull()
    const again = auth.tools.oneTime.issue(slot, user.address, 'implicit')
    await putOneTimeToken(auth.tools.database.run, { userId: user.userId, ...again })
    expect(await check(user, again.code)).toBe(again.token)
  })

  it('attack 9, fact 50: is compared at most five times, however many guess at once', async () => {
    const user = await mailed()
    const guesses = Array.from({ length: 50 }, () => check(user, wrong(user.code)))
    expect(await Promise.all(guesses)).toEqual(Array(50).fill(null))
    expect(await check(user, user.code)).toBeNull()
    const { rows } = await db.query('select tries from catalograph_auth.codes where user_id = $1', [user.userId])
    expect(rows).toEqual([{ tries: 5 }])
  })

  it('is of its mailbox alone, and grows old', async () => {
    const user = await mailed()
    expect(await check({ ...user, address: 'other@example.com' }, user.code)).toBeNull()
    await db.query(`update catalograph_auth.codes set issued_at = now() - interval '2 hours'`)
    expect(await check(user, user.code)).toBeNull()
    expect(await check(user, user.code, 7201)).toBe(user.token)
  })

  it('attack 18: is spent once, of twenty at once', async () => {
    const user = await mailed()
    const spent = await Promise.all(
      Array.from({ length: 20 }, () => spendOneTimeToken(auth.tools.database.run, user.userId, slot, user.token)),
    )
    expect(spent.filter(Boolean)).toHaveLength(1)
    expect(await check(user, user.code)).toBeNull()
    expect((await db.query('select from auth.one_time_tokens where user_id = $1', [user.userId])).rows).toEqual([])
  })
})

describe('a typed code', () => {
  it('is found among however many accounts that want its address, and costs a guess of each', async () => {
    const address = `${randomUUID()}@example.com`
    const codes: { readonly userId: string; readonly code: string }[] = []
    for (let i = 0; i < 8; i += 1) {
      const { userId } = await newUser()
      const issued = auth.tools.oneTime.issue('email_change_new', address, 'implicit')
      await db.query('update auth.users set email_change = $2 where id = $1', [userId, address])
      await putOneTimeToken(auth.tools.database.run, { userId, ...issued })
      codes.push({ userId, code: issued.code })
    }
    const find = (code: string) =>
      auth.tools.oneTime.find(auth.tools.database.run, { address, code, lifetime: 3600 }, 'email_change')
    const [first, last] = [codes[0], codes[7]]
    expect(await find(first?.code ?? '')).toMatchObject({ userId: first?.userId, slot: 'email_change_new' })
    expect(await find(last?.code ?? '')).toMatchObject({ userId: last?.userId })
    const { rows } = await db.query(
      'select distinct c.tries from catalograph_auth.codes c join auth.users u on u.id = c.user_id where email_change = $1',
      [address],
    )
    expect(rows).toEqual([{ tries: 2 }])
  })

  it('of an imported project leaves nothing behind when it is spent in the meantime', async () => {
    const { userId, address } = await newUser()
    const token = importedToken(address, '123456')
    await db.query('update auth.users set recovery_token = $2, recovery_sent_at = now() where id = $1', [userId, token])
    expect(await check({ userId, address }, '654321')).toBeNull()
    expect(await check({ userId, address }, '123456')).toBe(token)
    await db.query('delete from catalograph_auth.codes where user_id = $1', [userId])
    await db.query('begin')
    await db.query(`update auth.users set recovery_token = '' where id = $1`, [userId])
    const late = check({ userId, address }, '123456')
    await sleep(200)
    await db.query('commit')
    expect(await late).toBeNull()
    expect((await db.query('select from catalograph_auth.codes where user_id = $1', [userId])).rows).toEqual([])
  })
})

describe('statements', () => {
  it('that were swallowed when they failed keep nothing of their transaction', async () => {
    const user = await newUser()
    const work = auth.tools.database.transaction(async (run) => {
      await insertUser(run, { ...newcomer, id: user.userId, email: null }, settings).catch(() => undefined)
    })
    await expect(work).rejects.toThrow('nothing was kept')
  })

  it('find their way back when every connection was cut', async () => {
    await Promise.all(Array.from({ length: 10 }, () => newUser()))
    await db.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'catalograph'`)
    await expect
      .poll(
        () =>
          newUser().then(
            () => true,
            () => false,
          ),
        { timeout: 5_000 },
      )
      .toBe(true)
  })
})
