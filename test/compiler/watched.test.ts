import { describe, expect, it } from 'vitest'
import { createCompiler } from '../../compiler/compile.ts'
import type { LiveRelation } from '../../runtime/contract/live.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { lawMajors } from '../support/whole.ts'
import { allTriggers } from '../support/service.ts'

/** Watchable objects, and the reasons against others (spec/graphql.md 16.1). */
describe.each(lawMajors())('the judge of live queries on PostgreSQL %i', (major) => {
  const db = forSuite(createDatabase, {
    major,
    prepare: true,
    sql: `comment on schema public is '@graphql({"live": {"enabled": true}})';
        create table people (id int primary key, name text, seen timestamptz);
        create table posts (id int primary key, author int references people, body text);
        create table dead (id int primary key);
        comment on table dead is '@graphql({"live": {"enabled": false}})';
        create schema private;
        create table private.members (person int, post int)`,
  })

  /** The live facts of the entity or function, after some statements that are rolled back. */
  const live = async (
    name: string,
    change = '',
    hasTriggers = 'true',
    awaited: readonly LiveRelation[] = [],
    { query }: Pick<TestDatabase, 'query'> = db,
  ): Promise<unknown> => {
    await query('begin')
    try {
      await query(change)
      const compiler = createCompiler({
        query: (text, values) => query(text, values),
        schemas: ['public'],
        version: null,
        triggers: { hasTriggers, install: () => Promise.resolve({ isWhole: false, awaited }) },
      })
      const { manifest } = (await compiler.compile()).model
      const entity = manifest.entities.find(({ relation }) => relation === name)
      const fn = [...manifest.functions, ...manifest.entities.flatMap(({ computed }) => computed)].find(
        (item) => item.function === name,
      )
      const facts = (entity ?? fn)?.live
      if (facts === undefined) return facts
      const reasons = 'refused' in facts ? facts.refused : facts.awaited
      if (reasons !== undefined) return reasons.map(({ sentence }) => sentence)
      return 'reads' in facts ? facts.reads.map((table) => `${table.schema}.${table.name}`) : []
    } finally {
      await query('rollback')
    }
  }
  const policy = (condition: string): string =>
    `alter table posts enable row level security; create policy p on posts using (${condition})`
  const clock = ['table public.posts cannot be watched: it depends on the clock.']

  it('takes a live table', async () => {
    expect(await live('posts')).toEqual(['public.posts'])
    expect(await live('dead')).toEqual(['table public.dead is not live.'])
    expect(await live('posts', '', 'false')).toEqual(['table public.posts is not live: its changes are not reported.'])
    const locked = 'table public.posts is not live yet: others hold locks on it. Try again.'
    expect(await live('posts', '', 'false', [{ schema: 'public', name: 'posts' }])).toEqual([locked])
  })

  it('finds nothing where nothing is live', async () => {
    expect(await live('posts', `comment on schema public is null`)).toBeUndefined()
  })

  it('leaves a remark where the owner wants a table watched and it cannot be', async () => {
    await db.query('begin')
    await db.query('create view hourly as select now() as at')
    const { diagnostics } = await createCompiler({
      query: (text, values) => db.query(text, values),
      schemas: ['public'],
      version: null,
      triggers: allTriggers,
    }).compile()
    await db.query('rollback')
    const told = diagnostics.filter(({ code }) => code === 'live-refused')
    expect(told.map(({ object, message }) => [object, message])).toEqual([
      [
        'view public.hourly',
        'Queries of it cannot be watched. view public.hourly cannot be watched: it depends on the clock.',
      ],
    ])
  })

  it('follows policies in force to the tables that they ask', async () => {
    expect(await live('posts', policy('author in (select id from people)'))).toEqual(['public.people', 'public.posts'])
    expect(await live('posts', 'create policy p on posts using (author in (select id from dead))')).toEqual([
      'public.posts',
    ])
    expect(await live('posts', policy('author in (select person from private.members)'))).toEqual([
      'table private.members is not live.',
    ])
    const spoken = `comment on schema private is '@graphql({"live": {"enabled": true}})'`
    expect(await live('posts', `${policy('author in (select person from private.members)')}; ${spoken}`)).toEqual([
      'private.members',
      'public.posts',
    ])
  })

  it('refuses a table that receives rows by logical replication, which fires no triggers', async () => {
    // The rows that refreshing a subscription writes; its publisher does not exist.
    const superuser = db.superuser('subscribes to a publication')
    const subscribed = `create subscription nowhere connection 'host=/nowhere' publication p with (connect = false, slot_name = none);
      insert into pg_subscription_rel select s.oid, 'posts'::regclass, 'r' from pg_subscription s where s.subname = 'nowhere'`
    const sentence = 'table public.posts cannot be watched: logical replication fires no triggers.'
    expect(await live('posts', subscribed, 'true', [], superuser)).toEqual([sentence])
    expect(
      await live(
        'by_person',
        `${subscribed}; create view by_person as select author from posts`,
        'true',
        [],
        superuser,
      ),
    ).toEqual([sentence])
  })

  it.each([
    ['now()', 'now() > now()'],
    ['current_date', "current_date > '2020-01-01'"],
    ['localtimestamp', "localtimestamp > '2020-01-01'"],
    ['clock_timestamp()', "clock_timestamp() > '2020-01-01'"],
    ['a text that is cast', "'today'::text::date > '2020-01-01'"],
    ['age() of one', "age('2020-01-01'::timestamp) > '1 day'"],
  ])('refuses the clock in a policy: %s', async (_, condition) => {
    expect(await live('posts', policy(condition))).toEqual(clock)
  })

  it('takes what reads no clock', async () => {
    expect(await live('posts', policy("age('2020-01-01'::timestamp, '2020-01-02'::timestamp) > '1 day'"))).toEqual([
      'public.posts',
    ])
    expect(await live('posts', policy('body is not null and current_user <> body'))).toEqual(['public.posts'])
  })

  it('takes claims and no other setting', async () => {
    expect(await live('posts', policy("auth.uid() is not null and auth.jwt() ->> 'a' = body"))).toEqual([
      'public.posts',
    ])
    expect(await live('posts', policy("current_setting('request.jwt.claims', true) = body"))).toEqual(['public.posts'])
    expect(await live('posts', policy("current_setting('app.tenänt', true) = body"))).toEqual([
      'table public.posts cannot be watched: it depends on the setting app.tenänt.',
    ])
    expect(await live('posts', policy('current_setting(body) = body'))).toEqual([
      'table public.posts cannot be watched: what it reads is not known.',
    ])
  })

  it('refuses what is volatile by its name', async () => {
    expect(await live('posts', policy('random() < 0.5'))).toEqual([
      'function pg_catalog.random() cannot be watched: it is volatile.',
    ])
    expect(
      await live('posts', `create function f() returns bool language sql as 'select true'; ${policy('f()')}`),
    ).toEqual(['function public.f() cannot be watched: it is volatile.'])
  })

  it('reads views to their tables', async () => {
    expect(
      await live('seen', 'create view seen as select p.id from posts p join people on author = people.id'),
    ).toEqual(['public.people', 'public.posts'])
    expect(await live('seen', 'create view seen as select * from dead')).toEqual(['table public.dead is not live.'])
    expect(await live('seen', 'create view seen as select rolname from pg_authid')).toEqual([
      'table pg_catalog.pg_authid cannot be watched: its changes fire no triggers.',
    ])
    expect(await live('kept', 'create materialized view kept as select * from posts')).toEqual([
      'materialized view public.kept cannot be watched: its changes fire no triggers.',
    ])
    expect(await live('sampled', 'create view sampled as select * from posts tablesample bernoulli (10)')).toEqual([
      'view public.sampled cannot be watched: it is volatile.',
    ])
  })

  it('takes the whole tree of a partitioned or inherited table, whose parent speaks for it', async () => {
    const parts = `create table whole (id int primary key) partition by range (id);
      create table private.part partition of whole for values from (0) to (9)`
    expect(await live('whole', parts)).toEqual(['public.whole'])
    expect(await live('heir', 'create table heir () inherits (posts)')).toEqual(['public.posts'])
    expect(await live('posts', 'create table heir () inherits (posts)')).toEqual(['public.posts'])
    const dead = `${parts}; comment on table private.part is '@graphql({"live": {"enabled": false}})'`
    expect(await live('whole', dead)).toEqual(['table private.part is not live.'])
  })

  it.each([
    ['a parsed body', 'begin atomic select count(*) from posts join people on true; end'],
    ['a text', "as 'select count(*) from posts join public.people on true'"],
    ['a text with a search path', "set search_path = '' as 'select count(*) from public.posts, public.people'"],
    ['a query of WITH', "as 'with q as (select from people) select count(*) from q, posts'"],
  ])('reads functions in SQL: %s', async (_, body) => {
    expect(await live('f', `create function f() returns bigint language sql stable ${body}`)).toEqual([
      'public.people',
      'public.posts',
    ])
  })

  it('reads functions in PL/pgSQL, unless they make statements of their own', async () => {
    const block = (body: string): string =>
      `create function f(a int, out b bigint) language plpgsql stable as $$ declare x int := (select max(id) from people); ${body} $$`
    expect(await live('f', block('begin b := (select count(*) from posts where id = a); end'))).toEqual([
      'public.people',
      'public.posts',
    ])
    const dynamic = block("begin execute 'select 1' into b; end")
    expect(await live('f', dynamic)).toEqual([
      'function public.f(integer) cannot be watched: what it reads is not known.',
    ])
    const told = `comment on function f(int) is '@graphql({"live": {"reads": ["public.posts"]}})'`
    expect(await live('f', `${dynamic}; ${told}`)).toEqual(['public.people', 'public.posts'])
  })

  it('reads what functions call, whatever the call looks like', async () => {
    const inner = `create function inner_one(p people) returns text language sql stable as 'select body from posts limit 1'`
    const clock = ['function public.f() cannot be watched: it depends on the clock.']
    const text = (body: string): string =>
      `${inner}; create function f() returns text language sql stable as $$ ${body} $$`
    expect(await live('f', text('select inner_one(p) from people p'))).toEqual(['public.people', 'public.posts'])
    expect(await live('f', text('select p.inner_one from people p'))).toEqual(['public.people', 'public.posts'])
    expect(await live('inner_one', text('select null'))).toEqual(['public.posts'])
    expect(await live('f', text('select now()::text'))).toEqual(clock)
    expect(await live('f', text("select 'today'::date::text"))).toEqual(clock)
    expect(await live('f', text('select current_date::text'))).toEqual(clock)
    expect(await live('f', text("select age('2020-01-01'::timestamp)::text"))).toEqual(clock)
    expect(await live('f', text("select age('2020-01-01'::timestamp, '2020-01-01'::timestamp)::text"))).toEqual([])
    expect(await live('f', text("select current_setting('app.x')"))).toEqual([
      'function public.f() cannot be watched: it depends on the setting app.x.',
    ])
  })

  it('reads operators, aggregates and defaults of arguments', async () => {
    const asks = `create function asks(a int, b int) returns bool language sql stable as 'select exists (select from people)'`
    const operator = `${asks}; create operator @@@ (leftarg = int, rightarg = int, function = asks)`
    expect(await live('posts', `${operator}; ${policy('id @@@ author')}`)).toEqual(['public.people', 'public.posts'])
    expect(
      await live('f', `${operator}; create function f() returns bool language sql stable as 'select 1 @@@ 2'`),
    ).toEqual(['public.people'])
    const aggregate = `create function adds(a bigint, b int) returns bigint language sql stable as 'select a + (select count(*) from people)';
      create aggregate total(int) (sfunc = adds, stype = bigint, initcond = '0')`
    expect(await live('seen', `${aggregate}; create view seen as select total(id) as id from posts`)).toEqual([
      'public.people',
      'public.posts',
    ])
    expect(
      await live(
        'f',
        `create function f(at timestamptz default now()) returns text language sql stable as 'select at::text'`,
      ),
    ).toEqual(['function public.f(timestamp with time zone) cannot be watched: it depends on the clock.'])
  })
})
