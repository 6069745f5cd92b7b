import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFollowedSource } from '../../compiler/following/serving/followed-source.ts'
import { createPrepareOnce } from '../../compiler/following/serving/prepare-once.ts'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import { createService } from '../../compiler/additions/service.ts'
import { runServer } from '../../runtime/main.ts'
import { openServerDatabase } from '../../runtime/database.ts'
import type { ServerSettings } from '../../runtime/server.ts'
import { readSettings } from '../../runtime/settings/read.ts'
import { createDatabase, overSessions } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { postGraphql } from '../support/post-graphql.ts'

/** Requests of strangers with the public key keep no other client from being served. */

const jwtSecret = 'a secret that has more than thirty-two characters'
const keys = projectKeys(jwtSecret)

const sql = `
  create table va (id int primary key);
  create table vb (id int primary key, a int references va, c int references va);
  comment on constraint vb_a_fkey on vb is '@graphql({"foreign_name": "a1", "local_name": "outs"})';
  comment on constraint vb_c_fkey on vb is '@graphql({"foreign_name": "cc", "local_name": "ins"})';
  insert into va select generate_series(1, 30);
  insert into vb select n, 1 + n % 30, 1 + (n * 7) % 30 from generate_series(1, 900) n;
  create table kept (id serial primary key, what text);
  create function nap(s float8) returns int language plpgsql volatile as 'begin perform pg_sleep(s); return 1; end';
  grant all on all tables in schema public to anon, service_role;
  grant all on all sequences in schema public to anon, service_role;
`

const nested = (depth: number): string =>
  depth === 0 ? 'id' : `id outs { edges { node { cc { ${nested(depth - 1)} } } } }`
/** A few hundred bytes, for which Postgres works until it is cancelled. */
const endless = `{ vaCollection { edges { node { ${nested(5)} } } } }`

describe('a server that strangers may ask', () => {
  let url = ''
  let stop: () => Promise<void>
  const db = forSuite(createDatabase, { sql })
  beforeAll(async () => {
    const read = readSettings({})
    if (read.kind === 'invalid') throw new Error(read.problems.join())
    const settings: ServerSettings = {
      ...read.settings,
      databaseUrl: db.url,
      jwtSecret,
      port: 0,
      requestTimeoutMs: 2_000,
    }
    const database = openServerDatabase(settings)
    const log = () => undefined
    const prepare = createPrepareOnce({ ownerUrl: db.ownerUrl, loginUrl: db.url, log })
    const source = createFollowedSource({ schemas: ['public'], query: database.query, prepare, log })
    let ask: (reason: string) => void = () => undefined
    const stopRequested = new Promise<string>((resolve) => (ask = resolve))
    let run: Promise<void> = Promise.resolve()
    url = await new Promise<string>((resolve, reject) => {
      run = runServer({
        settings,
        database,
        source,
        createService,
        log,
        onReady: resolve,
        listensEarly: true,
        stopRequested,
      })
      run.catch(reject)
    })
    stop = async () => {
      ask('test')
      await run
    }
  })
  afterAll(() => stop())

  const ask = async (query: string, key = keys.anon) => {
    const answer = await postGraphql({ url, anon: key }, { query })
    const body = (await answer.json()) as {
      readonly data: Readonly<Record<string, unknown>> | null
      readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[]
    }
    return { status: answer.status, headers: answer.headers, ...body }
  }
  /** Sends a request and closes the connection after some time. */
  const abandon = (query: string, afterMs: number): Promise<void> =>
    new Promise((resolve) => {
      const body = JSON.stringify({ query })
      const { hostname, port } = new URL(url)
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `POST /graphql/v1 HTTP/1.1\r\nhost: x\r\napikey: ${keys.anon}\r\ncontent-type: application/json\r\n` +
            `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        )
        setTimeout(() => socket.destroy(), afterMs)
      })
      socket.on('close', () => resolve())
    })
  const active = async (): Promise<number> => {
    const asked = `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and usename = 'authenticator' and state = 'active'`
    return ((await overSessions(db).query(asked)).rows[0] as { n: number }).n
  }

  it.each([8, 64])('serves others while %i clients ask for much and leave', async (count) => {
    await ask('{ __typename }')
    const left = Promise.all(Array.from({ length: count }, () => abandon(endless, 400)))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await ask('{ vaByPk(id: 1) { id } }', keys.serviceRole)).toMatchObject({
      status: 200,
      data: { vaByPk: { id: 1 } },
    })
    await left
    const start = performance.now()
    expect(await ask('{ vaByPk(id: 2) { id } }')).toMatchObject({ status: 200, data: { vaByPk: { id: 2 } } })
    expect(performance.now() - start).toBeLessThan(5_000)
    await expect.poll(active, { timeout: 5_000, interval: 20 }).toBe(0)
  })

  it('ends a mutation of many statements at the deadline, and keeps nothing of it', async () => {
    const naps = Array.from({ length: 16 }, (_, index) => `a${index}: nap(s: 1.5)`).join(' ')
    const start = performance.now()
    const { status, errors } = await ask(
      `mutation { insertIntokeptCollection(objects: [{what: "x"}]) { affectedCount } ${naps} }`,
    )
    expect(status).toBe(200)
    expect(errors?.[0]?.extensions).toEqual({ code: 'DEADLINE_EXCEEDED' })
    expect(errors?.[0]?.message).toContain('nothing was kept')
    expect(performance.now() - start).toBeLessThan(4_000)
    expect((await db.query('select from kept')).rowCount).toBe(0)
    expect(await active()).toBe(0)
  })

  it('calls overload by its name, and says when to try again', async () => {
    const many = Array.from({ length: 260 }, () => ask('{ vaCollection(first: 1) { edges { node { id } } } }'))
    const slow = Promise.all(Array.from({ length: 12 }, () => abandon(endless, 1_500)))
    const answers = await Promise.all([...many, ...Array.from({ length: 240 }, () => ask('{ vaByPk(id: 1) { id } }'))])
    await slow
    for (const { status, headers, errors } of answers.filter((one) => one.status !== 200)) {
      expect(status).toBe(503)
      expect(headers.get('retry-after')).toMatch(/^\d+$/)
      expect(errors?.[0]?.extensions.code).toBe('OVERLOADED')
    }
    expect((await ask('{ vaByPk(id: 3) { id } }')).status).toBe(200)
  })
})
