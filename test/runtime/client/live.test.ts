import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createClient, type Client, type ClientOptions, type GraphqlResult } from '../../../runtime/client/client.ts'
import type { Environment, Socket } from '../../../runtime/client/environment.ts'
import { credentialCodes, passingCodes } from '../../../runtime/client/live/end.ts'
import { failures } from '../../../runtime/graphql/protocol/failures.ts'
import { failureTable } from '../../../runtime/http/boundary.ts'
import { forSuite } from '../../support/for-suite.ts'
import { startLivePeer } from '../../support/live-peer.ts'
import { createStorage } from '../../support/browser.ts'

/** Streams of the client library, with the servers that others wrote for the two protocols. */

const peer = forSuite(startLivePeer)

const clients: Client[] = []
beforeEach(() => {
  peer.refuse(null)
  peer.say(['one'])
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  await expect.poll(peer.streams).toBe(0)
})

/** Node 20 has none of its own. */
const openSocket: Environment['openSocket'] = (url, protocol) => new WebSocket(url, protocol) as unknown as Socket
/** Pauses that a test need not wait for. */
const quickly: Environment['after'] = (milliseconds, work) => {
  const timer = setTimeout(work, milliseconds / 50)
  return () => clearTimeout(timer)
}

function open(options: ClientOptions = {}): Client {
  const client = createClient(peer.url, 'anon key', {
    ...options,
    environment: { openSocket, after: quickly, ...options.environment },
  })
  clients.push(client)
  return client
}

/** Time that passes when a test says so. */
function createClock(start = 0) {
  const beats = new Set<() => void>()
  let now = start
  const every: Environment['every'] = (_milliseconds, work) => {
    beats.add(work)
    return () => beats.delete(work)
  }
  return {
    every,
    now: () => now,
    /** To the next beat of whatever beats. */
    pass: (milliseconds: number): void => {
      now += milliseconds
      for (const beat of [...beats]) beat()
    },
  }
}

interface Titles {
  readonly titles: readonly string[]
}
const document = 'subscription ($first: Int) { titles(first: $first) }'

/** A stream with all that it has delivered. */
function watch(client: Client, text = document) {
  const heard: GraphqlResult<Titles>[] = []
  const interruptions: string[] = []
  let mended = 0
  const stream = client.live<Titles>(text, { first: 2 }, (result) => heard.push(result), {
    onConnection: (lost) => (lost === null ? (mended += 1) : interruptions.push(lost.code)),
  })
  return {
    ...stream,
    interruptions,
    mended: () => mended,
    titles: () => heard.map(({ data, error }) => data?.titles.join() ?? error?.code),
    ended: () => stream.done.then(({ error }) => error?.code ?? null),
    error: () => heard.at(-1)?.error,
  }
}

const transports = ['websocket', 'sse'] as const

