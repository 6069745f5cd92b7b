import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { buildApp, type AppParts } from '../../../runtime/app.ts'
import { LongBody } from '../../../runtime/http/bodies.ts'
import { createServers, endWithAnswers, giveUp, type ServerLimits } from '../../../runtime/http/servers.ts'
import { createByteBudget } from '../../../runtime/lib/byte-budget.ts'
import { healthy } from '../../support/healthy.ts'

/** Faults of clients on real sockets; times are short here, and the usual ones are tested elsewhere. */

const mebibyte = 1_048_576

let app: FastifyInstance | null = null
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await app?.close()
  app = null
})

type Serve = AppParts['serving']['serve']

const answers = createByteBudget({ bytes: 128 * mebibyte, share: 32 * mebibyte })

interface Listening {
  readonly port: number
  readonly servers: ReturnType<typeof createServers>
}

const listen = async (serve: Serve, limits: Partial<ServerLimits> = {}): Promise<Listening> => {
  const servers = createServers({
    headerBytes: 16_384,
    headersMs: 600,
    requestMs: 600,
    pace: () => ({ withinMs: 1_000, slowest: 65_536 }),
    connections: 1_000,
    streams: 0,
    connectionsOfAddress: 500,
    ...limits,
  })
  app = buildApp({
    servers,
    answers,
    authenticate: async () => ({ kind: 'caller', caller: { role: 'anon', claims: '{}' } }),
    serving: { serve },
    health: healthy,
    log: () => undefined,
    bodyLimitBytes: mebibyte,
    logsRequests: false,
    requestTimeoutMs: 0,
    auth: null,
  }).fastify
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { port: (app.server.address() as AddressInfo).port, servers }
}

/** A client that sends given bytes and keeps those that it receives. */
const client = async (port: number): Promise<Client> => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  sockets.push(socket)
  const heard: Buffer[] = []
  socket.on('data', (chunk: Buffer) => heard.push(chunk))
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const closed = new Promise<void>((resolve) => void socket.once('end', resolve).once('close', resolve))
  return { socket, heard: () => Buffer.concat(heard).toString('utf8'), closed }
}

interface Client {
  readonly socket: Socket
  readonly heard: () => string
  readonly closed: Promise<unknown>
}

const head = (length: number): string =>
  `POST /graphql/v1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
const question = '{"query":"{ a }"}'
const asked = head(question.length) + question

const ok: Serve = () => ({ outcome: 'ok', body: '{"data":{}}' })

const statuses = (heard: string): readonly string[] =>
  [...heard.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, one]) => one ?? '')
const isOpenToPages = /^access-control-allow-origin: \*\r$/im

/** Writes one character after the other until the peer closes. */
const trickle = async ({ socket }: Client, text: string): Promise<void> => {
  for (const letter of text) {
    if (socket.destroyed || !socket.writable) return
    socket.write(letter)
    await pause(50)
  }
}

describe('a request that does not come in time', () => {
  it.each([
    ['is never begun', ''],
    ['has headers without end', `GET / HTTP/1.1\r\nHost: x\r\n${'x-y: z\r\n'.repeat(100)}`],
  ])('%s: 408 that pages can read', async (_name, text) => {
    const { port } = await listen(ok)
    const one = await client(port)
    void trickle(one, text)
    await one.closed
    expect(statuses(one.heard())).toEqual(['408'])
    expect(one.heard()).toMatch(isOpenToPages)
    expect(one.heard()).toContain('{"code":"REQUEST_TIMEOUT","message":"The request did not arrive in time."}')
  })
  it('has a body without end: 408 in the form of its area', async () => {
    const { port } = await listen(ok)
    const one = await client(port)
    one.socket.write(head(1_000))
    void trickle(one, question.padEnd(1_000))
    await one.closed
    expect(statuses(one.heard())).toEqual(['408'])
    expect(one.heard()).toMatch(isOpenToPages)
    expect(one.heard()).toContain('"errors":[{"message":"The request did not arrive in time."')
  })
  it('while one whose answer takes longer than that is answered', async () => {
    const { port } = await listen(async () => {
      await pause(1_500)
      return { outcome: 'ok', body: '{"data":{}}' }
    })
    const one = await client(port)
    one.socket.write(asked)
    await expect.poll(one.heard, { timeout: 5_000 }).toContain('{"data":{}}')
  })
})

describe('bytes that are not a request', () => {
  it.each([
    ['headers', `GET / HTTP/1.1\r\nHost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, '431', 'HEADERS_TOO_LARGE'],
    ['words', 'Good morning!\r\n\r\n', '400', 'REQUEST_MALFORMED'],
    [
      'chunks',
      'POST /graphql/v1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      '400',
      '"extensions":{"code":"REQUEST_MALFORMED"}',
    ],
  ])('are refused for their %s so that pages can read it', async (_name, text, status, said) => {
    const { port } = await listen(ok)
    const one = await client(port)
    one.socket.write(text)
    await one.closed
    expect(statuses(one.heard())).toEqual([status])
    expect(one.heard()).toMatch(isOpenToPages)
    expect(one.heard()).toContain(said)
  })
})

