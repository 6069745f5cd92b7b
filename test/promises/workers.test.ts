import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { askOwner } from '../support/auth.ts'
import { createDatabase } from '../support/database.ts'
import { openEvents } from '../support/event-client.ts'
import { forSuite } from '../support/for-suite.ts'
import { serveBuilt } from '../support/served.ts'
import { postGraphql } from '../support/post-graphql.ts'

const db = forSuite(createDatabase, {
  prepare: true,
  sql: `
      create table note (id int primary key, body text);
      comment on table note is '@graphql({"live": {"enabled": true}})';
      insert into note values (1, 'first');
      grant usage on schema public to anon, service_role;
      grant select, insert on note to anon, service_role;
      create function slow(seconds float8) returns int language plpgsql volatile as
        $$ begin perform pg_sleep(seconds); return 1; end $$;
    `,
})
const served = forSuite(() =>
  serveBuilt(db, { WORKERS: '2', METRICS: 'on', LOG_LEVEL: 'info', SHUTDOWN_GRACE_MS: '1500' }),
)

/** On a connection of its own, so that either worker may get it. */
const ask = async (query: string, key = served.anon): Promise<unknown> => {
  const response = await postGraphql({ url: served.url, anon: key }, { query }, { connection: 'close' })
  return response.json()
}

const firstNote = '{ noteCollection { edges { node { body } } } }'
const firstAnswer = { data: { noteCollection: { edges: [{ node: { body: 'first' } }] } } }

/** Processes whose parent is the primary, with what they run. */
const workerPids = async (): Promise<readonly number[]> => {
  const children = await readFile(`/proc/${served.pid}/task/${served.pid}/children`, 'utf8')
  const pids = children.trim().split(' ').filter(Boolean).map(Number)
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return pids.filter((_, index) => commands[index]?.includes('serve') === true)
}

describe('several workers', () => {
  it('serve one address, and follow each change of the schema with the next request', async () => {
    expect(await workerPids()).toHaveLength(2)
    for (let round = 0; round < 10; round += 1) {
      await db.query(`alter table note add column c${round} int default ${round}`)
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => ask(`{ noteCollection { edges { node { c${round} } } } }`)),
      )
      for (const answer of answers)
        expect(answer).toEqual({ data: { noteCollection: { edges: [{ node: { [`c${round}`]: round } }] } } })
    }
  })

  it('listen before they have a schema only where no other worker does', async () => {
    const environments = await Promise.all((await workerPids()).map((pid) => readFile(`/proc/${pid}/environ`, 'utf8')))
    expect(environments.map((one) => /WORKER_LISTENS_EARLY=(.?)/.exec(one)?.[1]).toSorted()).toEqual(['\0', '1'])
  })

  it('say once what holds for all of them', () => {
    const said = served.said()
    expect(said.filter((line) => line.includes('database-prepared'))).toHaveLength(1)
    expect(said.filter((line) => line.includes('"listening"'))).toHaveLength(1)
  })

  it('sum their metrics', async () => {
    for (let index = 0; index < 20; index += 1) await ask('query Summed { noteCollection { edges { node { id } } } }')
    const response = await fetch(`${served.url}/metrics`, { headers: { apikey: served.service } })
    const text = await response.text()
    expect(text).toMatch(/catalograph_graphql_request_seconds_count\{operation="Summed",[^}]*\} 20\n/)
  })

  it('show the failed requests of all, with their documents', async () => {
    const refused = 'query Refused { nothing }'
    await Promise.all(Array.from({ length: 20 }, () => ask(refused)))
    const owner = { url: served.url, serviceRole: served.service }
    const { requests } = (await askOwner(owner, 'GET', '/requests')).body as {
      readonly requests: readonly { readonly operation: string; readonly hash: string; readonly answered_at: string }[]
    }
    const found = requests.filter(({ operation }) => operation === 'Refused')
    expect(found).toHaveLength(20)
    const times = requests.map(({ answered_at }) => answered_at)
    expect(times).toEqual(times.toSorted().toReversed())
    for (let index = 0; index < 5; index += 1) {
      const { body } = await askOwner(owner, 'GET', `/documents/${found[0]?.hash}`)
      expect(body).toEqual({ document: expect.stringContaining('Refused') })
    }
  })

  it('count what live queries do in all of them', async () => {
    const query = 'subscription { noteCollection(filter: {id: {gt: 100}}) { edges { node { body } } } }'
    const opened = Array.from({ length: 8 }, () =>
      openEvents(`${served.url}/graphql/v1`, { query }, { apikey: served.anon, connection: 'close' }),
    )
    const streams = await Promise.all(opened)
    for (const stream of streams) await stream.next()
    await db.query(`insert into note values (101, 'told')`)
    for (const stream of streams) expect((await stream.next())?.data).toContain('told')
    const { body } = await askOwner({ url: served.url, serviceRole: served.service }, 'GET', '/live')
    const of = (table: { watches: number }): number => table.watches
    expect(body).toMatchObject({ streams: 8, waiting: 0, faults: [], refused: expect.any(Array) })
    expect(body.watches).toBe(body.tables.map(of)[0])
    expect(body.tables).toMatchObject([{ schema: 'public', name: 'note', changes: 1, unheard: 0 }])
    expect(body.lag.answers).toBe(body.watches)
    const count = (reason: string): number => body.runs.find((run: any) => run.reason === reason)?.count
    expect([count('joined') >= body.watches, count('change')]).toEqual([true, body.watches])
    for (const stream of streams) stream.close()
    await db.query('delete from note where id > 100')
  })

  it('are replaced when one dies, while the others answer', async () => {
    const [first] = await workerPids()
    process.kill(first ?? 0, 'SIGKILL')
    for (let index = 0; index < 20; index += 1) {
      // A connection that was just handed to the dead one may be reset.
      expect(await ask(firstNote).catch(() => firstAnswer)).toEqual(firstAnswer)
      await pause(20)
    }
    await expect.poll(async () => (await workerPids()).length, { timeout: 10_000 }).toBe(2)
    expect(served.said().some((line) => line.includes('"worker-ended"') && line.includes('SIGKILL'))).toBe(true)
  })

  it('are replaced one after the other by SIGHUP, and no request is lost', async () => {
    const before = await workerPids()
    let [asking, asked] = [true, 0]
    // Half of the clients keep their connections, half make one for each request.
    const clients = Array.from({ length: 8 }, async (_, client) => {
      while (asking) {
        const response = await postGraphql(
          served,
          { query: firstNote },
          { ...(client % 2 === 0 && { connection: 'close' }) },
        )
        expect(await response.json()).toEqual(firstAnswer)
        asked += 1
        await pause(5)
      }
    })
    process.kill(served.pid, 'SIGHUP')
    await expect.poll(() => served.said().join(), { timeout: 30_000 }).toContain('"reloaded"')
    asking = false
    await Promise.all(clients)
    expect(asked).toBeGreaterThan(50)
    const after = await workerPids()
    expect(after).toHaveLength(2)
    expect(after.filter((pid) => before.includes(pid))).toEqual([])
  })
})

describe('a reason that keeps a worker from serving', () => {
  it('is said once, and ends the start', async () => {
    const taken = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    await expect(serveBuilt(db, { WORKERS: '2', PORT: String(port) })).rejects.toThrow(/in use/)
  })
})
