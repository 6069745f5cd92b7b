import { once } from 'node:events'
import { request as requestOf, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'graphql-sse'
import { applyPatch } from 'rfc6902'
import { afterEach, describe, expect, it } from 'vitest'
import { openEvents, type EventClient } from '../../../support/event-client.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { openLiveServer } from '../../../support/live.ts'

/** spec/graphql.md 16.2 and 16.3, by Server-Sent Events on a real database. */

const server = forSuite(openLiveServer)
const opened: EventClient[] = []
afterEach(async () => {
  for (const stream of opened.splice(0)) stream.close()
  await until(() => server.live.stats().streams === 0)
  await server.db.query(
    `delete from posts; insert into posts (id, title, big) values (1, 'one', 9007199254740993), (2, 'two', 2)`,
  )
})

const titles = 'subscription { postsCollection(orderBy: [{id: AscNullsLast}]) { edges { node { id title } } } }'
const open = async (
  request: object = { query: titles },
  headers: Record<string, string> = {},
): Promise<EventClient> => {
  const stream = await openEvents(server.url, request, { ...server.headers({}), ...headers })
  opened.push(stream)
  return stream
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await pause(5)
}

const titlesOf = (data: string | undefined): readonly string[] =>
  JSON.parse(data ?? '').data.postsCollection.edges.map(({ node }: { node: { title: string } }) => node.title)

describe('a stream of events', () => {
  it('has the current answer first, and a new one when that changes', async () => {
    const stream = await open()
    expect(stream.type).toBe('text/event-stream; charset=utf-8')
    const first = await stream.next()
    expect(first?.event).toBe('next')
    expect(titlesOf(first?.data)).toEqual(['one', 'two'])
    await server.write(`update posts set title = 'uno' where id = 1`)
    expect(titlesOf((await stream.next())?.data)).toEqual(['uno', 'two'])
  })

  it('has no answer that is the one before', async () => {
    const stream = await open()
    await stream.next()
    const runs = server.runs()
    await server.write(`update posts set big = 7 where id = 2`)
    await until(() => server.runs() > runs)
    await server.write(`update posts set title = 'dos' where id = 2`)
    expect(titlesOf((await stream.next())?.data)).toEqual(['one', 'dos'])
    expect(stream.waiting()).toBe(0)
  })

  it('asks nothing while nothing changes', async () => {
    const stream = await open()
    await stream.next()
    const runs = server.runs()
    await pause(300)
    expect(server.runs()).toBe(runs)
  })

  it('makes one run of a burst, and one more of the changes during it', async () => {
    const stream = await open()
    await stream.next()
    const runs = server.runs()
    const release = server.holdRuns()
    await server.write(`update posts set title = 'a' where id = 1`)
    await until(() => server.runs() === runs + 1)
    for (const title of ['b', 'c', 'd']) await server.write(`update posts set title = '${title}' where id = 1`)
    release()
    await stream.next()
    const last = stream.waiting() > 0 ? await stream.next() : null
    expect(last).toBeNull()
    await until(() => server.runs() === runs + 2)
    await pause(100)
    expect(server.runs()).toBe(runs + 2)
  })

  it('shares runs with streams that ask the same, whatever their tokens', async () => {
    const runs = server.runs()
    const claims = { sub: 'ada', team: { id: 1 } }
    const first = await open(undefined, server.headers({ ...claims, iat: 1, jti: 'a', exp: 4_000_000_000 }))
    await first.next()
    const second = await open(undefined, server.headers({ ...claims, iat: 2, jti: 'b', exp: 4_000_000_001 }))
    await second.next()
    expect(server.live.stats()).toMatchObject({ streams: 2, watches: 1 })
    expect(server.runs()).toBe(runs + 2)
    await server.write(`update posts set title = 'uno' where id = 1`)
    expect(await first.next()).toEqual(await second.next())
    expect(server.runs()).toBe(runs + 3)
    await open(undefined, server.headers({ ...claims, team: { id: 2 } }))
    expect(server.live.stats()).toMatchObject({ streams: 3, watches: 2 })
  })

  it('shows a stream that joins what was committed before, reported or not', async () => {
    await (await open()).next()
    await server.db.query(`update posts set title = 'uno' where id = 1`)
    expect(titlesOf((await (await open()).next())?.data)).toEqual(['uno', 'two'])
  })

  it('keeps every digit, and JSON with line breaks is one event', async () => {
    await server.db.query(`update posts set body = E'{"a":\\r\\n [1,\\n2]}'::json where id = 1`)
    const query = 'subscription { postsCollection { edges { node { big body } } } }'
    const event = await (await open({ query })).next()
    expect(event?.data).toContain('9007199254740993')
    expect(JSON.parse(event?.data ?? '').data.postsCollection.edges[0].node.body).toBeTruthy()
  })

  it('goes on after the answer whose id the client names', async () => {
    const stream = await open()
    const first = await stream.next()
    stream.close()
    const again = await open(undefined, { 'last-event-id': first?.id ?? '' })
    await server.write(`update posts set title = 'uno' where id = 1`)
    const second = await again.next()
    expect(titlesOf(second?.data)).toEqual(['uno', 'two'])
    const late = await open(undefined, { 'last-event-id': first?.id ?? '' })
    expect(await late.next()).toEqual(second)
  })

  it('has patches of the answer before, where the client asks for them', async () => {
    const query = 'subscription { postsCollection { edges { node { nodeId id title big } } } }'
    const stream = await open({ query, extensions: { live: { patch: true } } })
    const whole = await open({ query })
    const first = JSON.parse((await stream.next())?.data ?? '')
    await whole.next()
    expect(server.live.stats().watches).toBe(1)
    await server.write(`update posts set title = 'uno', big = 9007199254740995 where id = 1`)
    const event = await stream.next()
    expect(event?.data).toContain('9007199254740995')
    const { patch } = JSON.parse(event?.data ?? '').extensions
    const answer = await whole.next()
    expect(applyPatch(first.data, patch)).toEqual([null, null])
    expect(first.data).toEqual(JSON.parse(answer?.data ?? '').data)
    expect(event?.id).toBe(answer?.id)
    await server.write(`update posts set title = 'x', big = 1`)
    expect(JSON.parse((await stream.next())?.data ?? '')).toHaveProperty('data')
  })

  it('ends with the errors that a query would get, once it fails', async () => {
    const stream = await open()
    await stream.next()
    await server.db.query(
      'create or replace function public.fails() returns boolean language plpgsql as $$ begin raise exception $m$no more$m$; end $$',
    )
    await server.db.query('create policy fails on posts as restrictive using (public.fails())')
    await server.write('select 1')
    const last = await stream.next()
    expect(JSON.parse(last?.data ?? '')).toMatchObject({
      data: null,
      errors: [{ message: expect.stringContaining('no more') }],
    })
    expect((await stream.next())?.event).toBe('complete')
    expect(await stream.next()).toBeNull()
    await server.db.query('drop policy fails on posts')
  })

  it('of one caller fails for that caller alone', async () => {
    await server.db.query(`create policy picky on posts as restrictive using
      (1 / (case when coalesce(current_setting('request.jwt.claims', true)::json ->> 'sub', '') = 'bad' and title = 'bad' then 0 else 1 end) = 1)`)
    await server.db.query(`update posts set owner = 'bad' where id = 1`)
    const bad = await open(undefined, server.headers({ sub: 'bad' }))
    const good = await open()
    await bad.next()
    await good.next()
    await server.write(`update posts set title = 'bad' where id = 1`)
    expect(JSON.parse((await bad.next())?.data ?? '').errors).toHaveLength(1)
    expect((await bad.next())?.event).toBe('complete')
    expect(titlesOf((await good.next())?.data)).toEqual(['bad', 'two'])
    await server.write(`update posts set title = 'good' where id = 1`)
    expect(titlesOf((await good.next())?.data)).toEqual(['good', 'two'])
    await server.db.query('drop policy picky on posts')
  })

  it('ends with the error of a document that a new schema does not know', async () => {
    const stream = await open({ query: 'subscription { postsCollection { edges { node { body } } } }' })
    const other = await open()
    await stream.next()
    await other.next()
    await server.db.query('alter table posts rename column body to text')
    server.listener.unsure('schema')
    expect(JSON.parse((await stream.next())?.data ?? '').errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
    expect((await stream.next())?.event).toBe('complete')
    await server.db.query('alter table posts rename column text to body')
    server.listener.unsure('schema')
    await server.write(`update posts set title = 'uno' where id = 1`)
    expect(titlesOf((await other.next())?.data)).toEqual(['uno', 'two'])
  })

  it('ends when the right to read is revoked', async () => {
    const stream = await open()
    await stream.next()
    await server.db.query('revoke select on posts from anon')
    server.listener.unsure('schema')
    expect(JSON.parse((await stream.next())?.data ?? '').errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
    expect((await stream.next())?.event).toBe('complete')
    await server.db.query('grant select on posts to anon')
  })

  it('ends with its token', async () => {
    const stream = await open(undefined, server.headers({ exp: Math.floor(Date.now() / 1_000) + 2 }))
    await stream.next()
    expect(JSON.parse((await stream.next())?.data ?? '').errors[0]).toEqual({
      message: 'Invalid token: it has expired',
      extensions: { code: 'TOKEN_INVALID' },
    })
    expect((await stream.next())?.event).toBe('complete')
  })

  it('asks again after an outage, and not in vain', async () => {
    const stream = await open()
    await stream.next()
    await server.db.query(`update posts set title = 'unheard' where id = 1`)
    server.listener.unsure('outage')
    expect(titlesOf((await stream.next())?.data)).toEqual(['unheard', 'two'])
  })

  it('has the newest answer for a client that did not read, and no queue', async () => {
    // Answers of twelve megabytes: a system keeps a few for a client before its server can know that it does not read.
    await server.db.query(`insert into posts (id, title) select id, repeat('x', 400000) from generate_series(3, 31) id`)
    const asking = requestOf(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...server.headers({}) },
    })
    asking.end(JSON.stringify({ query: titles.replace('AscNullsLast', 'DescNullsLast') }))
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    const heard: string[] = []
    let tail = ''
    response.setEncoding('utf8').on('data', (data: string) => {
      tail = (tail + data).slice(-100)
      const ended = /([^"]*)"\}\}\]\}\}\}\n\n$/.exec(tail)
      if (ended === null) return
      heard.push(ended[1] ?? '')
      tail = ''
    })
    await until(() => heard.length > 0)
    response.pause()
    let written = 0
    for (const runs = server.runs(); server.runs() < runs + 10; written += 1)
      await server.write(`update posts set title = 'write ${written}' where id = 2`)
    response.resume()
    await until(() => heard.at(-1) === `write ${written - 1}`)
    expect(heard.length).toBeLessThan(7)
    response.destroy()
  })

  it('is forgotten with its client', async () => {
    const stream = await open()
    await stream.next()
    expect(server.watched.size).toBe(1)
    stream.close()
    await until(() => server.live.stats().streams === 0)
    expect(server.live.stats().watches).toBe(0)
    expect(server.watched.size).toBe(0)
  })

  it('gives a query one answer, and a mutation', async () => {
    const query = await open({ query: '{ postsCollection { edges { node { id } } } }' })
    expect(query.type).toBe('text/event-stream; charset=utf-8')
    expect([(await query.next())?.event, (await query.next())?.event, await query.next()]).toEqual([
      'next',
      'complete',
      null,
    ])
    const mutation = await open({
      query: 'mutation { deleteFromPostsCollection(filter: {id: {eq: 9}}) { affectedCount } }',
    })
    expect(JSON.parse((await mutation.next())?.data ?? '').data).toEqual({
      deleteFromPostsCollection: { affectedCount: 0 },
    })
  })

  it.each([
    ['a document that is refused', { query: 'subscription { nothing }' }, {}, 400, 'GRAPHQL_VALIDATION_FAILED'],
    ['a body without a document', {}, {}, 400, 'QUERY_MISSING'],
    ['a wrong key', { query: titles }, { apikey: 'wrong' }, 401, 'KEY_INVALID'],
  ])('answers %s with its status and JSON', async (_name, request, headers, status, code) => {
    const refused = await open(request, headers)
    expect(refused.status).toBe(status)
    expect(refused.type).toContain('json')
    expect(JSON.parse(await refused.body()).errors[0].extensions.code).toBe(code)
  })

  it('refuses a subscription that wants another form', async () => {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...server.headers({}) },
      body: JSON.stringify({ query: titles }),
    })
    expect(((await response.json()) as any).errors[0].extensions.code).toBe('STREAM_REQUIRED')
  })

  it('comes to a client that would take other forms as well', async () => {
    const stream = await open(undefined, { accept: 'application/graphql-response+json, text/event-stream' })
    expect((await stream.next())?.event).toBe('next')
  })

  it('is what graphql-sse expects', async () => {
    const client = createClient({ url: server.url, headers: server.headers({}), retryAttempts: 0 })
    const results = client.iterate<{ postsCollection: unknown }>({ query: titles })
    expect((await results.next()).value?.data?.postsCollection).toBeTruthy()
    await server.write(`update posts set title = 'uno' where id = 1`)
    expect(JSON.stringify((await results.next()).value)).toContain('uno')
    await results.return?.(undefined)
    client.dispose()
  })

  it('may be opened by GET', async () => {
    const leaving = new AbortController()
    const response = await fetch(`${server.url}?${new URLSearchParams({ query: titles })}`, {
      headers: { accept: 'text/event-stream', ...server.headers({}) },
      signal: leaving.signal,
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    leaving.abort()
  })
})
