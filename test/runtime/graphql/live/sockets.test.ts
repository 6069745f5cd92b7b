import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient, type Client } from 'graphql-ws'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { forSuite } from '../../../support/for-suite.ts'
import { openLiveServer } from '../../../support/live.ts'

/** spec/graphql.md 16.3, by WebSockets on a real database. */

const server = forSuite(openLiveServer, {
  settings: { CORS_ORIGINS: 'https://good.example', WRITE_TIMEOUT_MS: '1000' },
})

const closers: (() => void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) close()
  while (server.live.stats().sockets > 0) await pause(5)
  expect(server.live.stats().streams).toBe(0)
  await server.db.query(
    `delete from posts; insert into posts (id, title, big) values (1, 'one', 9007199254740993), (2, 'two', 2)`,
  )
})

const titles = 'subscription { postsCollection(orderBy: [{id: AscNullsLast}]) { edges { node { id title } } } }'
const address = (of = server): string => of.url.replace('http', 'ws')

/** A client that sends given messages, and keeps those that it receives. */
interface Raw {
  readonly socket: WebSocket
  readonly say: (message: object | string) => void
  readonly heard: () => Promise<string>
  readonly closed: Promise<readonly [code: number, reason: string]>
}

const raw = async (
  headers: Record<string, string> = {},
  protocols = ['graphql-transport-ws'],
  of = server,
): Promise<Raw> => {
  const socket = new WebSocket(address(of), protocols, { headers })
  closers.push(() => socket.terminate())
  const messages: string[] = []
  socket.on('message', (data: Buffer) => messages.push(data.toString()))
  const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)] as const)
  await once(socket, 'open')
  return {
    socket,
    say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    heard: async () => {
      while (messages.length === 0) await once(socket, 'message')
      return messages.shift() ?? ''
    },
    closed,
  }
}

const ready = async (claims: object = {}, of = server): Promise<Raw> => {
  const client = await raw({}, undefined, of)
  const { apikey, authorization } = of.headers(claims)
  client.say({ type: 'connection_init', payload: { apikey, authorization } })
  expect(await client.heard()).toBe('{"type":"connection_ack"}')
  return client
}

const subscribe = (id: string, query = titles, more: object = {}) => ({
  id,
  type: 'subscribe',
  payload: { query, ...more },
})

const library = (params: Record<string, unknown> = server.headers({})): Client => {
  const client = createClient({ url: address(), webSocketImpl: WebSocket, connectionParams: params, retryAttempts: 0 })
  closers.push(() => void client.dispose())
  return client
}

