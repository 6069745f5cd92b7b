import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { projectKeys } from '../../../../runtime/identity/project-keys.ts'
import { call, secret, startAuthServer, type Answer, type Listening } from '../../../support/auth.ts'
import { forSuite } from '../../../support/for-suite.ts'

const newSecret = 'the secret after the rotation, with 32 characters'
const day = 86_400_000
const rotatedUntil = (time: number) => ({
  jwtSecret: newSecret,
  jwtSecretPrevious: secret,
  jwtSecretPreviousUntil: new Date(time).toISOString(),
})

let during: Listening
let after: Listening
const before = forSuite(startAuthServer, { settings: { mail_cooldown: '0' } })
beforeAll(async () => {
  during = await before.another(rotatedUntil(Date.now() + day))
  after = await before.another(rotatedUntil(Date.now() - day))
})
afterAll(async () => {
  await during?.stop()
  await after?.stop()
})

const { anon } = projectKeys(newSecret)
const expired = { status: 403, body: { error_code: 'otp_expired' } }

/** Signs up at a server, and gives the address and the code that it mailed. */
const signUp = async (url: string, key: string) => {
  const email = `${randomUUID()}@example.com`
  expect((await call(url, key, 'POST', '/signup', { body: { email, password: 'correct horse' } })).status).toBe(200)
  return { email, token: (await before.mails(email))[0]?.code }
}
const verify = (url: string, key: string, typed: object): Promise<Answer> =>
  call(url, key, 'POST', '/verify', { body: { type: 'signup', ...typed } })

describe('a code that was mailed under the previous secret', () => {
  it('can be typed until that secret ends, once', async () => {
    const typed = await signUp(before.url, before.anon)
    expect(await verify(after.url, anon, typed)).toMatchObject(expired)
    const wrong = String((Number(typed.token) + 1) % 1_000_000).padStart(6, '0')
    expect(await verify(during.url, anon, { ...typed, token: wrong })).toMatchObject(expired)
    expect(await verify(during.url, anon, typed)).toMatchObject({ status: 200, body: { user: { email: typed.email } } })
    expect(await verify(during.url, anon, typed)).toMatchObject(expired)
  })

  it('is the last one: new codes are of the present secret alone', async () => {
    const typed = await signUp(during.url, anon)
    expect(await verify(before.url, before.anon, typed)).toMatchObject(expired)
    expect((await verify(after.url, anon, typed)).status).toBe(200)
  })
})
