import { describe, expect, it, onTestFinished } from 'vitest'
import { doctorCommand } from '../../../../../compiler/commands/doctor.ts'
import type { Finding } from '../../../../../compiler/commands/advise/doctor/findings.ts'
import { prepareDatabase } from '../../../../../compiler/following/prepare/prepare.ts'
import { freePort } from '../../../../../runtime/db/embedded/free-port.ts'
import { runCommand } from '../../../../support/command.ts'
import { createDatabase } from '../../../../support/database.ts'
import { describePresent } from '../../../../support/describe-present.ts'
import { forSuite } from '../../../../support/for-suite.ts'
import { findPgcat, noPgcat, startPgcat } from '../../../../support/pgcat.ts'
import { titled } from '../../../../support/programs.ts'
import type { PoolerProcess, PoolMode } from '../../../../support/pooler-process.ts'
import { poolers } from '../../../../support/poolers.ts'

const JWT_SECRET = 'a secret that has more than thirty-two characters'

const findingsWith = async (environment: Readonly<Record<string, string>>): Promise<readonly Finding[]> => {
  const { printed } = await runCommand([doctorCommand], ['doctor', '--json'], {
    environment,
  })
  return JSON.parse(printed) as readonly Finding[]
}

/** The verdict on one subject, and what to do. */
const told = (findings: readonly Finding[], check: string): Omit<Finding, 'check'> | undefined => {
  const [found] = findings.filter((one) => one.check === check)
  return found && { verdict: found.verdict, message: found.message, fix: found.fix }
}

const loosely = ({ message, ...finding }: { readonly verdict: string; readonly message: RegExp }) => ({
  ...finding,
  message: expect.stringMatching(message),
})

