import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { JWT_SECRET, keys, whileServed } from '../support/while-served.ts'
import { signToken } from '../../runtime/identity/jwt.ts'

const db = forSuite(createDatabase, {
  prepare: true,
  sql: `create table notes (id int primary key, owner text not null);
      insert into notes values (1, 'ada'), (2, 'bob');
      alter table notes enable row level security;
      create policy own on notes for select using (owner = auth.jwt() ->> 'sub');
      grant select on notes to authenticated, anon;`,
})

const notes = '{ notesCollection { edges { node { id } } } }'

it('the service is read by pages of the origins that are listed, and by no others', async () => {
  await whileServed(db, { CORS_ORIGINS: 'https://a.example,https://b.example' }, async ({ url, graphql }) => {
    const allowed = async (origin?: string): Promise<readonly (string | null)[]> => {
      const { headers } = await graphql('{ __typename }', origin === undefined ? {} : { origin })
      return [headers.get('access-control-allow-origin'), headers.get('vary')]
    }
    expect(await allowed('https://b.example')).toEqual(['https://b.example', 'origin, accept'])
    expect(await allowed('https://c.example')).toEqual([null, 'origin, accept'])
    expect(await allowed()).toEqual([null, 'origin, accept'])
    const preflight = await fetch(`${url}/auth/v1/token`, {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example' },
    })
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://a.example')
  })
  await whileServed(db, {}, async ({ graphql }) => {
    const { headers } = await graphql('{ __typename }', { origin: 'https://c.example' })
    expect([headers.get('access-control-allow-origin'), headers.get('vary')]).toEqual(['*', 'accept'])
  })
})

it('the service answers below a path, which a proxy need not take off', async () => {
  await whileServed(db, { PATH_PREFIX: '/api' }, async ({ url }) => {
    const headers = { apikey: keys.anon, 'content-type': 'application/json' }
    const body = JSON.stringify({ query: '{ __typename }' })
    const answer = await fetch(`${url}/api/graphql/v1`, { method: 'POST', headers, body })
    expect(await answer.json()).toEqual({ data: { __typename: 'Query' } })
    expect((await fetch(`${url}/api/dashboard`)).status).toBe(200)
    expect((await fetch(`${url}/apis/dashboard`)).status).toBe(404)
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })
})

it('the service refuses callers that ask too often, with the time to wait, but not the owner', async () => {
  await whileServed(db, { RATE_LIMIT: '5' }, async ({ graphql }) => {
    const statuses = async (count: number, headers = {}): Promise<readonly number[]> => {
      const answers = await Promise.all(Array.from({ length: count }, () => graphql('{ __typename }', headers)))
      return answers.map(({ status }) => status).sort()
    }
    expect(await statuses(7)).toEqual([200, 200, 200, 200, 200, 429, 429])
    const refused = await graphql('{ __typename }')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.json()).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] })
    const user = signToken({ role: 'authenticated', sub: 'ada', exp: 4_000_000_000 }, JWT_SECRET)
    expect(await statuses(5, { authorization: `Bearer ${user}` })).toEqual([200, 200, 200, 200, 200])
    expect(await statuses(20, { apikey: keys.serviceRole })).toEqual(Array.from({ length: 20 }, () => 200))
  })
})

describe('tokens of another issuer', () => {
  const jwks: { keys: object[] } = { keys: [] }
  let server: Server
  let issuer = ''
  let asked = 0
  beforeAll(async () => {
    server = createServer((_request, response) => {
      asked += 1
      response.setHeader('content-type', 'application/json').end(JSON.stringify(jwks))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => void server.close())

  const makeKey = async (algorithm: string, kid: string): Promise<(claims: object) => Promise<string>> => {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
    jwks.keys.push({ ...(await exportJWK(publicKey)), kid, alg: algorithm })
    return (claims) => new SignJWT({ ...claims }).setProtectedHeader({ alg: algorithm, kid }).sign(privateKey)
  }
  const good = () => ({ iss: issuer, aud: 'app', sub: 'ada', exp: Math.floor(Date.now() / 1000) + 60 })

  it('are believed with their keys, audience and roles, for GraphQL alone', async () => {
    const signers = await Promise.all(['RS256', 'ES256', 'EdDSA'].map((algorithm, n) => makeKey(algorithm, `k${n}`)))
    const [sign] = signers
    if (sign === undefined) throw new Error('no key')
    const stranger = await generateKeyPair('RS256')
    const TRUSTED_ISSUERS = JSON.stringify([{ issuer, audience: 'app', roles: ['authenticated', 'anon'] }])
    await whileServed(db, { TRUSTED_ISSUERS }, async ({ url, graphql }) => {
      const as = async (token: string): Promise<unknown> => {
        const answer = await graphql(notes, { authorization: `Bearer ${token}` })
        return answer.status === 200 ? ((await answer.json()) as { readonly data: unknown }).data : answer.status
      }
      const own = { notesCollection: { edges: [{ node: { id: 1 } }] } }
      for (const signer of signers) expect(await as(await signer(good()))).toEqual(own)
      expect(await as(await sign({ ...good(), role: 'anon' }))).toEqual(own)
      const refused = [
        await sign({ ...good(), aud: 'other' }),
        await sign({ ...good(), role: 'service_role' }),
        await sign({ ...good(), role: 'postgres' }),
        await sign({ ...good(), exp: 1 }),
        await sign({ iss: issuer, aud: 'app', sub: 'ada' }),
        await new SignJWT(good()).setProtectedHeader({ alg: 'RS256', kid: 'k0' }).sign(stranger.privateKey),
        signToken(good(), JWT_SECRET),
        signToken(good(), 'x'.repeat(32)),
      ]
      for (const token of refused) expect(await as(token)).toBe(401)
      const user = await fetch(`${url}/auth/v1/user`, {
        headers: { apikey: keys.anon, authorization: `Bearer ${await sign(good())}` },
      })
      expect(user.status).toBeGreaterThanOrEqual(400)
      expect((await graphql(notes, { apikey: await sign(good()) })).status).toBe(401)
      expect(asked).toBeLessThanOrEqual(2)
    })
    await whileServed(db, {}, async ({ graphql }) => {
      expect((await graphql(notes, { authorization: `Bearer ${await sign(good())}` })).status).toBe(401)
    })
  })

  it('of an issuer that is silent are answered as such, and not as wrong', async () => {
    const sign = await makeKey('ES256', 'late')
    const silent = 'http://127.0.0.1:1'
    const TRUSTED_ISSUERS = JSON.stringify([{ issuer: silent, audience: 'app' }])
    await whileServed(db, { TRUSTED_ISSUERS }, async ({ graphql }) => {
      const token = await sign({ ...good(), iss: silent })
      expect((await graphql(notes, { authorization: `Bearer ${token}` })).status).toBe(503)
    })
  })
})
