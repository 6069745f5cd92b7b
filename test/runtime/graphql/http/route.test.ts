import { type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../../runtime/app.ts'
import type { Caller } from '../../../../runtime/contract/execution.ts'
import type { GraphqlOutcome, GraphqlRequest } from '../../../../runtime/graphql/protocol/request-and-answer.ts'
import { createAuthenticate } from '../../../../runtime/identity/caller.ts'
import { createTokenVerifier, signToken } from '../../../../runtime/identity/jwt.ts'
import { projectKeys } from '../../../../runtime/identity/project-keys.ts'
import type { LogEvent } from '../../../../runtime/settings/log/events.ts'
import { healthy } from '../../../support/healthy.ts'

const secret = 'a secret that has more than thirty-two characters'
const { anon } = await projectKeys(secret)
const user = await signToken({ role: 'authenticated', sub: 'u1' }, secret)
const modern = 'application/graphql-response+json'

const events: LogEvent[] = []
const served: { readonly request: GraphqlRequest; readonly caller: Caller }[] = []

/** The end of the river: the query's text names the outcome that GraphQL is to have. */
const serve = async (request: GraphqlRequest, caller: Caller) => {
  served.push({ request, caller })
  if (request.query === 'explode') throw new Error('secret detail: select * from passwords')
  return { outcome: (request.query ?? 'ok') as GraphqlOutcome, body: '{"data":{"ü":1}}' }
}

let app: FastifyInstance
beforeAll(async () => {
  app = buildApp({
    auth: null,
    authenticate: createAuthenticate(createTokenVerifier({ secret, now: Date.now })),
    serving: { serve },
    health: healthy,
    log: (event) => events.push(event),
    bodyLimitBytes: 2048,
    logsRequests: true,
    requestTimeoutMs: 0,
  }).fastify
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => app.close())

interface Sent {
  readonly method?: 'POST' | 'GET' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS' | 'HEAD'
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

interface Received {
  readonly statusCode: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const send = ({ method = 'POST', url = '/graphql/v1', headers = {}, body }: Sent): Promise<Received> =>
  exchange(
    method,
    url,
    {
      apikey: anon,
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      }),
      ...headers,
    },
    body,
  )

const exchange = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: string | Buffer) =>
  new Promise<Received>((resolve, reject) => {
    const { port } = app.server.address() as AddressInfo
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, async (response) => {
      const { statusCode = 0, headers: received } = response
      resolve({ statusCode, headers: received, body: await text(response) })
    })
    sent.once('error', reject).end(body)
  })

const post = (query: string, headers: Readonly<Record<string, string>> = {}) =>
  send({ body: JSON.stringify({ query }), headers })

const sentAs = (media: string, body = '{"query":"ok"}'): Sent => ({ body, headers: { 'content-type': media } })

const codeOf = (response: { readonly body: string }): unknown => {
  const body = JSON.parse(response.body) as { data: unknown; errors: { extensions: { code: string } }[] }
  expect(body.data).toBeNull()
  return body.errors[0]?.extensions.code
}

