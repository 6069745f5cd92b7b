import { randomUUID } from 'node:crypto'
import { buildClientSchema, printSchema, type IntrospectionQuery } from 'graphql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { askOwner, claimsOf, siteUrl, startAuthServer, type Answer } from '../../../support/auth.ts'
import { ownerRoutes } from '../../../../runtime/console/admin/routes.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { postsOf, postsSql } from '../../../support/posts.ts'

const server = forSuite(startAuthServer, { sql: postsSql })

const ask = (method: string, path: string, body?: unknown, key = server.serviceRole): Promise<Answer> =>
  askOwner(server, method, path, body, key)

/** A user with a confirmed address and a session. */
const newUser = async (): Promise<{ readonly id: string; readonly token: string }> => {
  const email = `${randomUUID()}@example.com`
  await server.call('POST', '/signup', { body: { email, password: 'correct horse' } })
  const [mail] = await server.mails(email)
  const { body } = await server.call('POST', '/verify', { body: { type: 'signup', email, token: mail?.code } })
  return { id: body.user.id, token: body.access_token }
}

describe('the project of an owner', () => {
  it('answers the service key alone', async () => {
    const { token } = await newUser()
    for (const { at } of ownerRoutes) {
      const [method = '', path = ''] = at.split(' ')
      for (const key of [server.anon, token]) {
        expect(await ask(method, path, undefined, key)).toMatchObject({ status: 403, body: { code: 'not_admin' } })
      }
    }
  })

  it('shows its address, the key of applications and what becomes of mails', async () => {
    expect((await ask('GET', '/project')).body).toEqual({ url: server.url, anon_key: server.anon, mails: 'kept' })
  })

  it('shows its state, its versions, and the extent of the API and of its users', async () => {
    const before = (await ask('GET', '/overview')).body
    expect(before).toMatchObject({ status: 'ok', fault: null, node: process.version, relations: 1 })
    expect(before.postgres).toMatch(/^\d+/)
    expect(before.roles).toContainEqual({ role: 'authenticated', relations: 1 })
    await newUser()
    await server.call('POST', '/signup', { body: {} })
    await server.db.query(`update auth.users set created_at = now() - interval '8 days'
      where id = (select id from auth.users where not is_anonymous order by created_at limit 1)`)
    const { users } = (await ask('GET', '/overview')).body
    expect(users).toMatchObject({ all: before.users.all + 1, week: before.users.week })
    const bare = await startAuthServer({ settings: null, sql: 'drop schema catalograph_auth, auth cascade' })
    onTestFinished(bare.stop)
    expect((await askOwner(bare, 'GET', '/overview')).body).toMatchObject({ status: 'ok', users: null })
  })

  it('shows the whole API of a role, whether the schema answers introspection or not', async () => {
    const sdlOf = async (role: string): Promise<string> =>
      printSchema(buildClientSchema((await ask('GET', `/schema?role=${role}`)).body as IntrospectionQuery))
    const [anon, user] = [await sdlOf('anon'), await sdlOf('authenticated')]
    expect(anon).toContain('type Posts implements Node')
    expect([anon.includes('insertIntoPostsCollection'), user.includes('insertIntoPostsCollection')]).toEqual([
      false,
      true,
    ])
    await server.db.query('alter table public.posts add column note text')
    expect(await sdlOf('anon')).toContain('note: String')
  })

  it('reports on the tables of a role, whether or not requests may ask for it', async () => {
    const { status, body } = await ask('GET', '/report?role=authenticated')
    expect([status, body.role]).toEqual([200, 'authenticated'])
    expect(body.relations).toContainEqual(expect.objectContaining({ object: 'table public.posts', type: 'Posts' }))
    await server.db.query('create table public.unseen (id int primary key)')
    const { relations, advice } = (await ask('GET', '/report')).body
    const unseen = expect.objectContaining({ object: 'table public.unseen', inSchema: false, reason: 'no grant' })
    expect(relations).toContainEqual(unseen)
    expect(advice.length).toBeGreaterThan(0)
    expect(await ask('GET', '/report?role=stranger')).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    })
  })

  it('answers documents with their plans, as the user of the bearer token', async () => {
    const { token } = await newUser()
    const query =
      'query ($id: Int!) { __typename postsCollection(filter: {id: {lt: $id}}) { edges { node { title } } } }'
    const send = async (path: string, apikey: string): Promise<[number, any]> => {
      const headers = { 'content-type': 'application/json', apikey, authorization: `Bearer ${token}` }
      const body = JSON.stringify({ query, variables: { id: 5 }, extensions: { explain: true } })
      const answer = await fetch(server.url + path, { method: 'POST', headers, body })
      return [answer.status, await answer.json()]
    }
    const [status, { data, extensions }] = await send('/admin/v1/graphql', server.serviceRole)
    expect([status, data]).toEqual([200, { __typename: 'Query', postsCollection: { edges: [] } }])
    expect(extensions.explain).toEqual([
      expect.objectContaining({ paths: [['postsCollection']], parameters: ['5'], variables: ['$id'] }),
    ])
    expect(JSON.stringify(extensions.explain)).toContain('"Relation Name":"posts"')
    expect((await send('/graphql/v1', server.serviceRole))[1]).toEqual({ data })
    for (const key of [server.anon, token, 'none']) {
      const [refused, { errors }] = await send('/admin/v1/graphql', key)
      expect([refused, errors[0].extensions.code]).toEqual([401, 'KEY_INVALID'])
    }
  })

  it('shows the mails that were kept, the newest first', async () => {
    await newUser()
    await newUser()
    const { body } = await ask('GET', '/mails?last=1')
    expect(body.mails).toHaveLength(1)
    const text = expect.stringMatching(/^Confirm your address\n[^]*\/verify\?token=[0-9a-f]{56}&[^]*code: \d{6}\n/)
    expect(body.mails[0]).toMatchObject({ kind: 'confirmation', subject: 'Confirm your address', text })
    expect((await ask('GET', '/mails?last=0')).status).toBe(400)
  })
})