describe('an unread answer', () => {
  const long = new LongBody(['{"data":"', Buffer.alloc(12 * mebibyte, 'x'), '"}'])

  it('is counted, and given up with its connection after the time for it', async () => {
    const { port } = await listen(() => ({ outcome: 'ok', body: long }))
    const one = await client(port)
    one.socket.pause()
    one.socket.write(asked)
    await expect.poll(() => answers.usage.bytes).toBe(long.bytes)
    await expect.poll(() => answers.usage.bytes, { timeout: 5_000 }).toBe(0)
    one.socket.resume()
    await one.closed
    expect(one.heard().length).toBeLessThan(long.bytes)
  })
  it('or only a little now and then, ends as well', async () => {
    const { port } = await listen(() => ({ outcome: 'ok', body: long }), {
      pace: () => ({ withinMs: 1_000, slowest: 100 * mebibyte }),
    })
    const one = await client(port)
    one.socket.write(asked)
    one.socket.on('data', () => {
      one.socket.pause()
      setTimeout(() => one.socket.resume(), 50)
    })
    await expect.poll(() => answers.usage.bytes).toBe(long.bytes)
    await expect.poll(() => answers.usage.bytes, { timeout: 5_000 }).toBe(0)
    expect(one.heard().length).toBeLessThan(long.bytes)
  })
  it('is whole for who reads it, as long as it says, and counted no longer', async () => {
    const { port } = await listen(() => ({ outcome: 'ok', body: long }))
    const response = await fetch(`http://127.0.0.1:${port}/graphql/v1?query=x`)
    expect(response.headers.get('content-length')).toBe(String(long.bytes))
    expect(response.headers.get('transfer-encoding')).toBeNull()
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(long.toString()))).toBe(true)
    await expect.poll(() => answers.usage.bytes).toBe(0)
    const none = await fetch(`http://127.0.0.1:${port}/graphql/v1?query=x`, { method: 'HEAD' })
    expect([none.headers.get('content-length'), await none.text()]).toEqual([String(long.bytes), ''])
    await expect.poll(() => answers.usage.bytes).toBe(0)
  })
})

describe('requests that one connection sends at once', () => {
  it('are handled one after the other, and answered in order', async () => {
    let [running, most, count] = [0, 0, 0]
    const { port } = await listen(async () => {
      running += 1
      most = Math.max(most, running)
      await pause(Math.random() * 5)
      running -= 1
      count += 1
      return { outcome: 'ok', body: `{"data":{"n":${count}}}` }
    })
    const one = await client(port)
    one.socket.write(asked.repeat(50))
    await expect.poll(() => statuses(one.heard()).length, { timeout: 5_000 }).toBe(50)
    const numbers = [...one.heard().matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n))
    expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
    expect(most).toBe(1)
  })
  it('end with it when they are too many', async () => {
    let begun = 0
    const { port } = await listen(async () => {
      begun += 1
      await pause(2_000)
      return { outcome: 'ok', body: '{}' }
    })
    const one = await client(port)
    one.socket.write('GET /graphql/v1?query=x HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(5_000))
    await one.closed
    expect(begun).toBe(1)
  })
})

describe('the connections of one address', () => {
  it('are so many, and more are refused until some of them end', async () => {
    const { port } = await listen(ok, { connectionsOfAddress: 5 })
    const five = await Promise.all(Array.from({ length: 5 }, () => client(port)))
    const sixth = await client(port)
    sixth.socket.write(asked)
    await sixth.closed
    expect(statuses(sixth.heard())).toEqual(['503'])
    expect(sixth.heard()).toMatch(/^retry-after: 1\r$/im)
    for (const { socket } of [sixth, ...five.slice(0, 1)]) socket.destroy()
    await expect
      .poll(
        async () => {
          const one = await client(port)
          one.socket.write(asked)
          await pause(100)
          one.socket.destroy()
          return statuses(one.heard())
        },
        { timeout: 5_000 },
      )
      .toEqual(['200'])
  })
})

describe('bodies that lack a byte', () => {
  it('take a share of the memory and no more, and short ones none', async () => {
    const { port } = await listen(ok, { requestMs: 20_000, headersMs: 20_000 })
    const clients = await Promise.all(Array.from({ length: 30 }, () => client(port)))
    for (const { socket } of clients) socket.write(head(mebibyte) + ' '.repeat(mebibyte - 1))
    const refused = (): number => clients.filter(({ heard }) => statuses(heard()).includes('503')).length
    await expect.poll(refused, { timeout: 5_000 }).toBe(14)
    const told = clients.map(({ heard }) => heard()).find((heard) => heard.includes(' 503 ')) ?? ''
    expect(told).toContain('"extensions":{"code":"OVERLOADED"}')
    expect(told).toMatch(/^retry-after: 1\r$/im)
    expect(told).toMatch(isOpenToPages)
    const short = await client(port)
    short.socket.write(asked)
    await expect.poll(() => statuses(short.heard())).toEqual(['200'])
    for (const { socket } of clients) socket.write('}')
    const malformed = (): number => clients.filter(({ heard }) => statuses(heard()).includes('400')).length
    await expect.poll(malformed, { timeout: 5_000 }).toBe(16)
    const late = await client(port)
    late.socket.write(head(mebibyte) + question.padEnd(mebibyte))
    await expect.poll(() => statuses(late.heard())).toEqual(['200'])
  })
})

describe('a server that is about to end', () => {
  it('ends each connection with its answer, and gives what has none a bare one', async () => {
    const releases: (() => void)[] = []
    const { port, servers } = await listen(async () => {
      await new Promise<void>((resolve) => releases.push(resolve))
      return { outcome: 'ok', body: '{"data":{}}' }
    })
    const [first, second] = [await client(port), await client(port)]
    for (const one of [first, second]) one.socket.write(asked)
    await expect.poll(() => releases.length).toBe(2)
    endWithAnswers(servers)
    releases[0]?.()
    await first.closed
    expect(first.heard()).toMatch(/^connection: close\r$/im)
    giveUp(servers, 'SERVER_STOPPING')
    await second.closed
    expect(statuses(second.heard())).toEqual(['503'])
    expect(second.heard()).toContain('"SERVER_STOPPING"')
    releases[1]?.()
  })
})
