import pg from 'pg'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { foldVersions, prepareDatabase } from '../../compiler/following/prepare/prepare.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { versionExpression } from '../../runtime/db/check/version.ts'
import {
  asRole,
  createDatabase,
  dropTemplates,
  majors,
  type TestDatabase,
  type TestDatabaseOptions,
} from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { lawMajors } from '../support/whole.ts'

const done = { ready: true, followed: true, live: true, statements: [] }

/** The result of a preparation by an owner who may not create event triggers. */
const unfollowed = { ready: true, followed: false }
const makesEventTriggers = 'makes event triggers'

/** The rows that a preparation may write: system catalogues and the counter, with their row versions. */
const footprint = `select string_agg(x, e'\\n' order by x) as all from (
  select 'proc ' || oid || ' ' || xmin from pg_proc where oid >= 16384 union all
  select 'class ' || oid || ' ' || xmin from pg_class where oid >= 16384 union all
  select 'schema ' || oid || ' ' || xmin from pg_namespace union all
  select 'trigger ' || oid || ' ' || xmin from pg_event_trigger union all
  select 'count ' || pid || ' ' || n || ' ' || xmin from catalograph.schema_version) t(x)`

const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client(url)
  await client.connect()
  return client
}

describe.each(majors())('preparing a database of PostgreSQL %i', (major) => {
  const law = test.runIf(lawMajors().includes(major))
  const opened: TestDatabase[] = []
  const create = async (options: Omit<TestDatabaseOptions, 'major'> = {}): Promise<TestDatabase> => {
    const made = await createDatabase({ major, ...options })
    opened.push(made)
    return made
  }
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.drop()
  })
  const ask = async ({ queryAsLogin }: TestDatabase, role: string, claims: string, text: string): Promise<unknown> => {
    await queryAsLogin('begin')
    await queryAsLogin(`select set_config('request.jwt.claims', $1, true)`, [claims])
    await queryAsLogin(`set local role ${role}`)
    const { rows } = await queryAsLogin(text)
    await queryAsLogin('rollback')
    return rows[0]
  }

  test('a superuser gets everything; a second run is the same and writes nothing', async () => {
    const database = await create()
    const { url } = database.superuser(makesEventTriggers)
    expect(await prepareDatabase({ url, login: 'authenticator' })).toEqual(done)
    const before = (await database.query(footprint)).rows
    expect(await prepareDatabase({ url, login: 'authenticator' })).toEqual(done)
    expect(await prepareDatabase({ url: database.url })).toEqual(done)
    expect((await database.query(footprint)).rows).toEqual(before)
  })

  law('two at once do not collide', async () => {
    const database = await create()
    const both = await Promise.all(
      [1, 2, 3].map(() => prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })),
    )
    expect(both).toMatchObject([unfollowed, unfollowed, unfollowed])
  })

  test('a role that may not changes nothing and returns the statements for an owner to run', async () => {
    const database = await create()
    const refused = await prepareDatabase({ url: database.url })
    expect(refused.ready).toBe(false)
    expect((await database.query(`select to_regnamespace('catalograph') as schema`)).rows).toEqual([{ schema: null }])
    const { query } = database.superuser(makesEventTriggers)
    for (const statement of refused.ready ? [] : refused.statements) await query(statement)
    expect(await prepareDatabase({ url: database.url })).toEqual(done)
  })

  test('an owner without the right to event triggers: served, not followed, until a superuser helps', async () => {
    const database = await create()
    const first = await prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })
    expect(first).toMatchObject(unfollowed)
    expect(first.statements).toHaveLength(2)
    for (const statement of first.statements) await database.superuser(makesEventTriggers).query(statement)
    expect(await prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })).toEqual(done)
  })

  test.each([
    ['an owner', ({ ownerUrl }: TestDatabase) => ownerUrl, unfollowed],
    ['a superuser', ({ superuser }: TestDatabase) => superuser('lets service_role bypass policies').url, done],
  ])(
    'on a server without the roles of the API %s makes them, and the login may take them on',
    async (who, urlOf, made) => {
      const database = await create({ isolated: true })
      await dropTemplates(database)
      await database.query(
        'drop role authenticator, anon, authenticated, service_role; create role app login noinherit',
      )
      expect(await prepareDatabase({ url: urlOf(database), login: 'app' })).toMatchObject(made)
      const { rows } =
        await database.query(`select rolname, rolcanlogin, rolinherit, rolbypassrls, rolsuper from pg_roles
      where rolname in ('anon', 'authenticated', 'service_role') and pg_has_role('app', oid, 'MEMBER')
      order by rolname`)
      const plain = { rolcanlogin: false, rolinherit: false, rolbypassrls: false, rolsuper: false }
      expect(rows).toEqual([
        { rolname: 'anon', ...plain },
        { rolname: 'authenticated', ...plain },
        { rolname: 'service_role', ...plain, rolbypassrls: who === 'a superuser' },
      ])
      const client = await connect(asRole(database.ownerUrl, 'app'))
      await client.query('set role service_role')
      await client.end()
    },
  )

  law('functions of schema auth that exist are left alone', async () => {
    const database = await create({
      sql: `create schema auth; create function auth.uid() returns text language sql as $$ select 'mine' $$`,
    })
    expect(await prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })).toMatchObject(unfollowed)
    expect((await database.query('select auth.uid() as uid')).rows).toEqual([{ uid: 'mine' }])
  })

  law('a function of ours that is out of date is replaced', async () => {
    const database = await create()
    await prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })
    const old = `create or replace function catalograph.refuse(reason text) returns boolean
      language sql as 'select true'`
    await database.query(old)
    expect(await prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })).toMatchObject(unfollowed)
    const refusal = { code: 'CG002', message: 'no' }
    await expect(database.query(`select catalograph.refuse('no')`)).rejects.toMatchObject(refusal)
  })

  law('the counter of changes plans its questions once in a session, also where an older version made it', async () => {
    const database = await create()
    const { url, query } = database.superuser(makesEventTriggers)
    const settings = async (): Promise<unknown> =>
      (
        await query(`select distinct proconfig::text as of from pg_proc
          where oid in (select evtfoid from pg_event_trigger)`)
      ).rows
    const once = [{ of: '{"search_path=pg_catalog, pg_temp",plan_cache_mode=force_generic_plan}' }]
    await prepareDatabase({ url })
    expect(await settings()).toEqual(once)
    await query('alter function catalograph.count_commands() reset plan_cache_mode')
    expect(await prepareDatabase({ url })).toEqual(done)
    expect(await settings()).toEqual(once)
  })

  law.each([
    ['recorded no changes', 'drop table catalograph.schema_record'],
    ['recorded no steps', 'alter table catalograph.schema_record drop column step'],
    ['recorded no relations that have no name', 'alter table catalograph.schema_record drop column unnamed'],
  ])('a database that an older version prepared, which %s, is brought up to date', async (_, without) => {
    const database = await create()
    const { url, query } = database.superuser(makesEventTriggers)
    await prepareDatabase({ url })
    const old = (name: string): string => `create or replace function catalograph.${name}() returns event_trigger
      language plpgsql security definer as 'begin insert into catalograph.schema_version as v
      values (pg_backend_pid(), 1) on conflict (pid) do update set n = v.n + 1; end'`
    await query(`${old('count_commands')}; ${old('count_drops')}; ${without}`)
    expect(await prepareDatabase({ url })).toEqual(done)
    await database.query('create table recorded ()')
    const { rows } = await query(`select objects = array['recorded'::regclass::oid] as recorded
      from catalograph.schema_record order by xid desc limit 1`)
    expect(rows).toEqual([{ recorded: true }])
  })

  law('a preparation that meets a lock gives up and can be tried again', async () => {
    const database = await create()
    await prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })
    await database.query(`drop function catalograph.refuse(text)`)
    const other = await connect(database.ownerUrl)
    try {
      await other.query(
        `begin; create function catalograph.refuse(reason text) returns boolean language sql as 'select true'`,
      )
      await expect(prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })).rejects.toMatchObject({
        sqlstate: '55P03',
      })
    } finally {
      await other.end()
    }
    expect(await prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })).toMatchObject(unfollowed)
  })

  law('policies can ask who asks; anonymous callers and missing claims are nobody', async () => {
    const database = await create()
    await prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })
    const sub = '6a4d6cc0-1b0f-4f6f-8f3e-0a0a0a0a0a0a'
    const claims = JSON.stringify({ sub, role: 'authenticated', email: 'a@example.com', aal: 'aal2' })
    const who = `select auth.uid()::text as uid, auth.role() as role, auth.email() as email,
      auth.jwt() ->> 'aal' as aal`
    const somebody = { uid: sub, role: 'authenticated', email: 'a@example.com', aal: 'aal2' }
    expect(await ask(database, 'authenticated', claims, who)).toEqual(somebody)
    const nobody = { uid: null, role: null, email: null, aal: null }
    for (const role of ['anon', 'service_role']) expect(await ask(database, role, '', who)).toEqual(nobody)
  })

  law('removing what was made leaves a database that still accepts changes', async () => {
    const database = await create()
    await prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })
    await database.query('drop schema catalograph cascade')
    await database.query('create table after_that ()')
    expect(await prepareDatabase({ url: database.ownerUrl, login: 'authenticator' })).toMatchObject(unfollowed)
  })
})