describe('a token of a user for the owner', () => {
  it('sees what they see, ends soon, belongs to no session, and is noted', async () => {
    const user = await newUser()
    const posts = postsOf(server)
    await posts.write(user.token, { title: 'theirs' })
    const { body } = await ask('POST', '/tokens', { user_id: user.id })
    expect(await posts.read(body.access_token)).toEqual(['theirs'])
    const claims = claimsOf(body.access_token)
    expect(claims).toMatchObject({ sub: user.id, role: 'authenticated', aal: 'aal1', amr: [], is_anonymous: false })
    expect(claims['session_id']).toBeUndefined()
    expect([body.expires_in, Number(claims['exp']) - Number(claims['iat'])]).toEqual([600, 600])
    const { rows } = await server.db.query(
      `select payload -> 'traits' as traits, payload ->> 'actor_username' as actor from auth.audit_log_entries
      where payload ->> 'action' = 'token_issued'`,
    )
    expect(rows).toEqual([{ traits: { user_id: user.id }, actor: 'service_role' }])
  })

  it('is refused for nobody', async () => {
    expect(await ask('POST', '/tokens', {})).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(await ask('POST', '/tokens', { user_id: randomUUID() })).toMatchObject({
      status: 404,
      body: { code: 'user_not_found' },
    })
  })
})

it('a database without the tables of auth gets them, and auth is enabled', async () => {
  const bare = await startAuthServer({ settings: null, sql: 'drop schema catalograph_auth, auth cascade' })
  onTestFinished(() => bare.stop())
  const headers = { apikey: bare.serviceRole }
  const prepared = await fetch(`${bare.url}/admin/v1/prepare`, { method: 'POST', headers })
  expect(((await prepared.json()) as { applied: string[] }).applied.length).toBeGreaterThan(0)
  const again = await fetch(`${bare.url}/admin/v1/prepare`, { method: 'POST', headers })
  expect(await again.json()).toEqual({ applied: [] })
  const body = JSON.stringify({ auth_enabled: true, site_url: siteUrl })
  const enabled = await fetch(`${bare.url}/admin/v1/settings`, { method: 'PATCH', headers, body })
  expect(enabled.status).toBe(200)
})
