import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Exchange, ResultRow } from '../../../../runtime/contract/execution.ts'
import { createRunOnConnection } from '../../../../runtime/db/check/transaction.ts'
import { createBackoff } from '../../../../runtime/lib/retry.ts'
import { serverOf } from '../../../../runtime/db/connect/server.ts'
import { startupSettings } from '../../../../runtime/db/connect/startup.ts'
import { freePort } from '../../../../runtime/db/embedded/free-port.ts'
import { createCancellations } from '../../../../runtime/db/pool/cancel.ts'
import {
  acquireConnection,
  closeConnections,
  createConnectionPool,
  releaseConnection,
} from '../../../../runtime/db/pool/connections.ts'
import { createRunner, runOn } from '../../../../runtime/db/pool/run.ts'
import { createPlaces } from '../../../../runtime/lib/sharing/places.ts'
import { runStatements } from '../../../../runtime/db/wire/exchange.ts'
import { openDatabase, type Database, type DatabaseOptions } from '../../../../runtime/db/pool/pool.ts'
import { startCluster, type ThrowAwayCluster } from '../../../support/cluster.ts'
import { clusterOf, majors } from '../../../support/clusters.ts'
import { createDatabase, overSessions } from '../../../support/database.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { startProxy } from '../../../support/recording-proxy.ts'
import { until } from '../../../support/until.ts'

const exchange = (...texts: readonly string[]): Exchange => ({
  caller: { role: 'authenticated', claims: '{"role":"authenticated"}' },
  version: null,
  readOnly: false,
  statements: texts.map((text) => ({ name: text, text, values: [] })),
})

const neutral = expect.not.stringMatching(/127\.0\.0\.1|localhost|ECONN/)
const unavailable = { kind: 'unavailable', statement: null, message: neutral }