describe('a socket', () => {
  it('answers a client of graphql-ws', async () => {
    const results = library().iterate({ query: titles })
    expect(JSON.stringify((await results.next()).value)).toContain('two')
    await server.write(`update posts set title = 'uno' where id = 1`)
    expect(JSON.stringify((await results.next()).value)).toContain('uno')
    await results.return?.()
  })

  it('answers queries and mutations once', async () => {
    const client = await ready()
    client.say(subscribe('q', '{ postsCollection { edges { node { title } } } }'))
    expect(JSON.parse(await client.heard())).toMatchObject({ id: 'q', type: 'next', payload: { data: {} } })
    expect(JSON.parse(await client.heard())).toEqual({ id: 'q', type: 'complete' })
    client.say(subscribe('m', 'mutation { deleteFromPostsCollection(filter: {id: {eq: 1}}) { affectedCount } }'))
    expect(JSON.parse(await client.heard()).payload.data.deleteFromPostsCollection.affectedCount).toBe(1)
  })

  it('keeps every digit, of variables too', async () => {
    const client = await ready()
    const query = 'query ($big: BigInt!) { postsCollection(filter: {big: {eq: $big}}) { edges { node { big } } } }'
    client.say(
      `{"id":"1","type":"subscribe","payload":{"query":${JSON.stringify(query)},"variables":{"big":9007199254740993}}}`,
    )
    expect(await client.heard()).toContain('9007199254740993')
  })

  it('has many streams, each of which ends alone', async () => {
    const client = await ready()
    client.say(subscribe('a'))
    client.say(subscribe('b', titles.replace('title', 'owner')))
    await client.heard()
    await client.heard()
    client.say({ id: 'a', type: 'complete' })
    while (server.live.stats().streams > 1) await pause(5)
    await server.write(`update posts set owner = 'bob' where id = 1`)
    expect(JSON.parse(await client.heard()).id).toBe('b')
  })

  it('answers a document that is refused with an error', async () => {
    const client = await ready()
    client.say(subscribe('x', 'subscription { nothing }'))
    const message = JSON.parse(await client.heard())
    expect(message).toMatchObject({
      id: 'x',
      type: 'error',
      payload: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    })
    client.say({ id: 'y', type: 'subscribe', payload: {} })
    expect(JSON.parse(await client.heard()).payload[0].extensions.code).toBe('QUERY_MISSING')
    client.say(subscribe('x', '{ postsCollection { edges { node { id } } } }'))
    expect(JSON.parse(await client.heard()).type).toBe('next')
  })

  it('answers pings', async () => {
    const client = await raw()
    client.say({ type: 'ping', payload: { at: 1 } })
    expect(JSON.parse(await client.heard())).toEqual({ type: 'pong', payload: { at: 1 } })
    client.say({ type: 'ping' })
    expect(JSON.parse(await client.heard())).toEqual({ type: 'pong' })
  })

  it('takes credentials from headers, too', async () => {
    const client = await raw(server.headers({}))
    client.say({ type: 'connection_init' })
    expect(await client.heard()).toBe('{"type":"connection_ack"}')
  })

  it.each([
    ['what is no JSON', ['{'], 4400],
    ['a message of another type', [{ type: 'start' }], 4400],
    ['a subscribe message without an id', [{ type: 'subscribe', payload: { query: titles } }], 4400],
    ['a payload that is no object', [{ type: 'subscribe', id: '1', payload: [] }], 4400],
    ['a request before the connection is initialised', [subscribe('1')], 4401],
    ['a key that is wrong', [{ type: 'connection_init', payload: { apikey: 'wrong' } }], 4403],
    ['no key', [{ type: 'connection_init' }], 4403],
    ['a second initialisation', [{ type: 'connection_init' }, { type: 'connection_init' }], 4429],
  ])('is closed for %s', async (_name, messages, code) => {
    const client = await raw()
    for (const message of messages) client.say(message)
    expect((await client.closed)[0]).toBe(code)
  })

  it('is closed for an id that is in use', async () => {
    const client = await ready()
    client.say(subscribe('1'))
    client.say(subscribe('1'))
    expect(await client.closed).toEqual([4409, 'Subscriber for 1 already exists'])
  })

  it('is closed for messages that ask for nothing, when there are too many', async () => {
    const client = await ready()
    for (let number = 0; number < 301; number += 1) client.say({ type: number % 2 === 0 ? 'ping' : 'pong' })
    expect((await client.closed)[0]).toBe(4429)
    const other = await ready()
    for (let number = 0; number < 301; number += 1) other.say({ type: 'complete', id: `unknown ${number}` })
    expect((await other.closed)[0]).toBe(4429)
  })

  it('takes any number of operations, one after the other', async () => {
    const client = await ready()
    for (let number = 0; number < 400; number += 1) {
      client.say(subscribe(`${number}`))
      expect(await client.heard()).toContain('"type":"next"')
      client.say({ type: 'complete', id: `${number}` })
    }
    client.say({ type: 'ping' })
    expect(await client.heard()).toBe('{"type":"pong"}')
  })

  it('is closed without an initialisation after three seconds', async () => {
    const client = await raw()
    expect(await client.closed).toEqual([4408, 'Connection initialisation timeout'])
  })

  it('is closed for another subprotocol', async () => {
    const offered = new WebSocket(address(), ['graphql-ws'])
    closers.push(() => offered.terminate())
    const [error] = await once(offered, 'error')
    expect(String(error)).toContain('subprotocol')
    const none = await raw({}, [])
    expect(await none.closed).toEqual([4406, 'Subprotocol not acceptable'])
  })

  it('is closed for a message that is longer than a body may be', async () => {
    const client = await ready()
    client.say(subscribe('1', 'x'.repeat(1_100_000)))
    expect((await client.closed)[0]).toBe(1009)
  })

  /** Sends the beginning of a message and nothing more of it. */
  const begin = (client: Raw, bytes: number): void => client.socket.send('x'.repeat(bytes), { fin: false })

  it('is closed for a long message before its key is known, and may be long enough for a token', async () => {
    const client = await raw()
    begin(client, 200_000)
    expect((await client.closed)[0]).toBe(1009)
    const other = await raw()
    const { apikey, authorization } = server.headers({ note: 'x'.repeat(30_000) })
    other.say({ type: 'connection_init', payload: { apikey, authorization } })
    expect(await other.heard()).toBe('{"type":"connection_ack"}')
  })

  it('shares the memory of incomplete bodies, and gives it back', async () => {
    const clients = []
    for (let index = 0; index < 18; index += 1) clients.push(await ready({ sub: `unfinished ${index}` }))
    for (const client of clients) begin(client, 1_000_000)
    const [code] = await Promise.race(clients.map(({ closed }) => closed))
    expect(code).toBe(1013)
    for (const client of clients) client.socket.terminate()
    const client = await ready()
    client.say(
      subscribe('1', `{ postsCollection(filter: {title: {eq: "${'x'.repeat(900_000)}"}}) { edges { cursor } } }`),
    )
    expect(await client.heard()).toContain('"id":"1"')
  })

  it('may be open for long, however many pings and messages it exchanges', async () => {
    const client = await ready()
    for (let round = 0; round < 4; round += 1) {
      for (let index = 0; index < 50; index += 1) client.socket.ping('x'.repeat(100))
      client.say(subscribe(String(round), `{ __typename } # ${'x'.repeat(40_000)}`))
      expect(await client.heard()).toContain('__typename')
      await client.heard()
    }
  })

  it('without a key counts as a connection, and few of them wait at a time', async () => {
    const clients = await Promise.all(Array.from({ length: 100 }, () => raw()))
    const more = new WebSocket(address(), 'graphql-transport-ws')
    more.on('error', () => undefined)
    const [, answer] = await once(more, 'unexpected-response')
    expect(answer.statusCode).toBe(503)
    const { apikey, authorization } = server.headers({})
    clients[0]?.say({ type: 'connection_init', payload: { apikey, authorization } })
    await clients[0]?.heard()
    await raw()
  })

  it('is closed when its token ends', async () => {
    const client = await ready({ exp: Math.floor(Date.now() / 1_000) + 2 })
    client.say(subscribe('1'))
    expect(await client.closed).toEqual([4403, 'Invalid token: it has expired'])
  })

  it('is one of twenty of a caller', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => ready({ sub: 'many' })))
    const client = await raw()
    const { apikey, authorization } = server.headers({ sub: 'many' })
    client.say({ type: 'connection_init', payload: { apikey, authorization } })
    expect((await client.closed)[0]).toBe(4429)
    all[0]?.socket.close()
    await all[0]?.closed
    await ready({ sub: 'many' })
    await ready({ sub: 'other' })
  })

  it('has a hundred streams of a caller, and one more is refused', async () => {
    const clients = [await ready({ sub: 'hundred' }), await ready({ sub: 'hundred' })] as const
    for (let id = 0; id < 100; id += 1) {
      const client = clients[id % 2 === 0 ? 0 : 1]
      client.say(subscribe(String(id), titles.replace('title', `a${id}: title`)))
      await client.heard()
    }
    clients[0].say(subscribe('more'))
    const refused = JSON.parse(await clients[0].heard())
    expect(refused).toMatchObject({ id: 'more', type: 'error', payload: [{ extensions: { code: 'OVERLOADED' } }] })
  })

  it('opens for pages of the listed origins only', async () => {
    const page = async (origin: string): Promise<number | 'open'> => {
      const socket = new WebSocket(address(), 'graphql-transport-ws', { origin })
      closers.push(() => socket.terminate())
      socket.on('error', () => undefined)
      return Promise.race([
        once(socket, 'open').then(() => 'open' as const),
        once(socket, 'unexpected-response').then(([, answer]) => Number(answer.statusCode)),
      ])
    }
    expect(await page('https://good.example')).toBe('open')
    expect(await page('https://evil.example')).toBe(403)
  })

  it('is not opened elsewhere, and other upgrades are answered as if they were not asked', async () => {
    const elsewhere = new WebSocket(address().replace('/graphql/v1', '/livez'), 'graphql-transport-ws')
    elsewhere.on('error', () => undefined)
    const [, answer] = await once(elsewhere, 'unexpected-response')
    expect(answer.statusCode).toBe(404)
    const { port, hostname } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    const body = JSON.stringify({ query: '{ __typename }' })
    socket.write(
      `POST /graphql/v1 HTTP/1.1\r\nHost: x\r\napikey: ${server.token({})}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const [data] = await once(socket, 'data')
    expect(String(data)).toMatch(/^HTTP\/1.1 200 OK[^]*\{"data":\{"__typename":"Query"\}\}$/)
    socket.destroy()
  })

  it('gives a client that does not read the newest answer, and keeps no queue', { timeout: 60_000 }, async () => {
    const patient = await openLiveServer()
    // Answers of twelve megabytes: a system keeps a few for a client before its server can know that it does not read.
    await patient.db.query(
      `insert into posts (id, title) select id, repeat('x', 400000) from generate_series(3, 31) id`,
    )
    const client = await ready({}, patient)
    client.say(subscribe('1'))
    await client.heard()
    client.socket.pause()
    const received: string[] = []
    client.socket.on('message', (data: Buffer) => received.push(data.toString()))
    let written = 0
    for (const runs = patient.runs(); patient.runs() < runs + 10; written += 1)
      await patient.write(`update posts set title = 'write ${written}' where id = 1`)
    client.socket.resume()
    while (!(received.at(-1) ?? '').includes(`write ${written - 1}`)) await once(client.socket, 'message')
    expect(received.length).toBeLessThan(7)
    client.socket.terminate()
    await patient.close()
  })

  it('is ended where its client takes nothing for too long', async () => {
    await server.db.query(
      `insert into posts (id, title) select id, repeat('x', 5000) from generate_series(10, 2000) id`,
    )
    const client = await ready()
    client.say(subscribe('1'))
    await client.heard()
    client.socket.pause()
    for (let n = 0; server.live.stats().sockets > 0; n += 1) {
      await server.write(`update posts set title = 'write ${n}' where id = 1`)
      await pause(60)
    }
    expect(server.live.stats().streams).toBe(0)
  })

  it('is closed by a server that stops in such a way that its client comes again', async () => {
    const other = await openLiveServer()
    const socket = new WebSocket(other.url.replace('http', 'ws'), 'graphql-transport-ws')
    await once(socket, 'open')
    const closed = once(socket, 'close')
    other.live.stop()
    expect((await closed)[0]).toBe(1001)
    await other.close()
  })
})
