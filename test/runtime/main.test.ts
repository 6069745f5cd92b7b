import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createFollowedSource } from '../../compiler/following/serving/followed-source.ts'
import { checkPrepared } from '../../compiler/following/prepare/prepare.ts'
import { createPrepareOnce } from '../../compiler/following/serving/prepare-once.ts'
import { freePort } from '../../runtime/db/embedded/free-port.ts'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import type { LogEvent } from '../../runtime/settings/log/events.ts'
import { createService } from '../../compiler/additions/service.ts'
import { ListenFailure, runServer } from '../../runtime/main.ts'
import { openServerDatabase } from '../../runtime/database.ts'
import type { ServerSettings } from '../../runtime/server.ts'
import { readSettings } from '../../runtime/settings/read.ts'
import { createDatabase, overSessions } from '../support/database.ts'
import type { TestDatabase } from '../support/database.ts'
import { postGraphql } from '../support/post-graphql.ts'

const jwtSecret = 'a secret that has more than thirty-two characters'
const { anon } = await projectKeys(jwtSecret)

const schema = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table notes (id int primary key, body text);
  insert into notes values (1, 'first');
  create function slow(seconds float8) returns int language plpgsql volatile as
    $$ begin perform pg_sleep(seconds); return 1; end $$;
  grant select on notes to anon;
