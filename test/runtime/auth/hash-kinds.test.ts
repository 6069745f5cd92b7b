import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStatements, type StatementsDatabase } from '../../../runtime/db/pool/statements.ts'
import { storedHashKinds } from '../../../runtime/auth/store/hash-kinds.ts'
import { startAuthServer } from '../../support/auth.ts'
import { forSuite } from '../../support/for-suite.ts'

let database: StatementsDatabase
const server = forSuite(startAuthServer)
beforeAll(async () => {
  const { ownerUrl: url } = server.db
  database = openStatements({
    url,
    schemas: ['auth'],
    role: 'supabase_auth_admin',
    poolSize: 1,
    pooler: 'none',
    statementTimeout: 8_000,
  })
})
afterAll(() => database?.close())

const kinds = async (): Promise<readonly string[]> =>
  (await storedHashKinds(database.run)).map(({ kind }) => kind).toSorted()

const letters = (count: number): string => 'a'.repeat(count)
const hashes = {
  $2b$04$: `$2b$04$${letters(53)}`,
  $2b$12$: `$2b$12$${letters(53)}`,
  $2y$14$: `$2y$14$${letters(53)}`,
  '$argon2id$v=19$m=4096,t=3': '$argon2id$v=19$m=4096,t=3,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA',
  '$fbscrypt$v=1,n=14,r=8,p=1': '$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=c2lnbmVy$c2FsdA==$aGFzaA==',
}

it('the slower kinds of hashes are known from the first account of each on, in whatever way it came', async () => {
  await server.call('POST', '/signup', { body: { email: `${randomUUID()}@example.com`, password: 'correct horse' } })
  expect(await kinds()).toEqual([])
  const { $2y$14$: restored, ...imported } = hashes
  for (const password_hash of Object.values(imported)) {
    for (const _twice of [1, 2]) {
      const body = { email: `${randomUUID()}@example.com`, password_hash, email_confirm: true }
      expect((await server.call('POST', '/admin/users', { token: server.serviceRole, body })).status).toBe(200)
    }
  }
  const insert = 'insert into auth.users (id, encrypted_password) values (gen_random_uuid(), $1)'
  for (const hash of [restored, '', null, '$2b$31$none', 'plain']) await server.db.query(insert, [hash])
  expect(await kinds()).toEqual(
    ['$2y$14', '$2b$12', '$argon2id$v=19$m=4096,t=3', '$fbscrypt$v=1,n=14,r=8,p=1'].toSorted(),
  )
})

it('a wrong password of each kind is refused alike', async () => {
  for (const password_hash of [...Object.values(hashes), null]) {
    const email = `${randomUUID()}@example.com`
    const body = { email, ...(password_hash !== null && { password_hash }), email_confirm: true }
    await server.call('POST', '/admin/users', { token: server.serviceRole, body })
    const answer = await server.call('POST', '/token?grant_type=password', { body: { email, password: 'wrong' } })
    expect([answer.status, answer.body.error_code]).toEqual([400, 'invalid_credentials'])
  }
}, 60_000)