describe('catalograph doctor', () => {
  const db = forSuite(createDatabase, {
    isolated: true,
    sql: `create table notes (id int primary key, body text); create table odd (id int primary key, node_id int)`,
  })

  const whole = () => ({ DATABASE_URL: db.url, DATABASE_OWNER_URL: db.ownerUrl, JWT_SECRET })

  it('finds what is missing before the first start, one after the other', async () => {
    expect(told(await findingsWith({}), 'settings')).toMatchObject({
      verdict: 'fault',
      message: 'no database is configured',
      fix: expect.any(String),
    })
    expect(told(await findingsWith({ PORT: 'x' }), 'settings')).toMatchObject({
      verdict: 'fault',
      message: expect.stringMatching(/^PORT /),
    })
    expect(told(await findingsWith({ DATABASE_URL: 'postgres://a@127.0.0.1:1/b' }), 'connection')).toMatchObject({
      verdict: 'fault',
      message: expect.stringContaining('nothing listens there'),
      fix: 'check DATABASE_URL',
    })
    const found = await findingsWith({ DATABASE_URL: db.url })
    expect(told(found, 'keys')).toMatchObject({ verdict: 'fault', message: 'JWT_SECRET is not set' })
    expect(told(found, 'prepared')).toMatchObject({
      verdict: 'fault',
      message: expect.stringContaining('things are missing'),
    })
    expect(told(found, 'grants')).toMatchObject({
      verdict: 'fault',
      message: 'no role sees any of 2 tables and views, so the API is empty',
      fix: expect.stringMatching(/^grant usage/),
    })
    expect(told(found, 'introspection')?.message).toMatch(/^off; .*catalograph schema .*\{"introspection": true\}/)
    expect(told(found, 'prepared')?.fix).toContain('authenticator may not create schema catalograph; let owner run: ')
  })

  it('grants no column that looks like a secret', async () => {
    const before = await createDatabase({
      isolated: true,
      sql: `create table people (id int primary key, name text, password_hash text, twofa_key text, password_login boolean);
        create table vault (secret text primary key); create table open_things (id int primary key);`,
    })
    onTestFinished(() => before.drop())
    const environment = { DATABASE_URL: before.url, DATABASE_OWNER_URL: before.ownerUrl, JWT_SECRET }
    await prepareDatabase({ url: before.ownerUrl, login: 'authenticator' })
    await before.query(told(await findingsWith(environment), 'grants')?.fix ?? '')
    const { rows } = await before.query(`select c.relname || '.' || a.attname as name
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0
          and has_column_privilege('anon', c.oid, a.attnum, 'select') order by 1`)
    expect(rows.map(({ name }: { name: string }) => name)).toEqual([
      'open_things.id',
      'people.id',
      'people.name',
      'people.password_login',
    ])
  })

  it('finds nothing where its advice was followed', async () => {
    const before = await runCommand([doctorCommand], ['doctor'], { environment: whole() })
    expect(before.exitCode).toBe(1)
    await db.query(told(await findingsWith(whole()), 'grants')?.fix ?? '')
    await prepareDatabase({ url: db.superuser('makes event triggers').url, login: 'authenticator' })
    await db.query('comment on schema public is \'@graphql({"introspection": true})\'')
    await db.query('comment on table notes is \'@graphql({"nmae": "Note"})\'')
    const after = await runCommand([doctorCommand], ['doctor'], { environment: whole() })
    expect(after.exitCode).toBe(0)
    expect(after.printed).toMatch(/^ok +introspection +answered for public$/m)
    expect(after.printed).toMatch(/^ok .* prepared .* the database is prepared/m)
    expect(after.printed).toMatch(
      /^advice .* comments .* 1 comments or settings in them have no effect\n +-> catalograph report/m,
    )
  })

  it('looks at the role that logs in', async () => {
    expect(
      told(await findingsWith({ ...whole(), DATABASE_URL: db.superuser('is the login').url }), 'login'),
    ).toMatchObject({
      verdict: 'advice',
      message: 'requests log in as postgres, a superuser',
    })
    await db.query('revoke anon from authenticator; alter role authenticator inherit')
    const found = await findingsWith(whole())
    expect(told(found, 'roles')).toMatchObject({
      verdict: 'fault',
      message: 'authenticator may not become anon',
      fix: 'grant "anon" to "authenticator";',
    })
    expect(told(found, 'login')).toMatchObject({
      verdict: 'advice',
      message: 'authenticator inherits what its roles may do',
    })
    await db.query('grant anon to authenticator; alter role authenticator noinherit')
  })

  it('looks at what surrounds the database', async () => {
    await db.query(
      'alter database :name set plan_cache_mode = force_custom_plan'.replace(
        ':name',
        new URL(db.url).pathname.slice(1),
      ),
    )
    const smtp = {
      SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
      BASE_URL: 'http://example.com',
      DB_POOL_SIZE: '500',
    }
    const found = await findingsWith({ ...whole(), ...smtp })
    expect(told(found, 'mail')).toMatchObject({ verdict: 'fault', message: expect.stringContaining('ECONNREFUSED') })
    expect(told(found, 'address')).toMatchObject({
      verdict: 'advice',
      message: expect.stringContaining('is not encrypted'),
    })
    expect(told(found, 'connections')).toMatchObject({
      verdict: 'advice',
      message: expect.stringContaining('may open 512 connections'),
    })
    expect(told(found, 'plans')).toMatchObject({ verdict: 'advice', message: 'plan_cache_mode is force_custom_plan' })
    expect(told(found, 'clock')).toMatchObject({ verdict: 'ok', message: 'the clocks agree', fix: null })
  })

  it('looks at live tables, where there are any', async () => {
    expect(told(await findingsWith(whole()), 'live')).toBeUndefined()
    const live = await createDatabase({
      isolated: true,
      superuser: 'has superusers, and objects of several owners',
      sql: `create role writer; grant usage, create on schema public to writer;
        create table notes (id int primary key);
        set role writer; create table drafts (id int primary key); reset role;
        create role preparer login createrole; do $$ begin execute format('grant create on database %I to preparer', current_database()); end $$;
        grant usage on schema public to preparer, authenticator;
        comment on schema public is '@graphql({"live": {"enabled": true}})';`,
    })
    onTestFinished(() => live.drop())
    const environment = { DATABASE_URL: live.url, DATABASE_OWNER_URL: live.ownerUrl, JWT_SECRET }
    const lives = async () => (await findingsWith(environment)).filter(({ check }) => check === 'live')
    expect(await lives()).toMatchObject([{ verdict: 'fault', message: /event triggers/ }].map(loosely))
    await prepareDatabase({ url: live.ownerUrl, login: 'authenticator' })
    expect(await lives()).toMatchObject([
      { verdict: 'advice', message: 'public.drafts has no triggers yet that report its changes' },
      { verdict: 'advice', message: 'public.notes has no triggers yet that report its changes' },
      { verdict: 'ok', message: '0 tables and views can be watched' },
    ])
    // Tables before the functions that write to them, which event triggers call.
    const objects = `select 'alter schema catalograph owner to preparer' as make union all (
        select format('alter table %s owner to preparer', c.oid::regclass) from pg_class c
        where c.relnamespace = 'catalograph'::regnamespace and c.relkind in ('r', 'S', 'v')
          and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('a', 'i'))) union all (
        select format('alter function %s owner to preparer', p.oid::regprocedure)
        from pg_proc p where p.pronamespace = 'catalograph'::regnamespace)`
    for (const { make } of (await live.query(objects)).rows) await live.query(make)
    expect((await lives())[0]).toMatchObject({
      verdict: 'fault',
      message: "public.drafts cannot be watched: preparer may not give it triggers, since it is writer's",
      fix: 'grant "writer" to "preparer";',
    })
    await live.query('drop table catalograph.live_changes')
    expect(await lives()).toMatchObject([{ verdict: 'fault', message: /not prepared for live queries/ }].map(loosely))
    await prepareDatabase({ url: live.ownerUrl, login: 'authenticator' })
    await live
      .query(`select catalograph.live_install(c) from (values ('notes'::regclass)) t (c)`)
      .catch(() => undefined)
    const wrong = { ...environment, DATABASE_LISTEN_URL: 'postgres://a@127.0.0.1:1/b' }
    expect(told(await findingsWith(wrong), 'live')).toMatchObject({
      verdict: 'fault',
      message: expect.stringMatching(/^no change is reported: /),
    })
  })

  /** The finding of doctor about a pooler that is started for one of the URLs. */
  const foundThrough = async (
    start: (serverPort: number) => Promise<PoolerProcess>,
    DATABASE_POOLER: string,
    by = 'DATABASE_URL',
  ) => {
    const url = new URL(db.url)
    const pooler = await start(Number(url.port))
    url.port = String(pooler.port)
    try {
      const findings = await findingsWith({ ...whole(), [by]: url.href, DATABASE_POOLER })
      return findings.findLast(({ check }) => check === 'pooler')
    } finally {
      await pooler.close()
    }
  }

  describePresent(
    poolers(),
    ({ name }) => `through ${name}`,
    ({ keepsStatements, modes, start }) => {
      const inMode = (mode: PoolMode) => (serverPort: number) => start({ serverPort, mode })

      it('says what stands before the database, and what would be better', async () => {
        expect(await foundThrough(inMode('transaction'), 'auto')).toMatchObject({
          verdict: keepsStatements ? 'ok' : 'advice',
        })
        expect(await foundThrough(inMode('session'), 'auto')).toMatchObject({ verdict: 'ok' })
        expect(await foundThrough(inMode('session'), 'no-statements')).toMatchObject({
          verdict: 'advice',
          fix: 'set DATABASE_POOLER to auto',
        })
      })

      it.skipIf(!modes.includes('statement'))('says the same of the pooler that a replica is behind', async () => {
        const pooler = await start({ serverPort: Number(new URL(db.url).port), mode: 'statement' })
        const url = new URL(db.url)
        url.port = String(pooler.port)
        onTestFinished(() => pooler.close())
        const findings = await findingsWith({ ...whole(), DATABASE_REPLICA_URLS: url.href })
        expect(told(findings, 'replicas')?.message).toMatch(/statement pooling mode: set pool_mode of the pooler to/)
      })

      it.skipIf(!modes.includes('statement'))('says that single statements cannot work', async () => {
        expect(await foundThrough(inMode('statement'), 'auto')).toMatchObject({
          verdict: 'fault',
          fix: 'set its pool_mode to transaction',
        })
        for (const name of ['DATABASE_OWNER_URL', 'DATABASE_AUTH_URL'])
          expect(await foundThrough(inMode('statement'), 'auto', name)).toMatchObject({
            verdict: 'fault',
            message: `the pooler before the database of ${name} lends connections for single statements`,
            fix: 'set its pool_mode to transaction',
          })
      })

      it('says which settings cannot work, and what to change', async () => {
        expect(await foundThrough(inMode('transaction'), 'none')).toMatchObject({
          verdict: 'fault',
          fix: 'set it to auto',
        })
        expect(await foundThrough(inMode('transaction'), 'statements')).toMatchObject({
          verdict: keepsStatements ? 'ok' : 'fault',
        })
      })
    },
  )

  const pgcat = findPgcat()

  it.skipIf(pgcat === null)(
    titled('says that pgcat cannot keep statements, whatever DATABASE_POOLER says', noPgcat()),
    async () => {
      const start = (serverPort: number) => startPgcat({ program: pgcat?.path ?? '', serverPort, statements: 100 })
      for (const setting of ['auto', 'statements', 'no-statements'])
        expect(await foundThrough(start, setting)).toMatchObject({
          verdict: 'fault',
          message: 'pgcat before the database loses track of prepared statements',
          fix: 'set its prepared_statements_cache_size to 0',
        })
    },
  )
})
