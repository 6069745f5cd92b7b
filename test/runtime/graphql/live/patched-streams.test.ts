import { once } from 'node:events'
import fc from 'fast-check'
import { applyPatch } from 'rfc6902'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openEvents } from '../../../support/event-client.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { openLiveServer } from '../../../support/live.ts'

/** spec/graphql.md 16.3: a patch makes the new answer of the one that was sent last, by either transport. */

const server = forSuite(openLiveServer)

const query =
  'subscription { postsCollection(orderBy: [{title: AscNullsLast}, {id: AscNullsLast}]) { edges { node { nodeId id title } } } }'
const extensions = { live: { patch: true } }

/** The data of a client after an answer, whole or a patch. */
function answered(known: { data: unknown }, text: string): { patched: boolean } {
  const { data, extensions: sent } = JSON.parse(text)
  if (sent?.patch === undefined) known.data = data
  else expect(applyPatch(known, sent.patch.map(underData)).filter((fault: unknown) => fault !== null)).toEqual([])
  return { patched: sent?.patch !== undefined }
}

const underData = ({ path, from, ...operation }: any): any => ({
  ...operation,
  path: `/data${path}`,
  ...(from !== undefined && { from: `/data${from}` }),
})

async function bySocket(): Promise<() => Promise<string>> {
  const socket = new WebSocket(server.url.replace('http', 'ws'), 'graphql-transport-ws')
  const heard: string[] = []
  socket.on('message', (data: Buffer) => heard.push(data.toString()))
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: server.headers({}) }))
  socket.send(JSON.stringify({ type: 'ping' }))
  const next = async (): Promise<string> => {
    while (heard.length === 0) await once(socket, 'message')
    return heard.shift() ?? ''
  }
  while (!(await next()).includes('connection_ack'));
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, extensions } }))
  return async () => {
    for (let text = await next(); ; text = await next()) {
      const { type, payload } = JSON.parse(text)
      if (type === 'next') return JSON.stringify(payload)
    }
  }
}

const writes = fc.array(fc.record({ id: fc.integer({ min: 1, max: 12 }), title: fc.constantFrom(...'abc', null) }), {
  minLength: 5,
  maxLength: 12,
})

describe('answers and patches', () => {
  it('make the same by events and by a socket as whole answers', async () => {
    await server.db.query(`insert into posts (id, title) select n, 'post ' || n from generate_series(3, 40) n`)
    const whole = await openEvents(server.url, { query }, server.headers({}))
    const events = await openEvents(server.url, { query, extensions }, server.headers({}))
    const socket = await bySocket()
    const [byEvents, bySocketKnown] = [{ data: null as unknown }, { data: null as unknown }]
    let patches = 0
    const compare = async (): Promise<void> => {
      const wanted = JSON.parse((await whole.next())?.data ?? '').data
      for (const [known, text] of [
        [byEvents, (await events.next())?.data ?? ''],
        [bySocketKnown, await socket()],
      ] as const) {
        if (answered(known, text).patched) patches += 1
        expect(known.data).toEqual(wanted)
      }
    }
    await compare()
    await fc.assert(
      fc.asyncProperty(writes, async (all) => {
        for (const [place, { id, title }] of all.entries()) {
          // Each makes another answer.
          const text = title === null ? null : `${title} ${place} ${Math.random()}`
          await server.write(
            text === null
              ? `delete from posts where id = ${id}; insert into posts (id, title) values (${id}, '${Math.random()}')`
              : `insert into posts (id, title) values (${id}, '${text}') on conflict (id) do update set title = '${text}'`,
          )
          await compare()
        }
      }),
      { numRuns: 8 },
    )
    expect(patches).toBeGreaterThan(20)
    for (const stream of [whole, events]) stream.close()
  })
})