describe.each(transports)('streams by %s', (transport) => {
  const client = (options: ClientOptions = {}): Client => open({ live: { transport }, ...options })

  it('report the current answer and each later one, until they are stopped', async () => {
    const stream = watch(client())
    await expect.poll(stream.titles).toEqual(['one'])
    peer.say(['one', 'two'])
    await expect.poll(stream.titles).toEqual(['one', 'one,two'])
    stream.stop()
    expect(await stream.ended()).toBeNull()
    await expect.poll(peer.streams).toBe(0)
    peer.say(['three'])
    expect(stream.titles()).toEqual(['one', 'one,two'])
  })

  it('are connected again when the connection is lost, and report nothing that is as before', async () => {
    const stream = watch(client())
    await expect.poll(stream.titles).toEqual(['one'])
    peer.cut()
    await expect.poll(() => stream.interruptions).toEqual(['network_failure'])
    await expect.poll(stream.mended).toBe(1)
    peer.cut()
    await expect.poll(() => stream.interruptions).toHaveLength(2)
    peer.say(['two'])
    await expect.poll(stream.titles).toEqual(['one', 'two'])
    expect(stream.mended()).toBe(2)
  })

  it('are tried again while the service says that it will be there again', async () => {
    peer.refuse({
      status: 503,
      body: '{"errors":[{"message":"Later","extensions":{"code":"SERVER_STOPPING"}}]}',
      code: 1013,
    })
    const stream = watch(client())
    await expect.poll(() => stream.interruptions.length).toBeGreaterThan(2)
    peer.refuse(null)
    await expect.poll(stream.titles).toEqual(['one'])
  })

  it('end with what the service refuses', async () => {
    const stream = watch(client(), 'subscription { nothing }')
    expect(await stream.ended()).not.toBeNull()
    expect(stream.error()?.errors[0]?.message ?? stream.error()?.message).toMatch(/nothing/)
    expect([stream.titles().length, stream.interruptions]).toEqual([1, []])
  })

  it('end with a key that is refused', async () => {
    peer.refuse({ status: 401, body: '{"message":"Invalid API key"}', code: 4403 })
    const stream = watch(client())
    expect(await stream.ended()).toBe('bad_api_key')
    expect([stream.titles(), stream.interruptions]).toEqual([['bad_api_key'], []])
  })

  it('end with an error for an invalid document, and not within the call', async () => {
    const heard: unknown[] = []
    const listener = (result: unknown): void => void heard.push(result)
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const streams = [client().live(document, circle, listener), client().live({ kind: 'A' } as never, {}, listener)]
    expect(heard).toEqual([])
    const ends = await Promise.all(streams.map(({ done }) => done))
    expect(ends.map(({ error }) => error?.code)).toEqual(['unexpected_failure', 'unexpected_failure'])
    expect(heard).toHaveLength(2)
  })

  it('go on when a listener throws', async () => {
    const noted = vi.spyOn(console, 'error').mockReturnValue()
    const [first, heard] = [client(), [] as unknown[]]
    first.live(document, {}, (result) => {
      heard.push(result)
      throw new Error('Of the listener')
    })
    first.live(document, {}, async () => Promise.reject(new Error('Later')))
    const other = watch(first)
    await expect.poll(other.titles).toEqual(['one'])
    peer.say(['two'])
    await expect.poll(other.titles).toEqual(['one', 'two'])
    await expect.poll(() => heard.length).toBe(2)
    expect(noted).toHaveBeenCalledTimes(4)
    noted.mockRestore()
  })

  it('stop with a signal, and with their client', async () => {
    const first = client()
    const stop = new AbortController()
    const byClient = watch(first)
    const ended = first.live(document, {}, () => undefined, { signal: stop.signal }).done
    await expect.poll(peer.streams).toBe(2)
    stop.abort()
    expect(await ended).toEqual({ error: null })
    expect(await first.live(document, {}, () => undefined, { signal: stop.signal }).done).toEqual({ error: null })
    first.close()
    expect(await byClient.ended()).toBeNull()
    await expect.poll(peer.streams).toBe(0)
  })

  it('notice a connection that is dead', async () => {
    const clock = createClock()
    const stream = watch(client({ environment: { openSocket, after: quickly, ...clock } }))
    await expect.poll(stream.titles).toEqual(['one'])
    peer.freeze()
    peer.say(['two'])
    await expect.poll(() => (clock.pass(15_000), stream.interruptions)).toEqual(['network_failure'])
    await expect.poll(stream.titles).toEqual(['one', 'two'])
    peer.cut()
  })

  it('wait longer and longer, not in step, and no longer once the network is back', async () => {
    peer.refuse({ status: 503, body: '', code: 1013 })
    const pauses: { readonly milliseconds: number; readonly work: () => void }[] = []
    const after: Environment['after'] = (milliseconds, work) => {
      if (milliseconds === 0 || milliseconds === 10_000) return quickly(milliseconds, work)
      const pause = { milliseconds, work }
      pauses.push(pause)
      return () => undefined
    }
    const listeners = new Set<() => void>()
    const network: Environment['network'] = {
      addEventListener: (_event, listener) => listeners.add(listener),
      removeEventListener: (_event, listener) => listeners.delete(listener),
    }
    const stream = watch(client({ environment: { openSocket, after, network } }))
    for (let count = 1; count <= 9; count += 1) {
      await expect.poll(() => pauses.length).toBe(count)
      if (count < 9) pauses[count - 1]?.work()
    }
    const most = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]
    for (const [at, { milliseconds }] of pauses.entries()) {
      expect(milliseconds).toBeLessThanOrEqual(most[at] ?? 0)
      expect(milliseconds).toBeGreaterThanOrEqual((most[at] ?? 0) / 2)
    }
    expect(new Set(pauses.slice(6).map(({ milliseconds }) => milliseconds)).size).toBe(3)
    peer.refuse(null)
    for (const listener of listeners) listener()
    await expect.poll(stream.titles).toEqual(['one'])
    stream.stop()
    await expect.poll(() => listeners.size).toBe(0)
  })
})

