import { expect, it } from 'vitest'
import { addressHeader, startAuthServer, type Answer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'

/** Threads that hash are shared as connections are (docs/sharing.md). */

const server = forSuite(startAuthServer, { fullHashing: true, settings: { autoconfirm: 'on' } })
const signIn = (email: string, password: string, address: string): Promise<Answer> =>
  server.call('POST', '/token?grant_type=password', {
    body: { email, password },
    headers: { [addressHeader]: address },
  })

it('a sign-in from a known device does not wait behind those of many addresses, nor one of another address behind one', async () => {
  const [email, password, home] = ['ada@example.com', 'correct horse battery', '203.0.113.1']
  await server.call('POST', '/signup', { body: { email, password } })
  expect((await signIn(email, password, home)).status).toBe(200)
  const answered: string[] = []
  const flood = (count: number, addressOf: (number: number) => string): readonly Promise<void>[] =>
    Array.from({ length: count }, async (_, number) => {
      await signIn(`nobody${number}@example.com`, 'a wrong password', addressOf(number))
      answered.push(addressOf(number))
    })
  const ofMany = flood(32, (number) => `198.51.100.${number}`)
  await Promise.any(ofMany)
  expect((await signIn(email, password, home)).status).toBe(200)
  expect(answered.length).toBeLessThan(16)
  await Promise.all(ofMany)
  answered.length = 0
  const ofOne = flood(16, () => '192.0.2.1')
  await Promise.any(ofOne)
  expect((await signIn(email, password, '192.0.2.2')).status).toBe(200)
  expect(answered.length).toBeLessThan(12)
  await Promise.all(ofOne)
}, 60_000)
