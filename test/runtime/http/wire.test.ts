import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../runtime/app.ts'
import type { GraphqlRequest } from '../../../runtime/graphql/protocol/request-and-answer.ts'
import { healthy } from '../../support/healthy.ts'

/** Bytes on the wire that client libraries would normalize. */

const asked: GraphqlRequest[] = []
let app: FastifyInstance
let port: number

beforeAll(async () => {
  app = buildApp({
    authenticate: async ({ apikey }) =>
      apikey === 'key' ? { kind: 'caller', caller: { role: 'anon', claims: '{}' } } : { kind: 'key-invalid' },
    serving: {
      serve: async (request) => {
        asked.push(request)
        return { outcome: 'ok', body: '{"data":{}}' }
      },
    },
    health: healthy,
    log: () => undefined,
    bodyLimitBytes: 2048,
    logsRequests: true,
    requestTimeoutMs: 0,
    auth: null,
  }).fastify
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
afterAll(() => app.close())

/** Sends the text and gives back all that came until the peer closed or was silent for a while. */
const send = (text: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let received = ''
    socket.setTimeout(400, () => socket.destroy())
    socket.on('data', (chunk) => (received += chunk.toString('utf8')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(received))
  })
const statuses = (received: string): readonly number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

const body = '{"query":"{ __typename }"}'
const head = (first: string, headers: readonly string[]): string =>
  `${[first, 'Host: x', 'apikey: key', ...headers].join('\r\n')}\r\n\r\n`
const post = (headers: readonly string[], text = body): string =>
  head('POST /graphql/v1 HTTP/1.1', ['Content-Type: application/json', ...headers]) + text
const sized = (text = body): string => post([`Content-Length: ${Buffer.byteLength(text)}`], text)

describe('a refusal before all routes', () => {
  it('can be read by pages of every origin too', async () => {
    const received = await send(head('GET /auth/v1/%zz HTTP/1.1', []))
    expect(statuses(received)).toEqual([400])
    expect(received).toMatch(/^access-control-allow-origin: \*\r$/m)
  })
})

describe('on one connection', () => {
  it('requests that were sent at once are answered in order', async () => {
    const received = await send(sized() + head('GET /nowhere HTTP/1.1', []) + sized())
    expect(statuses(received)).toEqual([200, 404, 200])
  })
  it('a body in chunks is a body', async () => {
    const chunks = `${(10).toString(16)}\r\n${body.slice(0, 10)}\r\n${(body.length - 10).toString(16)}\r\n${body.slice(10)}\r\n0\r\n\r\n`
    asked.length = 0
    expect(statuses(await send(post(['Transfer-Encoding: chunked'], chunks) + sized()))).toEqual([200, 200])
    expect(asked.map(({ query }) => query)).toEqual(['{ __typename }', '{ __typename }'])
  })
  it('the rest of a body that is too large is never read as a request of its own', async () => {
    asked.length = 0
    const smuggled = sized()
    const padding = ' '.repeat(4096)
    const received = await send(sized(smuggled + padding))
    expect(statuses(received)[0]).toBe(413)
    expect(statuses(received)).not.toContain(200)
    expect(asked).toEqual([])
    const chunk = `${(8192).toString(16)}\r\n${smuggled.padEnd(8192)}\r\n0\r\n\r\n`
    expect(statuses(await send(post(['Transfer-Encoding: chunked'], chunk)))).not.toContain(200)
    expect(asked).toEqual([])
  })
  it('a request of two lengths is none', async () => {
    asked.length = 0
    for (const headers of [
      ['Content-Length: 5', 'Transfer-Encoding: chunked'],
      ['Content-Length: 5', `Content-Length: ${body.length}`],
      ['Transfer-Encoding: chunked, identity'],
    ]) {
      expect(statuses(await send(post(headers)))).not.toContain(200)
    }
    expect(asked).toEqual([])
  })
  it('HEAD is answered as GET without the body', async () => {
    const query = '/graphql/v1?query=%7B__typename%7D'
    const received = await send(head(`HEAD ${query} HTTP/1.1`, []) + head('GET /health HTTP/1.1', []))
    expect(statuses(received)).toEqual([200, 200])
    expect(received).not.toContain('{"data":{}}')
    expect(asked.at(-1)?.queryOnly).toBe(true)
  })
})

describe('the target of a request', () => {
  it.each([
    ['/graphql/v1', 200],
    ['/graphql/v1?x=1', 200],
    ['http://x/graphql/v1', 200],
    ['/graphql/v1/', 404],
    ['/graphql/v10', 404],
    ['http://x/graphql', 404],
  ])('may have the absolute form, and names one path: %s: %i', async (target, status) => {
    const request = head(`POST ${target} HTTP/1.1`, [
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ])
    expect(statuses(await send(request + body))).toEqual([status])
  })
})

describe('a key', () => {
  it('counts only in its header, and once', async () => {
    const bare = (path: string, keys: readonly string[]): string =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\n${keys.map((key) => `apikey: ${key}\r\n`).join('')}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    expect(statuses(await send(bare('/graphql/v1?apikey=key', [])))).toEqual([401])
    expect(statuses(await send(bare('/graphql/v1', ['key', 'other'])))).toEqual([401])
    expect(statuses(await send(bare('/graphql/v1', ['key'])))).toEqual([200])
  })
})

describe('a body', () => {
  it.each([
    ['application/json', 200],
    ['Application/JSON ; charset="UTF-8"', 200],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=utf-8; charset=utf-16', 415],
    ['application/jsonp', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/graphql', 415],
  ])('is JSON in UTF-8: %s: %i', async (type, status) => {
    const request = head('POST /graphql/v1 HTTP/1.1', [`Content-Type: ${type}`, `Content-Length: ${body.length}`])
    expect(statuses(await send(request + body))).toEqual([status])
  })
  it('is not compressed', async () => {
    expect(statuses(await send(post(['Content-Encoding: gzip', `Content-Length: ${body.length}`])))).toEqual([415])
  })
})