describe.each(transports)('the caller of a stream by %s', (transport) => {
  const ada = '00000000-0000-4000-8000-000000000001'
  const eve = '00000000-0000-4000-8000-000000000002'
  const session = (token: string, id = ada, expires_at = 4_000_000_000) => ({
    access_token: token,
    refresh_token: `to refresh ${token}`,
    token_type: 'bearer',
    expires_in: 3600,
    expires_at,
    user: { id, aud: 'authenticated', app_metadata: {}, user_metadata: {}, created_at: '2026-01-01T00:00:00Z' },
  })

  /** A client with the session that is stored, and the one that auth answers. */
  function signedIn(stored: object | null, answered: object, environment: Partial<Environment> = {}): Client {
    const storage = createStorage()
    if (stored !== null) void storage.setItem('mine', JSON.stringify(stored))
    return open({
      live: { transport },
      auth: { storage, storageKey: 'mine', autoRefreshToken: false },
      environment: { openSocket, after: quickly, ...environment },
      fetch: async (input, init) => (String(input).includes('/auth/v1') ? Response.json(answered) : fetch(input, init)),
    })
  }
  const tokens = (): readonly unknown[] => peer.greetings.map(({ authorization }) => authorization)

  it('goes on with a new token, and neither misses nor repeats an answer', async () => {
    const before = peer.greetings.length
    const client = signedIn(session('A'), session('B'))
    const stream = watch(client)
    await expect.poll(stream.titles).toEqual(['one'])
    await client.auth.refreshSession()
    peer.say(['two'])
    await expect.poll(() => tokens().slice(before)).toEqual(['Bearer A', 'Bearer B'])
    peer.say(['three'])
    await expect.poll(() => stream.titles().at(-1)).toBe('three')
    expect(new Set(stream.titles()).size).toBe(stream.titles().length)
    expect(stream.interruptions).toEqual([])
    await expect.poll(peer.streams).toBe(1)
  })

  it('renews the token before it ends, where no other code does', async () => {
    const clock = createClock()
    const before = peer.greetings.length
    const stream = watch(signedIn(session('A', ada, 3_600), session('B'), clock))
    await expect.poll(stream.titles).toEqual(['one'])
    clock.pass(1_000_000)
    expect(tokens().slice(before)).toEqual(['Bearer A'])
    clock.pass(2_520_000)
    await expect.poll(() => tokens().slice(before)).toEqual(['Bearer A', 'Bearer B'])
    expect(stream.titles()).toEqual(['one'])
  })

  it('keeps its token when the connection was lost', async () => {
    const before = peer.greetings.length
    const stream = watch(signedIn(session('A'), session('B')))
    await expect.poll(stream.titles).toEqual(['one'])
    for (const count of [2, 3]) {
      peer.cut()
      await expect.poll(() => tokens().slice(before)).toEqual(Array.from({ length: count }, () => 'Bearer A'))
    }
  })

  it('exchanges a token that the service refuses, once', async () => {
    const refusal = { status: 401, body: '{"message":"JWT expired"}', code: 4403 }
    const before = peer.greetings.length
    peer.refuse(refusal, 'A')
    const stream = watch(signedIn(session('A'), session('B')))
    await expect.poll(stream.titles).toEqual(['one'])
    expect([tokens().slice(before), stream.interruptions]).toEqual([['Bearer B'], []])
    peer.refuse(refusal)
    expect(await watch(signedIn(session('A'), session('B'))).ended()).toBe('bad_api_key')
  })

  it('ends its streams by signing out', async () => {
    const client = signedIn(session('A'), {})
    const stream = watch(client)
    await expect.poll(stream.titles).toEqual(['one'])
    await client.auth.signOut()
    peer.say(['two'])
    expect(await stream.ended()).toBeNull()
    expect(stream.titles()).toEqual(['one'])
    const next = watch(client)
    await expect.poll(next.titles).toEqual(['two'])
  })

  it('is one user: the streams of a user end when another signs in', async () => {
    const client = signedIn(session('A'), session('E', eve))
    const stream = watch(client)
    await expect.poll(stream.titles).toEqual(['one'])
    await client.auth.signInWithPassword({ email: 'eve@example.com', password: 'x' })
    expect(await stream.ended()).toBeNull()
  })

  it('may be signed out first: streams that began then continue as the user who signs in', async () => {
    const before = peer.greetings.length
    const client = signedIn(null, session('A'))
    const stream = watch(client)
    await expect.poll(stream.titles).toEqual(['one'])
    await client.auth.signInWithPassword({ email: 'ada@example.com', password: 'x' })
    await expect.poll(() => tokens().slice(before)).toEqual(['Bearer anon key', 'Bearer A'])
    await client.auth.signOut()
    expect(await stream.ended()).toBeNull()
  })
})

