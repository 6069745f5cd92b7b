import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createFollowedSource } from '../../compiler/following/serving/followed-source.ts'
import { createPrepareOnce } from '../../compiler/following/serving/prepare-once.ts'
import { markExpression, versionExpression } from '../../runtime/db/check/version.ts'
import { openDatabase } from '../../runtime/db/pool/pool.ts'
import { signToken } from '../../runtime/identity/jwt.ts'
import { projectKeys } from '../../runtime/identity/project-keys.ts'
import type { LogEvent } from '../../runtime/settings/log/events.ts'
import { createService } from '../../compiler/additions/service.ts'
import { runServer } from '../../runtime/main.ts'
import { openServerDatabase } from '../../runtime/database.ts'
import type { ServerSettings } from '../../runtime/server.ts'
import { readSettings } from '../../runtime/settings/read.ts'
import { startAuthServer } from '../support/auth.ts'
import { advisoryLocksOf } from '../support/advisory-locks.ts'
import { createDatabase, overSessions } from '../support/database.ts'
import { describePresent } from '../support/describe-present.ts'
import { forSuite } from '../support/for-suite.ts'
import { openText } from '../support/open-text.ts'
import type { PoolerProcess } from '../support/pooler-process.ts'
import { poolers, type PoolerOptions } from '../support/poolers.ts'
import { postGraphql } from '../support/post-graphql.ts'

/**
 * Promise: a pooler may stand before the database. Requests through it are answered as without it, to each caller what is
 * theirs, whether it keeps prepared statements or not.
 */

const jwtSecret = 'a secret that has more than thirty-two characters'
const { anon } = projectKeys(jwtSecret)

const sql = `
  create table own (id int primary key, owner text, bytes bytea default '\\xff', day date default '2026-01-31');
  insert into own select n, 'user' || n from generate_series(1, 480) n;
  alter table own enable row level security;
  create policy mine on own using (owner = current_setting('request.jwt.claims')::json ->> 'sub');
  create function me() returns text stable language sql as
    $$ select current_user || ' ' || (current_setting('request.jwt.claims')::json ->> 'sub') $$;
  create function taints() returns text volatile language plpgsql as $$ begin
    perform set_config('request.jwt.claims', '{"sub":"user1"}', false);
    perform set_config('DateStyle', 'German', false);
    perform set_config('search_path', 'pg_catalog', false);
    perform set_config('role', 'service_role', false);
    return ''; end $$;
  create function lock_seven() returns boolean language sql volatile as $$ select pg_try_advisory_lock(7) $$;
  create function lock_and_fail() returns boolean language plpgsql volatile as $$
    begin perform pg_try_advisory_lock(8); raise exception 'no'; end $$;
  create function draft(t text) returns text language plpgsql volatile as $$
    begin create temp table if not exists drafts (body text); insert into drafts values (t);
    return (select string_agg(body, ',') from drafts); end $$;
  create function nap() returns text stable language sql as 'select pg_sleep(30)::text';
  do $$ begin execute format('alter database %I set bytea_output = escape', current_database()); end $$;
  grant usage on schema public to anon, authenticated, service_role;
  grant select, update on own to anon, authenticated, service_role;
`

interface Running {
  readonly url: string
  readonly events: readonly LogEvent[]
  readonly ready: Promise<void>
  readonly stop: () => Promise<void>
}

const serve = async (databaseUrl: string, more: Partial<ServerSettings> = {}): Promise<Running> => {
  const read = readSettings({})
  if (read.kind === 'invalid') throw new Error(read.problems.join())
  const settings = { ...read.settings, databaseUrl, jwtSecret, port: 0, ...more }
  const events: LogEvent[] = []
  let listens: (url: string) => void = () => undefined
  const listening = new Promise<string>((resolve) => (listens = resolve))
  const log = (event: LogEvent): void => {
    events.push(event)
    if (event.kind === 'listening') listens(event.url)
  }
  const database = openServerDatabase(settings)
  const ownerUrl = settings.databaseOwnerUrl ?? databaseUrl
  const prepare = createPrepareOnce({ ownerUrl, loginUrl: databaseUrl, log })
  const source = createFollowedSource({ schemas: ['public'], query: database.query, prepare, log })
  let end: (reason: string) => void = () => undefined
  const stopRequested = new Promise<string>((resolve) => (end = resolve))
  let onReady: () => void = () => undefined
  const ready = new Promise<void>((resolve) => (onReady = resolve))
  const whole = runServer({
    settings,
    database,
    source,
    createService,
    log,
    onReady,
    listensEarly: true,
    stopRequested,
  })
  const stop = (): Promise<void> => {
    end('the test')
    return whole
  }
  return { url: await listening, events, ready, stop }
}