describe('POST /graphql/v1', () => {
  it('hands the question and the caller on, and the answer back as it is', async () => {
    const response = await send({
      body: '{"query":"ok","variables":{"a":12345678901234567890}}',
      headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json; charset=UTF-8' },
    })
    expect(response.statusCode).toBe(200)
    expect(response.body).toBe('{"data":{"ü":1}}')
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(response.headers['cache-control']).toBe('no-store')
    expect(served.at(-1)).toEqual({
      request: {
        query: 'ok',
        operationName: null,
        variables: { a: 12345678901234567890n },
        extensions: {},
        queryOnly: false,
      },
      caller: { role: 'authenticated', claims: '{"role":"authenticated","sub":"u1"}', user: 'u1' },
    })
  })

  it.each<[GraphqlOutcome, number, number]>([
    ['ok', 200, 200],
    ['invalid', 200, 400],
    ['failed', 200, 200],
    ['unauthorized', 401, 401],
    ['method-not-allowed', 405, 405],
    ['unavailable', 503, 503],
  ])('answers outcome %s with %i as JSON and %i as a GraphQL response', async (outcome, old, recent) => {
    expect((await post(outcome)).statusCode).toBe(old)
    const response = await post(outcome, { accept: modern })
    expect(response.statusCode).toBe(recent)
    expect(response.headers['content-type']).toBe(`${modern}; charset=utf-8`)
  })

  it('says when to come back, which method to use, and how to sign in', async () => {
    expect((await post('unavailable')).headers['retry-after']).toBe('1')
    expect((await post('method-not-allowed')).headers['allow']).toBe('POST')
    expect((await post('unauthorized')).headers['www-authenticate']).toBe('Bearer')
  })

  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['text/html, */*;q=0.1', 'application/json'],
    [modern, modern],
    [`${modern}, application/json`, modern],
    [`application/json, ${modern}`, 'application/json'],
    [`${modern};q=0.5, application/json;q=0.9`, 'application/json'],
    [`application/json;q=0, */*`, modern],
    ['APPLICATION/JSON; charset=utf-8', 'application/json'],
  ])('negotiates %s to %s', async (accept, media) => {
    const response = await post('ok', accept === undefined ? {} : { accept })
    expect(response.statusCode).toBe(200)
    expect(response.headers['content-type']).toBe(`${media}; charset=utf-8`)
  })

  const unknownMedia = ['text/html', 'application/json;q=0', 'image/*, text/*', 'application/json;q=x']
  it.each(unknownMedia)('cannot answer as %s', async (accept) => {
    const response = await post('ok', { accept })
    expect(response.statusCode).toBe(406)
    expect(codeOf(response)).toBe('NOT_ACCEPTABLE')
  })

  it.each<[string, number, string, Sent]>([
    ['no body', 400, 'BODY_MALFORMED', {}],
    ['an empty body', 400, 'BODY_MALFORMED', { body: '', headers: { 'content-type': 'application/json' } }],
    ['broken JSON', 400, 'BODY_MALFORMED', { body: '{"query":' }],
    ['a list', 400, 'BODY_MALFORMED', { body: '[{"query":"ok"}]' }],
    ['bytes that are no UTF-8', 400, 'BODY_MALFORMED', { body: Buffer.from('{"query":"\xff"}', 'latin1') }],
    ['no query', 400, 'QUERY_MISSING', { body: '{}' }],
    ['variables in a list', 400, 'REQUEST_MALFORMED', { body: '{"query":"ok","variables":[]}' }],
    ['plain text', 415, 'MEDIA_TYPE_UNSUPPORTED', sentAs('text/plain')],
    ['a form', 415, 'MEDIA_TYPE_UNSUPPORTED', sentAs('application/x-www-form-urlencoded', 'query=ok')],
    ['another character set', 415, 'MEDIA_TYPE_UNSUPPORTED', sentAs('application/json; charset=utf-16')],
    ['a compressed body', 415, 'MEDIA_TYPE_UNSUPPORTED', { body: '{}', headers: { 'content-encoding': 'gzip' } }],
    ['a large body', 413, 'BODY_TOO_LARGE', { body: JSON.stringify({ query: 'x'.repeat(3000) }) }],
    ['no key', 401, 'KEY_MISSING', { body: '{"query":"ok"}', headers: { apikey: '' } }],
    ['a wrong key', 401, 'KEY_INVALID', { body: '{"query":"ok"}', headers: { apikey: 'x' } }],
    ['a wrong token', 401, 'TOKEN_INVALID', { body: '{"query":"ok"}', headers: { authorization: 'Bearer x.y.z' } }],
    ['PUT', 405, 'METHOD_NOT_ALLOWED', { method: 'PUT', body: 'x', headers: { 'content-type': 'text/plain' } }],
    ['DELETE', 405, 'METHOD_NOT_ALLOWED', { method: 'DELETE' }],
  ])('refuses %s with %i', async (_, status, code, sent) => {
    const before = served.length
    for (const accept of ['application/json', modern]) {
      const response = await send({ ...sent, headers: { ...sent.headers, accept } })
      expect(response.statusCode).toBe(status)
      expect(codeOf(response)).toBe(code)
      expect(response.headers['access-control-allow-origin']).toBe('*')
      expect(response.headers['x-request-id']).toBeTruthy()
    }
    expect(served.length).toBe(before)
  })

  it('words its refusals as clients know them', async () => {
    const messages = await Promise.all([
      send({ body: '{"query":"ok"}', headers: { apikey: '' } }),
      send({ body: '{"query":"ok"}', headers: { apikey: 'x' } }),
      send({ body: '{}' }),
      send({ body: '{"query":"ok","variables":3}' }),
    ])
    const messageOf = (body: string) => (JSON.parse(body) as { errors: { message: string }[] }).errors[0]?.message
    expect(messages.map(({ body }) => messageOf(body))).toEqual([
      'No API key found in request',
      'Invalid API key',
      'Must provide query string.',
      'variables must be an object',
    ])
    expect((await send({ method: 'PUT' })).headers['allow']).toBe('GET, HEAD, POST, OPTIONS')
  })

  it('answers an unforeseen failure with one sentence and reports the rest to the log only', async () => {
    const response = await post('explode', { 'x-request-id': 'my-id' })
    expect(response.statusCode).toBe(500)
    expect(codeOf(response)).toBe('INTERNAL')
    expect(response.body).toContain('my-id')
    expect(response.body).not.toMatch(/passwords|Error|\.ts/)
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'request-failed',
        requestId: 'my-id',
        detail: expect.stringContaining('passwords'),
      }),
    )
  })
})

