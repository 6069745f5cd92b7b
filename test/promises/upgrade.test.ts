import { readFileSync } from 'node:fs'
import { hash } from '@node-rs/bcrypt'
import { beforeAll, expect, it } from 'vitest'
import { checkPrepared } from '../../compiler/following/prepare/prepare.ts'
import { authCommand } from '../../compiler/commands/auth.ts'
import { runCommand } from '../support/command.ts'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { JWT_SECRET, keys, whileServed } from '../support/while-served.ts'

/** A database as version 0.1.0 left it, with one account. */
const made = readFileSync(new URL('../support/upgrade/0.1.0.sql', import.meta.url), 'utf8')
const [email, password, id] = ['ada@example.com', 'correct horse', '5f6a4a3e-8a39-4e43-9d62-0c6c7b6f1a11']

const db = forSuite(createDatabase, { superuser: 'restores event triggers' })
beforeAll(async () => {
  await db.query(made)
  await db.query('create table notes (id int primary key); grant select on notes to anon')
  await db.query(
    `insert into auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, raw_app_meta_data,
       raw_user_meta_data, created_at, updated_at)
     values ('00000000-0000-0000-0000-000000000000', $1, 'authenticated', 'authenticated', $2, $3, now(),
       '{"provider": "email", "providers": ["email"]}', '{"name": "Ada"}', now(), now())`,
    [id, email, await hash(password, 4)],
  )
  await db.query(
    `insert into auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
     values ($1::text, $1::uuid, $2, 'email', now(), now(), now())`,
    [id, JSON.stringify({ sub: id, email })],
  )
})

it('a database of the last version is served by this one, which keeps its accounts and follows its schema', async () => {
  const environment = { DATABASE_OWNER_URL: db.ownerUrl, JWT_SECRET, CATALOGRAPH_DATA: '/nowhere' }
  const enabled = await runCommand([authCommand], ['auth', 'enable', '--site-url', 'http://localhost:3000'], {
    environment,
  })
  expect(enabled).toMatchObject({ exitCode: 0 })
  await whileServed(db, {}, async ({ url, graphql }) => {
    expect(await checkPrepared({ url: db.ownerUrl, login: 'authenticator' })).toMatchObject({
      followed: true,
      statements: [],
    })
    const answer = await fetch(`${url}/auth/v1/token?grant_type=password`, {
      method: 'POST',
      headers: { apikey: keys.anon, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    })
    expect([answer.status, await answer.json()]).toMatchObject([200, { user: { id, user_metadata: { name: 'Ada' } } }])
    const fields = '{ notesCollection { edges { node { id body } } } }'
    expect(await (await graphql(fields)).json()).toMatchObject({
      errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    })
    await db.query('alter table notes add column body text')
    expect(await (await graphql(fields)).json()).toEqual({ data: { notesCollection: { edges: [] } } })
  })
})