const ask = async ({ url }: Running, sub: string, query: string, role = 'authenticated'): Promise<unknown> => {
  const token = await signToken({ sub, role, exp: Math.floor(Date.now() / 1_000) + 600 }, jwtSecret)
  const response = await postGraphql({ url, anon }, { query }, { authorization: `Bearer ${token}` })
  return response.json()
}

const through = ({ port }: PoolerProcess, url: string): string => {
  const through = new URL(url)
  through.port = String(port)
  return through.href
}

const all = poolers()

describePresent(
  all,
  ({ name }) => `through ${name} in transaction mode`,
  ({ name, keepsStatements, modes, start }) => {
    let pooler: PoolerProcess
    let server: Running
    const pooled = (options: Partial<PoolerOptions> = {}): Promise<PoolerProcess> =>
      start({ serverPort: Number(new URL(db.ownerUrl).port), size: 10, ...options })
    const db = forSuite(createDatabase, { prepare: true, sql })
    beforeAll(async () => {
      pooler = await pooled()
      server = await serve(through(pooler, db.url))
      await server.ready
    })
    afterAll(async () => {
      await server?.stop()
      await pooler?.close()
    })

    it('it is found out, and logged', () => {
      expect(server.events).toContainEqual({ kind: 'pooler-found', keepsStatements })
    })

    it('480 requests at once answer each caller with what is theirs, beside functions that leave things behind', async () => {
      const one = async (n: number): Promise<void> => {
        const query = '{ me ownCollection { edges { node { id day bytes } } } }'
        const role = n % 3 === 0 ? 'anon' : 'authenticated'
        const node = { id: n, day: '2026-01-31', bytes: '\\xff' }
        expect(await ask(server, `user${n}`, query, role)).toEqual({
          data: { me: `${role} user${n}`, ownCollection: { edges: [{ node }] } },
        })
        if (n % 12 === 0) await ask(server, `user${n}`, 'mutation { taints me }')
      }
      await Promise.all(Array.from({ length: 480 }, (_, index) => one(index + 1)))
    })

    it('no lock and no temporary table outlives its request, failed or not', async () => {
      for (const text of ['a', 'b', 'c'])
        expect(await ask(server, 'user1', `mutation { draft(t: "${text}") }`)).toEqual({ data: { draft: text } })
      expect(await ask(server, 'user1', 'mutation { lock_seven }')).toEqual({ data: { lock_seven: true } })
      expect(await ask(server, 'user1', 'mutation { lock_and_fail }')).toMatchObject({ errors: [{ message: 'no' }] })
      await expect.poll(() => advisoryLocksOf(db)).toBe(0)
    })

    it('a statement that could not be prepared may be asked again on its connection', async () => {
      const database = openDatabase({ url: through(pooler, db.url), schemas: ['public'], poolSize: 1 })
      const insert = openText('insert into late values (1) returning id')
      const statements = [{ name: 'test.late', text: insert, values: [], carriesCheck: true }] as const
      const caller = { role: 'service_role', claims: '{"role":"service_role"}' }
      const write = () => database.run({ caller, version: null, readOnly: false, statements })
      const make = 'create table late (id int); grant all on late to service_role'
      onTestFinished(() => database.close())
      await expect(write()).rejects.toMatchObject({ sqlstate: '42P01' })
      await db.query(make)
      expect(await write()).toEqual([['1']])
      await db.query('drop table late')
      await expect(write()).rejects.toMatchObject({ sqlstate: '42P01' })
      await db.query(make)
      expect(await write()).toEqual([['1']])
    })

    it('a change of the schema is seen by the next request', async () => {
      await db.query('alter table own add column mood text')
      expect(await ask(server, 'user7', '{ ownCollection { edges { node { mood } } } }')).toEqual({
        data: { ownCollection: { edges: [{ node: { mood: null } }] } },
      })
    })

    it('a statement that runs past its deadline is cancelled in Postgres', async () => {
      const hasty = await serve(through(pooler, db.url), { requestTimeoutMs: 500 })
      onTestFinished(() => hasty.stop())
      await hasty.ready
      expect(await ask(hasty, 'user1', '{ nap }')).toMatchObject({ errors: [{ extensions: {} }] })
      const napping = `select from pg_stat_activity where state = 'active' and query like '%nap%' and pid <> pg_backend_pid()`
      await expect.poll(async () => (await overSessions(db).query(napping)).rowCount).toBe(0)
    })

    it('a pooler of another kind in the same place is found out again', async () => {
      const serverPort = Number(new URL(db.ownerUrl).port)
      const found = all.filter(({ missing }) => missing === null)
      for (const other of [...found, ...found]) {
        await pooler.close()
        pooler = await other.start({ serverPort, size: 10, port: pooler.port })
        const answered = async () => JSON.stringify(await ask(server, 'user3', '{ me }'))
        await expect.poll(answered, { timeout: 15_000 }).toBe('{"data":{"me":"authenticated user3"}}')
        const at = Array.from({ length: 40 }, (_, n) => ask(server, `user${n}`, `{ me a${n % 5}: me }`))
        for (const [n, answer] of (await Promise.all(at)).entries())
          expect(answer, JSON.stringify(answer)).toMatchObject({ data: { me: `authenticated user${n}` } })
      }
    })

    it.skipIf(!keepsStatements)(
      'a pooler that stops keeping statements is found out by the first that it lost',
      async () => {
        const changing = await pooled({ lines: ['admin_users = postgres'] })
        const admin = new pg.Client({ host: '127.0.0.1', port: changing.port, user: 'postgres', database: 'pgbouncer' })
        const before = await serve(through(changing, db.url))
        onTestFinished(async () => {
          await admin.end()
          await before.stop()
          await changing.close()
        })
        await before.ready
        const askAll = async (): Promise<void> => {
          const all = Array.from({ length: 60 }, (_, n) => ask(before, `user${n}`, `{ me a${n % 5}: me }`))
          for (const [n, answer] of (await Promise.all(all)).entries())
            expect(answer, JSON.stringify(answer)).toMatchObject({ data: { me: `authenticated user${n}` } })
        }
        // So that every connection has names to lose.
        await askAll()
        await admin.connect()
        await admin.query('set max_prepared_statements = 0')
        await askAll()
      },
    )

    it('knowledge of a server is not used when the pooler has moved to another', async () => {
      const other = await createDatabase({
        prepare: true,
        isolated: true,
        sql: 'create table more (id int primary key)',
      })
      const moving = await pooled()
      const database = openDatabase({ url: through(moving, db.url), schemas: ['public'] })
      onTestFinished(async () => {
        await database.close()
        await moving.close()
        await other.drop()
      })
      const { rows } = await database.query<{ version: string; mark: string; counter: string }>(
        `select ${versionExpression} as version, ${markExpression}::text as mark`,
      )
      const { version = '', mark = '' } = rows[0] ?? {}
      // As after a failover that lost the newest change: the mark had reached the other server, and the change had not.
      await other.query(`select setval('catalograph.schema_mark', $1)`, [mark])
      const statement = { name: 'test.one', text: openText('select 1'), values: [], carriesCheck: true } as const
      const caller = { role: 'anon', claims: '{"role":"anon"}' }
      const privileges = { role: 'anon', superuser: false, holders: [], held: new Set<string>() }
      const run = () => database.run({ caller, version, privileges, readOnly: true, statements: [statement] })
      for (const end = performance.now() + 1_500; performance.now() < end; await pause(20)) await run()
      const before = await run()
      moving.moveTo(Number(new URL(other.ownerUrl).port), new URL(other.ownerUrl).pathname.slice(1))
      const moved = async () => (await database.query('select from pg_catalog.pg_class where relname = $$more$$')).rows
      await expect.poll(moved).toHaveLength(1)
      await expect(run()).rejects.toMatchObject({ kind: 'stale' })
      expect(before).toEqual([['1']])
    })

    const readiness = async ({ url }: Running): Promise<string> => {
      const response = await fetch(`${url}/readyz`)
      return `${response.status} ${((await response.json()) as { fault: string | null }).fault ?? ''}`
    }

    const wrongModes = [
      ['none', 'transaction', 'DATABASE_POOLER=none, but a pooler is in front of the database: set it to auto'],
      ['auto', 'statement', 'set its pool_mode to transaction'],
    ] as const

    it.each(wrongModes.filter(([, poolMode]) => modes.includes(poolMode)))(
      'DATABASE_POOLER=%s in %s mode: /readyz says what to change',
      async (setting, poolMode, sentence) => {
        const wrong = await pooled({ mode: poolMode })
        const refused = await serve(through(wrong, db.url), { pooler: setting, shutdownGraceMs: 0 })
        onTestFinished(async () => {
          await refused.stop()
          await wrong.close()
        })
        await expect.poll(() => readiness(refused)).toMatch(sentence)
        expect(await readiness(refused)).toMatch(/^503 /)
      },
    )

    it.skipIf(!modes.includes('statement'))(
      'the owner alone behind one in statement mode: /readyz says what to change, and nothing once that was done',
      async () => {
        let before = await pooled({ mode: 'statement' })
        const refused = await serve(db.url, { databaseOwnerUrl: through(before, db.ownerUrl), shutdownGraceMs: 0 })
        onTestFinished(async () => {
          await refused.stop()
          await before.close()
        })
        await expect
          .poll(() => readiness(refused), { timeout: 15_000 })
          .toBe(
            '503 the pooler before the database of DATABASE_OWNER_URL lends connections for single statements: set its pool_mode to transaction',
          )
        await before.close()
        before = await pooled({ port: before.port })
        await expect.poll(() => readiness(refused), { timeout: 15_000 }).toBe('200 ')
      },
    )

    it.skipIf(!name.startsWith('pgcat'))(
      'pgcat with its cache of statements is reported by /readyz, which says what to change',
      async () => {
        let before = await pooled({ statements: 100 })
        const refused = await serve(through(before, db.url), { shutdownGraceMs: 0 })
        onTestFinished(async () => {
          await refused.stop()
          await before.close()
        })
        await expect
          .poll(() => readiness(refused), { timeout: 15_000 })
          .toBe(
            '503 pgcat before the database loses track of prepared statements: set its prepared_statements_cache_size to 0',
          )
        await before.close()
        before = await pooled({ port: before.port })
        await expect.poll(() => readiness(refused), { timeout: 15_000 }).toBe('200 ')
      },
    )

    it('people sign up, sign in and out', async () => {
      const closing: PoolerProcess[] = []
      const authPort = async (serverPort: number): Promise<number> => {
        const before = await pooled({ serverPort })
        closing.push(before)
        return before.port
      }
      const auth = await startAuthServer({ settings: { autoconfirm: 'on' }, authPort })
      onTestFinished(async () => {
        await auth.stop()
        for (const one of closing) await one.close()
      })
      const people = Array.from({ length: 12 }, (_, n) => ({ email: `p${n}@example.com`, password: 'correct horse' }))
      await Promise.all(
        people.map(async (person) => {
          const client = auth.client()
          expect((await client.auth.signUp(person)).error).toBeNull()
          const { data, error } = await client.auth.signInWithPassword(person)
          expect(error).toBeNull()
          expect(data.user?.email).toBe(person.email)
          expect((await client.auth.refreshSession()).error).toBeNull()
          expect((await client.auth.signOut()).error).toBeNull()
        }),
      )
      const { rows } = await auth.db.query('select count(*)::int as users from auth.users')
      expect(rows).toEqual([{ users: people.length }])
    })
  },
)