`

interface Running {
  readonly url: string
  readonly events: LogEvent[]
  /** Resolves once the first schema is loaded. */
  readonly ready: Promise<void>
  readonly stop: () => Promise<void>
  /** Asks it to stop without waiting; the promise is the whole run. */
  readonly askToStop: () => Promise<void>
}

let db: TestDatabase
let running: Running | null = null

beforeEach(async () => {
  db = await createDatabase({ sql: schema })
})
afterEach(async () => {
  await running?.stop()
  running = null
  await db.drop()
})

const settingsFor = (databaseUrl: string, more: Partial<ServerSettings> = {}): ServerSettings => {
  const read = readSettings({})
  if (read.kind === 'invalid') throw new Error(read.problems.join())
  return { ...read.settings, databaseUrl, jwtSecret, port: 0, ...more }
}

const start = async (loginUrl: string, ownerUrl: string, more: Partial<ServerSettings> = {}): Promise<Running> => {
  const settings = settingsFor(loginUrl, more)
  const events: LogEvent[] = []
  const log = (event: LogEvent): void => void events.push(event)
  const database = openServerDatabase(settings)
  const prepare = createPrepareOnce({ ownerUrl, loginUrl, log })
  const source = createFollowedSource({ schemas: ['public'], query: database.query, prepare, log })
  let ask: (reason: string) => void = () => undefined
  const stopRequested = new Promise<string>((resolve) => {
    ask = resolve
  })
  let become: () => void = () => undefined
  const ready = new Promise<void>((resolve) => {
    become = resolve
  })
  const whole = runServer({
    settings,
    database,
    source,
    createService,
    log,
    onReady: () => become(),
    listensEarly: true,
    stopRequested,
  })
  const askToStop = (): Promise<void> => {
    ask('the test')
    return whole
  }
  const url = await Promise.race([listeningUrl(events), whole.then(() => Promise.reject(new Error('ended')))])
  return { url, events, ready, askToStop, stop: () => askToStop().catch(() => undefined) }
}

const listeningUrl = async (events: readonly LogEvent[]): Promise<string> => {
  for (;;) {
    const event = events.find(({ kind }) => kind === 'listening')
    if (event?.kind === 'listening') return event.url
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Resolves when Postgres runs `slow` for a request. */
const untilSlow = async (): Promise<void> => {
  const running = `select from pg_stat_activity where state = 'active' and wait_event = 'PgSleep' and datname = current_database()`
  await expect.poll(async () => (await overSessions(db).query(running)).rowCount, { timeout: 10_000 }).toBe(1)
}

const post = (url: string, query: string): Promise<Response> => postGraphql({ url, anon }, { query })

const ask = async (url: string, query: string): Promise<unknown> => (await post(url, query)).json()

const bodies = '{ notesCollection { edges { node { body } } } }'
const first = { data: { notesCollection: { edges: [{ node: { body: 'first' } }] } } }

describe('a running server', () => {
  it('prepares, compiles, answers, and follows the schema from one request to the next', async () => {
    running = await start(db.url, db.ownerUrl)
    await running.ready
    expect(await ask(running.url, bodies)).toEqual(first)
    await db.query("alter table notes add column mood text default 'calm'")
    expect(await ask(running.url, '{ notesCollection { edges { node { mood } } } }')).toEqual({
      data: { notesCollection: { edges: [{ node: { mood: 'calm' } }] } },
    })
    const health = await (await fetch(`${running.url}/health`)).json()
    const revisions = running.events.flatMap((event) => (event.kind === 'revision-ready' ? [event.revision] : []))
    expect(revisions).toHaveLength(2)
    expect(health).toEqual({ status: 'ok', revision: revisions[1], compileFailedAt: null, fault: null })
  })

  it('serves the last good schema when a newer one cannot be compiled, says so, and recovers by the next change', async () => {
    running = await start(db.url, db.superuser('makes event triggers').url)
    await running.ready
    expect(await ask(running.url, bodies)).toEqual(first)
    const health = async (): Promise<unknown> => (await fetch(`${running?.url}/health`)).json()
    const failures = (): readonly LogEvent[] => running?.events.filter(({ kind }) => kind === 'revision-failed') ?? []
    const superuser = db.superuser('takes rights on a catalogue')
    await superuser.query('revoke select on pg_catalog.pg_description from public')
    for (let times = 0; times < 3; times += 1) expect(await ask(running.url, bodies)).toEqual(first)
    expect(await health()).toMatchObject({ status: 'ok', compileFailedAt: expect.any(String) })
    expect(failures()).toEqual([{ kind: 'revision-failed', reason: expect.stringContaining('pg_description') }])
    await superuser.query('grant select on pg_catalog.pg_description to public')
    await db.query("alter table notes add column mood text default 'calm'")
    expect(await ask(running.url, '{ notesCollection { edges { node { mood } } } }')).toEqual({
      data: { notesCollection: { edges: [{ node: { mood: 'calm' } }] } },
    })
    expect(await health()).toMatchObject({ status: 'ok', compileFailedAt: null })
  })

  it('starts without its database, answers 503 until it is there, and recovers on its own', async () => {
    const port = await freePort()
    const away = new URL(db.url)
    away.port = String(port)
    const owner = new URL(db.ownerUrl)
    owner.port = String(port)
    running = await start(away.href, owner.href)
    const response = await post(running.url, bodies)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await response.json()).toMatchObject({ data: null, errors: [{ extensions: { code: 'UNAVAILABLE' } }] })
    const health = await fetch(`${running.url}/health`)
    expect([health.status, await health.json()]).toMatchObject([200, { status: 'starting', revision: null }])
    const ready = await fetch(`${running.url}/readyz`)
    expect([ready.status, await ready.json()]).toMatchObject([503, { status: 'starting', revision: null }])

    const forward = await forwardTo(Number(new URL(db.url).port), port)
    onTestFinished(() => forward.close())
    await running.ready
    expect(await ask(running.url, bodies)).toEqual(first)
    expect(running.events.some(({ kind }) => kind === 'not-ready')).toBe(true)
    await running.stop()
  })

  it('names once the statements for an owner to run, and continues after them', async () => {
    running = await start(db.url, db.url)
    const { events, url } = running
    const wishes = (): readonly number[] =>
      events.flatMap((event) => (event.kind === 'owner-needed' ? [event.statements] : []))
    const { statements: missing } = await checkPrepared({ url: db.url })
    await expect
      .poll(() => events.filter(({ kind }) => kind === 'not-ready').length, { timeout: 15_000 })
      .toBeGreaterThanOrEqual(2)
    expect(wishes()).toEqual([missing.length])
    expect((await post(url, bodies)).status).toBe(503)
    await db.superuser('makes event triggers').query(missing.join(';\n'))
    await running.ready
    expect(await ask(url, bodies)).toEqual(first)
    expect(events).toContainEqual({ kind: 'database-prepared', followed: true })
  })

  it('answers 503 while the database is away and comes back with it', async () => {
    const target = Number(new URL(db.url).port)
    const proxy = await forwardTo(target)
    const away = new URL(db.url)
    away.port = String(proxy.port)
    let again: Forward | null = null
    onTestFinished(async () => {
      await running?.stop()
      await again?.close()
    })
    running = await start(away.href, db.ownerUrl)
    await running.ready
    expect(await ask(running.url, bodies)).toEqual(first)
    await proxy.close()
    const statuses = [(await post(running.url, bodies)).status, (await post(running.url, bodies)).status]
    expect(statuses).toEqual([503, 503])
    const probe = async (path: string): Promise<unknown> => {
      const response = await fetch(`${running?.url}${path}`)
      return [response.status, ((await response.json()) as { readonly status: string }).status]
    }
    await expect.poll(() => probe('/readyz'), { timeout: 10_000 }).toEqual([503, 'down'])
    expect(await probe('/health')).toEqual([200, 'ok'])
    again = await forwardTo(target, proxy.port)
    await expect.poll(async () => (await post(running?.url ?? '', bodies)).status, { timeout: 15_000 }).toBe(200)
  })

  it('lets running requests end when it is asked to stop, and takes no new ones', async () => {
    running = await start(db.url, db.ownerUrl)
    await running.ready
    const slow = ask(running.url, 'mutation { slow(seconds: 0.6) }')
    await untilSlow()
    const whole = running.askToStop()
    await new Promise((resolve) => setTimeout(resolve, 100))
    await expect(fetch(`${running.url}/health`)).rejects.toThrow()
    expect(await slow).toEqual({ data: { slow: 1 } })
    await whole
    expect(running.events.at(-1)).toEqual({ kind: 'stopped' })
    expect(running.events.some(({ kind }) => kind === 'stop-forced')).toBe(false)
  })

  it('answers what outlives the grace period, gives it up, and is gone within a second', async () => {
    running = await start(db.url, db.ownerUrl, { shutdownGraceMs: 100 })
    await running.ready
    const slow = post(running.url, 'mutation { slow(seconds: 20) }')
    await untilSlow()
    const began = performance.now()
    await running.askToStop()
    expect(performance.now() - began).toBeLessThan(1_100)
    const response = await slow
    expect([response.status, response.headers.get('connection'), response.headers.get('retry-after')]).toEqual([
      503,
      'close',
      '1',
    ])
    expect(await response.json()).toMatchObject({ data: null, errors: [{ extensions: { code: 'SERVER_STOPPING' } }] })
    expect(running.events).toContainEqual({ kind: 'stop-forced', graceMs: 100 })
  })

  it('ends each connection with its answer once it is asked to stop, and those without one at once', async () => {
    running = await start(db.url, db.ownerUrl)
    await running.ready
    const { port } = new URL(running.url)
    const idle = connect(Number(port), '127.0.0.1')
    await once(idle, 'connect')
    idle.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(idle, 'data')
    const slow = post(running.url, 'mutation { slow(seconds: 0.6) }')
    await untilSlow()
    const whole = running.askToStop()
    await once(idle, 'close')
    expect((await slow).headers.get('connection')).toBe('close')
    await whole
  })

  it.each([
    { listensEarly: true, order: ['listening', 'asked', 'ready'] },
    { listensEarly: false, order: ['asked', 'listening', 'ready'] },
  ])('listens before it has a schema: $listensEarly', async ({ listensEarly, order }) => {
    const steps: string[] = []
    const settings = settingsFor(db.url)
    const database = openServerDatabase(settings)
    const log = ({ kind }: LogEvent): void => void (kind === 'listening' && steps.push(kind))
    const prepare = createPrepareOnce({ ownerUrl: db.ownerUrl, loginUrl: db.url, log })
    const followed = createFollowedSource({ schemas: ['public'], query: database.query, prepare, log })
    const source: typeof followed = (...asked) => {
      if (!steps.includes('asked')) steps.push('asked')
      return followed(...asked)
    }
    let stop: (reason: string) => void = () => undefined
    const stopRequested = new Promise<string>((resolve) => (stop = resolve))
    const onReady = (): void => {
      steps.push('ready')
      stop('the test')
    }
    await runServer({ settings, database, source, createService, log, onReady, listensEarly, stopRequested })
    expect(steps).toEqual(order)
  })

  it('says in one sentence that its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const settings = settingsFor(db.url, { port })
    const parts = { settings, database: openServerDatabase(settings), log: () => undefined, onReady: () => undefined }
    const source = () => Promise.reject(new Error('never asked'))
    const attempt = runServer({
      ...parts,
      source,
      createService,
      listensEarly: true,
      stopRequested: new Promise<string>(() => undefined),
    })
    await expect(attempt).rejects.toThrow(ListenFailure)
    await expect(attempt).rejects.toThrow(`port ${port} on 127.0.0.1 is in use; set PORT to another one`)
    other.close()
  })
})

interface Forward {
  readonly port: number
  /** Cuts every connection and refuses new ones. */
  readonly close: () => Promise<void>
}

/** Passes connections on, so that a database comes and goes on a port of the test's choice. */
const forwardTo = async (target: number, port = 0): Promise<Forward> => {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined))
    client.pipe(upstream).pipe(client)
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