describe('GET /graphql/v1', () => {
  const get = (parameters: Readonly<Record<string, string>>, headers = {}) =>
    send({ method: 'GET', url: `/graphql/v1?${new URLSearchParams(parameters).toString()}`, headers })

  it('asks, and may only read', async () => {
    const response = await get({ query: 'ok', variables: '{"a":"b c+d"}', operationName: 'A' })
    expect(response.statusCode).toBe(200)
    expect(served.at(-1)?.request).toEqual({
      query: 'ok',
      operationName: 'A',
      variables: { a: 'b c+d' },
      extensions: {},
      queryOnly: true,
    })
  })

  it('is refused as a POST is', async () => {
    expect(codeOf(await get({}))).toBe('QUERY_MISSING')
    expect(codeOf(await get({ query: 'ok', variables: '7' }))).toBe('BODY_MALFORMED')
    expect(codeOf(await get({ query: 'ok' }, { apikey: '' }))).toBe('KEY_MISSING')
  })
})

describe('every address', () => {
  it('lets pages of any origin ask what they may send, without a key', async () => {
    const response = await exchange('OPTIONS', '/graphql/v1', {
      origin: 'https://a.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'apikey,x-my-client',
    })
    expect(response.statusCode).toBe(204)
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers': 'apikey,x-my-client',
    })
    const plain = await exchange('OPTIONS', '/anything', {})
    expect(plain.statusCode).toBe(204)
    expect(plain.headers['access-control-allow-headers']).toMatch(/authorization, apikey, content-type/)
  })

  it('carries the request id that was sent when it is harmless, else a new one', async () => {
    const idOf = async (sent: string) => (await post('ok', { 'x-request-id': sent })).headers['x-request-id']
    expect(await idOf('Abc-1.2:3/4=')).toBe('Abc-1.2:3/4=')
    expect(await idOf('a b')).toMatch(/^[0-9a-f-]{36}$/)
    expect(await idOf('x'.repeat(200))).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('is logged without its query string', async () => {
    const url = '/graphql/v1?query=ok&variables={"password":"hunter2"}'
    await send({ method: 'GET', url, headers: { 'x-request-id': 'log-me' } })
    const logged = events.filter((event) => event.kind === 'request' && event.requestId === 'log-me')
    expect(logged).toMatchObject([{ method: 'GET', path: '/graphql/v1', status: 200 }])
    expect(JSON.stringify(events)).not.toContain('hunter2')
  })

  it('that does not exist, or cannot be read, is answered in JSON', async () => {
    const response = await exchange('GET', '/nowhere', {})
    expect(response.statusCode).toBe(404)
    expect(JSON.parse(response.body)).toEqual({ code: 'NOT_FOUND', message: 'No resource exists at this address.' })
    expect(response.headers['access-control-allow-origin']).toBe('*')
    expect((await exchange('GET', '/graphql/%E0%A4%A', {})).statusCode).toBe(400)
  })
})