describe.each(majors())('the schema version of PostgreSQL %i', (major) => {
  const database = forSuite(createDatabase, {
    major,
    // Roles come and go here.
    isolated: true,
    prepare: true,
    sql: `
        create table base (id int primary key, body text, other int);
        create table child (id int primary key, base int references base);
        create view seen as select * from base;
        create materialized view kept as select * from base;
        create unique index kept_id on kept (id);
        create type mood as enum ('sad');
        create type pair as (a int);
        create function twice(int) returns int language sql as 'select $1 * 2';
        create function fires() returns trigger language plpgsql as 'begin return new; end';
        create table going (id int primary key default 5, body text);
        create trigger going_trigger before insert on going for each row execute function fires();
        create policy going_policy on going;
        create rule going_rule as on insert to going do nothing;
        create schema emptied; create function gone() returns int language sql as 'select 1';
        create index plain_index on base (body);
        create role member; create role group_role;
        grant select on base to member;`,
  })

  const versionBy = async (client: { query: (text: string) => Promise<pg.QueryResult> }): Promise<string> =>
    (await client.query(`select ${versionExpression} as v`)).rows[0].v
  const changes = async (text: string, { query }: Pick<TestDatabase, 'query'> = database): Promise<boolean> => {
    const before = await versionBy(database)
    for (const statement of text.split(';;')) await query(statement)
    return (await versionBy(database)) !== before
  }

  test.each([
    'drop owned by member',
    'alter role member superuser',
    'alter role member nosuperuser',
    'set session_replication_role = replica;; create table t4 ();; set session_replication_role = origin',
  ])('is another one after a superuser’s: %s', async (text) => {
    expect(await changes(text, database.superuser('runs what only superusers may'))).toBe(true)
  })

  test.each([
    'create table t1 (id serial primary key, b text unique)',
    'create table t2 as select 1 as x',
    'select 1 as x into t3',
    'alter table base add column extra int',
    'alter table base rename column extra to more',
    'alter table base drop column more',
    'alter table base alter column other set default 5',
    'alter table base alter column other drop default',
    'alter table base owner to current_user;; alter table base enable row level security',
    'alter table t2 rename to t2b',
    'alter table t2b set schema emptied',
    'drop table emptied.t2b',
    'create or replace view seen as select *, 1 as one from base',
    'drop view seen',
    'create materialized view second as select 1 as x',
    'drop materialized view second',
    `alter type mood add value 'glad'`,
    `alter type mood rename value 'glad' to 'merry'`,
    'alter type pair add attribute b int',
    'create domain positive as int check (value > 0)',
    'drop domain positive',
    `create or replace function twice(int) returns int language sql stable as 'select $1 * 2'`,
    'drop function gone()',
    'create schema another',
    'drop schema another',
    'create sequence counting',
    'drop sequence counting',
    'create policy some_policy on base',
    'drop policy some_policy on base',
    'create trigger some_trigger before insert on base for each row execute function fires()',
    'drop trigger some_trigger on base',
    'drop rule going_rule on going',
    'drop table going',
    'create unique index unique_index on base (other)',
    'drop index unique_index',
    `comment on table base is '@graphql({"name": "Basis"})'`,
    `comment on column base.body is 'text'`,
    `comment on schema public is '@graphql({"inflect_names": true})'`,
    `comment on constraint child_base_fkey on child is 'text'`,
    `comment on function twice(int) is 'text'`,
    'grant select on base to anon',
    'grant update (body) on base to anon',
    'revoke select on base from anon',
    'grant execute on function twice(int) to anon',
    'grant usage on schema public to anon',
    'alter default privileges in schema public grant select on tables to anon',
    'grant group_role to member',
    'revoke group_role from member',
    'alter role member noinherit',
    'alter role member inherit',
    'alter role member rename to member_b;; alter role member_b rename to member;; alter role member noinherit',
  ])('is another one after: %s', async (text) => {
    expect(await changes(text)).toBe(true)
  })

  test.each([
    `create temp table x1 (id serial primary key, b text default 'x' check (b <> ''))`,
    'create index on x1 (b);; alter table x1 add column c int default 3;; comment on table x1 is $$temporary$$',
    'create trigger some_trigger before insert on x1 for each row execute function fires()',
    'drop table x1',
    'create temp table x2 as select 1 as x;; drop table x2',
    'create temp table x3 (id int primary key) on commit drop',
    'create temp view x4 as select 1 as x;; drop view x4',
    'create temp sequence x5;; drop sequence x5',
    `create function pg_temp.x6() returns int language sql as 'select 1';; drop function pg_temp.x6()`,
    'create type pg_temp.x7 as (a int);; drop type pg_temp.x7',
    'refresh materialized view kept',
    'refresh materialized view concurrently kept',
    'create statistics some_statistics on id, other from base;; drop statistics some_statistics',
    'create publication some_publication for table base;; drop publication some_publication',
    'create index concurrently another_index on base (other)',
    'create index if not exists another_index on base (other)',
    'reindex table base',
    'reindex index concurrently plain_index',
    'create table if not exists base ()',
    'drop table if exists never_was',
    'truncate base cascade',
    'analyze base',
    'vacuum base',
    'vacuum full base',
    'cluster base using base_pkey',
    'insert into base (id) values (1)',
    `select set_config('a.b', 'c', false)`,
    'begin;; create table never ();; rollback',
    'begin;; grant select on base to anon;; drop table child;; rollback',
  ])('stays after: %s', async (text) => {
    expect(await changes(text)).toBe(false)
  })

  test('two sessions change the schema at once without waiting; each counts at its commit', async () => {
    const [first, second] = await Promise.all([connect(database.ownerUrl), connect(database.ownerUrl)])
    onTestFinished(async () => void (await Promise.all([first.end(), second.end()])))
    const start = await versionBy(database)
    await first.query(`begin; set local lock_timeout = '1s'; create table by_first ()`)
    await second.query(`begin; set local lock_timeout = '1s'; create table by_second ()`)
    expect(await versionBy(database)).toBe(start)
    expect(await versionBy(first)).not.toBe(start)
    await second.query('commit')
    const middle = await versionBy(database)
    expect(middle).not.toBe(start)
    await first.query('commit')
    expect([start, middle]).not.toContain(await versionBy(database))
  })

  test('any role may read it and fold it; folding keeps it and waits for no lock', async () => {
    await database.query('insert into catalograph.schema_version select -x, 1 from generate_series(1, 40) x')
    const open = await connect(database.ownerUrl)
    onTestFinished(() => open.end())
    await open.query('begin; create table still_open ()')
    const before = await versionBy(database)
    await withSession({ url: database.url, statementTimeout: 2_000 }, async (query) => {
      await query('set role anon')
      await foldVersions(query)
      expect((await query<{ v: string }>(`select ${versionExpression} as v`)).rows).toEqual([{ v: before }])
    })
    const { rows } = await database.query('select count(*)::int as n from catalograph.schema_version where pid <> 0')
    expect(rows[0].n).toBe(0)
    await open.query('commit')
    expect(await versionBy(database)).not.toBe(before)
  })

  test('a temporary object cannot pose as a catalogue to the counter, which runs with its owner’s rights', async () => {
    await database.query(`create function public.spy(oid) returns boolean language plpgsql as
      'begin raise exception ''ran as %'', current_user; end'`)
    await database.query('create temp view pg_index as select 1::oid as indexrelid, public.spy(1::oid) as indisunique')
    await database.query('create index on base (id, other)')
    await database.query('drop view pg_temp.pg_index; drop function public.spy')
  })
})