describe('streams by WebSocket', () => {
  it('share one socket, which is closed with the last of them', async () => {
    const sockets: Socket[] = []
    const counted: Environment['openSocket'] = (url, protocol) => {
      const socket = new WebSocket(url, protocol) as unknown as Socket
      sockets.push(socket)
      return socket
    }
    const client = open({ environment: { openSocket: counted, after: quickly } })
    const streams = Array.from({ length: 20 }, () => watch(client))
    for (const { titles } of streams) await expect.poll(titles).toEqual(['one'])
    expect(sockets).toHaveLength(1)
    for (const { stop } of streams.slice(1)) stop()
    await expect.poll(peer.streams).toBe(1)
    // A page that changes its view.
    streams[0]?.stop()
    const next = watch(client)
    await expect.poll(next.titles).toEqual(['one'])
    expect(sockets).toHaveLength(1)
    next.stop()
    await expect.poll(() => (sockets[0] as unknown as WebSocket).readyState).toBe(WebSocket.CLOSED)
  })

  it('open with the key and the token', async () => {
    const before = peer.greetings.length
    const stream = watch(open())
    await expect.poll(stream.titles).toEqual(['one'])
    expect(peer.greetings.slice(before)).toEqual([{ apikey: 'anon key', authorization: 'Bearer anon key' }])
  })

  it('are not tried again where the other end says that it was spoken to wrongly', async () => {
    const stream = watch(open())
    await expect.poll(stream.titles).toEqual(['one'])
    peer.closeSockets(4400, 'Odd message')
    await stream.done
    expect([stream.error()?.message, stream.interruptions]).toEqual(['Odd message', []])
  })

  it('give up a socket that the server does not acknowledge', async () => {
    peer.refuse('silence')
    const stream = watch(open())
    await expect.poll(() => stream.interruptions).toEqual(['network_failure'])
    peer.refuse(null)
    await expect.poll(stream.titles).toEqual(['one'])
  })

  it('are refused where there are none, when they are asked for', () => {
    const options: ClientOptions = { live: { transport: 'websocket' }, environment: { openSocket: null } }
    expect(() => createClient(peer.url, 'key', options)).toThrow(TypeError)
  })

  it('end where the page may not open one', async () => {
    const stream = watch(
      open({
        environment: {
          openSocket: () => {
            throw new DOMException('The page came by TLS', 'SecurityError')
          },
        },
      }),
    )
    expect(await stream.ended()).toBe('unexpected_failure')
  })
})

it('the example of its page runs, word for word', async () => {
  const page = readFileSync(new URL('../../../docs/client.md', import.meta.url), 'utf8')
  const [, text = ''] = /## Live queries[^]*?```js\n([^]*?)```/.exec(page) ?? []
  const noted = vi.spyOn(console, 'log').mockReturnValue()
  const paused = text.replace('stream.stop()', 'await heard()\nstream.stop()')
  const folder = mkdtempSync(join(tmpdir(), 'live-example-'))
  const file = join(folder, 'example.mjs')
  writeFileSync(file, `export default async (catalograph, heard) => {${paused}}`)
  const { default: run } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    default: (catalograph: Client, heard: () => Promise<void>) => Promise<void>
  }
  await run(open(), () => vi.waitFor(() => expect(noted).toHaveBeenCalledWith(1)))
  rmSync(folder, { recursive: true })
  noted.mockRestore()
})

it('without WebSockets streams come by Server-Sent Events', async () => {
  const before = peer.greetings.length
  const stream = watch(open({ environment: { openSocket: null } }))
  await expect.poll(stream.titles).toEqual(['one'])
  expect(peer.greetings[before]).toMatchObject({
    apikey: 'anon key',
    accept: expect.stringContaining('text/event-stream'),
  })
})

it('a failure that says nothing of a request is tried again, by the tables of the service', () => {
  const ofGraphql = Object.entries(failures).filter(([, outcome]) => /^(unavailable|overloaded)$/.test(outcome))
  const ofHttp = Object.entries(failureTable).filter(
    ([, { status }]) => status >= 500 || /^(408|429)$/.test(`${status}`),
  )
  const passing = [...ofGraphql, ...ofHttp].map(([code]) => code)
  expect([...passingCodes]).toEqual([...new Set(passing)].sort())
  const ofCredentials = Object.entries(failureTable).filter(([, { status }]) => status === 401)
  expect([...credentialCodes]).toEqual(ofCredentials.map(([code]) => code).sort())
})
