import { decodeJwt } from 'jose'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import type { Answer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'
import { startGoogle } from '../../support/google.ts'

const stage = forSuite(startGoogle, 'userinfo', {
  jwt_aud: 'members',
  jwt_default_role: 'anon',
  anonymous_enabled: 'on',
})

const told = { aud: 'members', role: 'anon' }
const newAddress = (): string => `${randomUUID()}@example.com`
const post = (path: string, body: object): Promise<Answer> => stage.server.call('POST', path, { body })
const ask = (path: string, body: object): Promise<Answer> =>
  stage.server.call('POST', path, { body, token: stage.server.serviceRole })
const signUp = (email: string): Promise<Answer> => post('/signup', { email, password: 'correct horse' })

/** Every way in which a user comes into being; each makes the one of the address. */
const ways: readonly (readonly [way: string, make: (email: string) => Promise<unknown>])[] = [
  ['sign-up', signUp],
  ['link by mail', (email) => post('/otp', { email })],
  ['invitation', (email) => ask('/invite', { email })],
  ['administrator', (email) => ask('/admin/users', { email })],
  ['link of an administrator', (email) => ask('/admin/generate_link', { type: 'magiclink', email })],
  ['Google', (email) => stage.signIn(stage.newPerson({ email }))],
  ['Google, unconfirmed', (email) => stage.signIn(stage.newPerson({ email, email_verified: false }))],
]

describe('every new user has jwt_aud and jwt_default_role', () => {
  const testWays = (): void => {
    test.each(ways)('is the same by %s', async (_, make) => {
      const email = newAddress()
      await make(email)
      await stage.server.settled()
      expect(await stage.byAddress(email)).toMatchObject(told)
    })
  }
  testWays()

  describe('where sign-ups are confirmed at once', () => {
    beforeAll(() => stage.server.set({ autoconfirm: 'on' }))
    afterAll(() => stage.server.set({ autoconfirm: 'off' }))
    testWays()

    it('stands in the token, which answers', async () => {
      const { body } = await signUp(newAddress())
      expect(decodeJwt(body.access_token)).toMatchObject(told)
      expect(await stage.userOf(body.access_token)).toMatchObject(told)
    })
  })

  test('guests have them too', async () => {
    const { body } = await post('/signup', { data: {} })
    expect(decodeJwt(body.access_token)).toMatchObject({ ...told, is_anonymous: true })
  })

  it('leaves the role to an administrator who names one', async () => {
    const { body } = await ask('/admin/users', { email: newAddress(), role: 'authenticated' })
    expect(body).toMatchObject({ aud: 'members', role: 'authenticated' })
  })

  test('attack 21: the answer for an address that somebody has names the same audience', async () => {
    const email = newAddress()
    await ask('/admin/users', { email, email_confirm: true })
    expect((await signUp(email)).body).toMatchObject({ aud: 'members', identities: [] })
  })
})
