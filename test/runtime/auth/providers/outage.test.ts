import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { siteUrl, startAuthServer, type AuthServer } from '../../../support/auth.ts'
import { locationOf, stateOf } from '../../../support/google.ts'
import { google } from '../../../support/openid-provider.ts'

/** A provider that is out of order at its token endpoint, or at that of its keys. */
let provider: Server
let issuer: string
let mood: RequestListener
let keys: RequestListener
let server: AuthServer
let idToken: string
let sign: (nonce: string) => Promise<string>

const json = (response: ServerResponse, body: object): void => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
}
let written = 0
const endless = (response: ServerResponse): void => {
  const piece = Buffer.alloc(65_536, ' ')
  response.setHeader('content-type', 'application/json').write('{"a":"')
  const more = setInterval(() => {
    response.write(piece)
    written += piece.length
  }, 1)
  response.on('close', () => clearInterval(more))
}

beforeAll(async () => {
  provider = createServer((request, response) => {
    if (request.url === '/token') return mood(request, response)
    if (request.url === '/keys') return keys(request, response)
    const at = (path: string): string => issuer + path
    json(response, {
      issuer,
      authorization_endpoint: at('/authorize'),
      token_endpoint: at('/token'),
      jwks_uri: at('/keys'),
      userinfo_endpoint: at('/userinfo'),
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const key = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }
  keys = (_request, response) => json(response, { keys: [key] })
  sign = (nonce) =>
    new SignJWT({ email: 'someone@example.com', email_verified: true, nonce })
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .setIssuer(issuer)
      .setAudience(google.clientId)
      .setSubject('someone')
      .setIssuedAt()
      .setExpirationTime('10m')
      .sign(privateKey)
  server = await startAuthServer({
    googleIssuer: issuer,
    settings: { google_enabled: 'on', google_client_id: google.clientId, google_secret: google.secret },
  })
})
afterAll(async () => {
  await server?.stop()
  provider?.closeAllConnections()
  await new Promise((resolve) => provider?.close(resolve))
})

const token = (): object => ({ access_token: 'at', token_type: 'Bearer', expires_in: 60, id_token: idToken })
const usual: RequestListener = (_request, response) => json(response, token())

const moods: Readonly<Record<string, RequestListener>> = {
  hangs: () => undefined,
  'hangs in the middle': (_request, response) => void response.setHeader('content-length', '100').write('{"access'),
  'hangs up': (request) => void request.socket.destroy(),
  'answers rubbish': (_request, response) => void response.end('<html>out of order'),
  'answers rubbish that says it is JSON': (_request, response) =>
    void response.setHeader('content-type', 'application/json').end('{"access_token": '),
  'answers something else': (_request, response) => json(response, { id_token: 7, access_token: [] }),
  'is out of order': (_request, response) => void response.writeHead(503).end('later'),
  'sends the code on': (_request, response) => void response.writeHead(307, { location: siteUrl }).end(),
  'never stops answering': (_request, response) => endless(response),
}

/** The callback of a user with a code of the provider. */
const callback = async () => {
  const begun = await server.call('GET', '/authorize?provider=google', { headers: { apikey: '' } })
  idToken = await sign(locationOf(begun).searchParams.get('nonce') ?? '')
  const state = stateOf(begun)
  const answer = await server.call('GET', `/callback?state=${state}&code=abcdefgh`, { headers: { apikey: '' } })
  return { answer, landing: locationOf(answer) }
}

const failed = {
  error: 'server_error',
  error_code: 'unexpected_failure',
  error_description: 'Unable to exchange external code: abcd',
}

const leftBehind = async (): Promise<unknown> =>
  (
    await server.db.query(`select (select count(*) from auth.users)::int as users,
      (select count(*) from auth.identities)::int as identities, (select count(*) from auth.sessions)::int as sessions,
      (select count(*) from auth.flow_state where user_id is not null)::int as flows`)
  ).rows[0]

const nothing = { users: 0, identities: 0, sessions: 0, flows: 0 }

const patient = { timeout: 30_000 }

it.each(Object.keys(moods))(
  'a token endpoint that %s is given up in time and leaves nothing',
  patient,
  async (name) => {
    mood = moods[name] ?? usual
    const began = performance.now()
    const { answer, landing } = await callback()
    expect(performance.now() - began).toBeLessThan(10_000)
    expect([answer.status, landing.origin]).toEqual([302, siteUrl])
    expect(Object.fromEntries(landing.searchParams)).toEqual(failed)
    expect(await leftBehind()).toEqual(nothing)
  },
)

it('an answer that never ends is left after its first part, long before the time is up', patient, async () => {
  mood = moods['never stops answering'] ?? usual
  written = 0
  await callback()
  expect(written).toBeLessThan(33_554_432)
})

it('keys that never end or never come are given up too; all is well once they come', patient, async () => {
  mood = usual
  const good = keys
  for (const bad of [(): void => undefined, (_request: unknown, response: ServerResponse) => endless(response)]) {
    keys = bad
    expect(Object.fromEntries((await callback()).landing.searchParams)).toEqual(failed)
  }
  expect(await leftBehind()).toEqual(nothing)
  keys = good
  expect((await callback()).landing.hash).toMatch(/^#access_token=/)
})