/** Tries until it works; fails after `patience` milliseconds. */
const eventually = async (db: Database, patience: number): Promise<readonly ResultRow[]> => {
  const start = performance.now()
  for (;;) {
    try {
      return await db.run(exchange('select 1'))
    } catch (error) {
      if (performance.now() - start > patience) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

const withPool = async (options: DatabaseOptions, work: (db: Database) => Promise<void>): Promise<void> => {
  const db = openDatabase(options)
  try {
    await work(db)
  } finally {
    await db.close()
  }
}

describe('the pool', () => {
  let proxied: string
  const database = forSuite(createDatabase)
  const proxy = forSuite(() => startProxy(Number(new URL(database.url).port)))
  beforeAll(async () => {
    const url = new URL(database.url)
    url.port = String(proxy.port)
    proxied = url.href
  })

  test('a request that waits too long for a connection is refused, and the next one is served', () =>
    withPool({ url: database.url, schemas: ['public'], poolSize: 1, connectTimeout: 300 }, async (db) => {
      const slow = [1, 2, 3].map(() => db.run(exchange('select pg_sleep(0.8)')))
      await expect(db.run(exchange('select 1'))).rejects.toMatchObject({ kind: 'overloaded', message: neutral })
      await Promise.all(slow)
      expect(await db.run(exchange('select 1'))).toEqual([['1']])
    }))

  test('many requests at once share few connections without mixing answers', () =>
    withPool({ url: database.url, schemas: ['public'], poolSize: 3 }, async (db) => {
      const texts = Array.from({ length: 120 }, (_, index) => (index % 7 === 0 ? 'select 1/0' : `select ${index}`))
      const answers = await Promise.allSettled(texts.map((text) => db.run(exchange(text))))
      for (const [index, answer] of answers.entries())
        expect(answer).toMatchObject(
          index % 7 === 0
            ? { status: 'rejected', reason: { sqlstate: '22012', statement: 0 } }
            : { status: 'fulfilled', value: [[String(index)]] },
        )
    }))

  test('answers unavailable for a connection cut in the middle of a request, then serves again', () =>
    withPool({ url: proxied, schemas: ['public'], poolSize: 1 }, async (db) => {
      await db.run(exchange('select 1'))
      const pending = expect(db.run(exchange('select pg_sleep(5)'))).rejects.toMatchObject(unavailable)
      await new Promise((resolve) => setTimeout(resolve, 100))
      proxy.cut()
      await pending
      expect(await eventually(db, 3_000)).toEqual([['1']])
    }))

  test('a connection cut while idle harms no request', () =>
    withPool({ url: proxied, schemas: ['public'], poolSize: 1 }, async (db) => {
      await db.run(exchange('select 1'))
      proxy.cut()
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(await db.run(exchange('select 1'))).toEqual([['1']])
    }))

  test('answers unavailable for a backend that an operator ends, then serves again', () =>
    withPool({ url: database.url, schemas: ['public'], poolSize: 1 }, async (db) => {
      const [row] = await db.run(exchange('select pg_backend_pid()'))
      const running = db.run(exchange('select pg_sleep(5)'))
      const pending = expect(running).rejects.toMatchObject({ ...unavailable, statement: 0 })
      await new Promise((resolve) => setTimeout(resolve, 100))
      await overSessions(database).query('select pg_terminate_backend($1)', [row?.[0]])
      await pending
      expect(await eventually(db, 3_000)).toEqual([['1']])
    }))

  test('a statement of our own whose backend is ended is asked once more', () =>
    withPool({ url: database.url, schemas: ['public'] }, async (db) => {
      const pending = db.query<{ pid: number }>('select pg_sleep(1), pg_backend_pid() as pid')
      const sleeping = "select pid from pg_stat_activity where query like 'select pg_sleep(1), pg_backend_pid()%'"
      await expect.poll(async () => (await overSessions(database).query(sleeping)).rows.length).toBe(1)
      const [first] = (await overSessions(database).query(sleeping)).rows as { pid: number }[]
      await overSessions(database).query('select pg_terminate_backend($1)', [first?.pid])
      const { rows } = await pending
      expect(rows).toHaveLength(1)
      expect(rows[0]?.pid).not.toBe(first?.pid)
    }))

  describe('a connection that ends while it is lent and nothing runs on it', () => {
    const openPool = () => {
      const server = serverOf(database.url, startupSettings(['public'], 5_000))
      return createConnectionPool({
        server,
        pooler: 'none',
        places: createPlaces({ size: 1 }),
        connectTimeout: 5_000,
        described: null,
      })
    }
    /** Ends the backends of the pool, and waits until it knows. */
    const cutOff = async (pool: ReturnType<typeof openPool>): Promise<void> => {
      await overSessions(database).query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and usename = 'authenticator'`)
      await until(() => pool.open === 0)
    }

    test('fails what is sent on it', async () => {
      const pool = openPool()
      const connection = await acquireConnection(pool)
      await cutOff(pool)
      const result = await runStatements(connection, [{ name: '', text: 'select 1', values: [] }])
      expect(result).toMatchObject({ kind: 'failed', broken: true, begun: 0 })
      releaseConnection(pool, connection, true)
      await closeConnections(pool)
    })

    test('is replaced before a request is sent, a writing one too', async () => {
      const pool = openPool()
      let lookups = 0
      const runner = createRunner({
        connections: pool,
        marks: { newest: () => null, refreshIfDue: () => undefined, invalidate: () => undefined },
        cancellations: createCancellations(() => Promise.resolve()),
        settings: {
          of: async () => {
            lookups += 1
            if (lookups === 1) await cutOff(pool)
            return { pairs: [], readOnly: false }
          },
        },
        runOnConnection: createRunOnConnection([]),
        answerMemory: null,
        timeout: 5_000,
      })
      const result = await runOn(runner)(exchange('select 1'), undefined)
      expect(result.kind === 'rows' && result.rows.at(-1)).toEqual([['1']])
      expect(lookups).toBe(2)
      await closeConnections(pool)
    })
  })

  test(
    'a server that does not answer any more is given up',
    () =>
      withPool({ url: proxied, schemas: ['public'], poolSize: 1, statementTimeout: 1 }, async (db) => {
        await eventually(db, 3_000)
        proxy.hold(true)
        await expect(db.run(exchange('select 1'))).rejects.toMatchObject(unavailable)
        proxy.hold(false)
      }),
    15_000,
  )

  test('is unavailable without a server, by a wrong name or database, with the reason for the log only', async () => {
    const nowhere = `postgres://authenticator@127.0.0.1:${await freePort()}/x`
    const unknown = database.url.replace('authenticator', 'stranger')
    for (const [url, code] of [
      [nowhere, 'ECONNREFUSED'],
      [unknown, '28000'],
      [`${database.url}x`, '3D000'],
    ] as const)
      await withPool({ url, schemas: ['public'] }, async (db) => {
        await expect(db.run(exchange('select 1'))).rejects.toMatchObject({ ...unavailable, cause: { code } })
        await expect(db.ping()).rejects.toMatchObject(unavailable)
      })
  })

  test('refused connections are not tried again at once', async () => {
    const url = `postgres://authenticator@127.0.0.1:${await freePort()}/x`
    await withPool({ url, schemas: ['public'] }, async (db) => {
      const causeOf = (): Promise<unknown> => db.run(exchange('select 1')).catch((error: Error) => error.cause)
      const cause = await causeOf()
      expect(cause).toMatchObject({ code: 'ECONNREFUSED' })
      // The same error object, not a second one of the same kind.
      expect(await causeOf()).toBe(cause)
    })
  })

  test('the pause grows to 400 ms, however long an outage was, and ends with the first success', () => {
    let now = 0
    const backoff = createBackoff(() => now)
    const pauses = Array.from({ length: 9 }, () => {
      backoff.failed()
      backoff.failed()
      const start = now
      while (backoff.waiting()) now += 50
      return now - start
    })
    expect(pauses).toEqual([100, 200, 400, 400, 400, 400, 400, 400, 400])
    backoff.failed()
    backoff.succeeded()
    expect(backoff.waiting()).toBe(false)
  })

  test('our own queries never share a connection with requests', () =>
    withPool({ url: database.url, schemas: ['public'], poolSize: 1 }, async (db) => {
      await db.run(exchange(`select set_config('role', 'anon', false)`, `select set_config('search_path', 'x', false)`))
      const { rows } = await db.query('select current_user as who, current_setting($1) as path', ['search_path'])
      expect(rows).toEqual([{ who: 'authenticator', path: '"pg_catalog", pg_temp' }])
      await expect(db.query('select 1/0')).rejects.toMatchObject({ kind: 'refused', sqlstate: '22012' })
      await db.ping()
    }))

  test('a session is one connection, and gone when its work failed', () =>
    withPool({ url: database.url, schemas: ['public'] }, async (db) => {
      const pid = () =>
        db.session(async (query) => {
          const ask = async () => (await query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid
          const first = await ask()
          expect(await ask()).toBe(first)
          return first
        })
      const before = await pid()
      await expect(
        db.session(async (query) => {
          await query('begin')
          throw new Error('half-way')
        }),
      ).rejects.toThrow('half-way')
      expect(await pid()).not.toBe(before)
    }))

  test("the URL's own options stand beside ours", () =>
    withPool({ url: `${database.url}?options=-c%20work_mem%3D7MB`, schemas: ['public'] }, async (db) => {
      const text = `select current_setting('work_mem'), current_setting('TimeZone'), current_setting('bytea_output'),
        current_setting('application_name'), current_setting('max_parallel_workers_per_gather')`
      expect(await db.run(exchange(text))).toEqual([['7MB', 'UTC', 'hex', 'catalograph', '0']])
    }))
})

describe('a server that restarts', () => {
  let cluster: ThrowAwayCluster
  beforeAll(async () => {
    cluster = await startCluster(clusterOf(majors()[0] ?? 18))
  })
  afterAll(() => cluster.remove())

  const url = (): string => `postgres://authenticator@127.0.0.1:${cluster.port}/postgres`

  test('requests are answered unavailable, then served again without our doing', () =>
    withPool({ url: url(), schemas: ['public'] }, async (db) => {
      await Promise.all([1, 2, 3].map(() => db.run(exchange('select 1'))))
      const pending = expect(db.run(exchange('select pg_sleep(10)'))).rejects.toMatchObject({ kind: 'unavailable' })
      await new Promise((resolve) => setTimeout(resolve, 50))
      await cluster.stop()
      await pending
      for (const _ of [1, 2, 3]) await expect(db.run(exchange('select 1'))).rejects.toMatchObject(unavailable)
      await cluster.restart()
      expect(await eventually(db, 6_000)).toEqual([['1']])
      await db.ping()
    }))
})
