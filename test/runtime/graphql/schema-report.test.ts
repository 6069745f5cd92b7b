import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { atOnce } from '../../../runtime/lib/steps.ts'
import { literal } from '../../../runtime/sql/tree.ts'
import type { SchemaReport } from '../../../runtime/graphql/report/report.ts'
import { introspect } from '../../support/api-schema.ts'
import { worlds } from '../../reference/exact/worlds/world.ts'
import { catalog, schema } from '../../support/catalog-literal.ts'
import { openStage } from '../../reference/exact/stage.ts'
import { roles } from '../../reference/exact/worlds/roles.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'
import { sized } from '../../support/whole.ts'
import { annotate, buildModel } from '../../support/with-additions.ts'

const limits = '"limits": {"rows": 10000}'
const on = `comment on schema public is '@graphql({"schemaReport": {"enabled": true}, ${limits}})'`
const sql = `
  ${on};
  create table "Odd ""Name"" it's" (id int primary key, "who's" uuid);
  comment on table "Odd ""Name"" it's" is '@graphql({"name": "Odd", "totalCont": {"enabled": true}})';
  create table parent (a int, b int, primary key (a, b));
  create table child (id int primary key, a int, b int, foreign key (a, b) references parent);
  create table other (id int primary key, a int, b int, foreign key (a, b) references parent);
  create index on other (b, a, id);
  create table partly (id int primary key, child int references child);
  create index on partly (child) where id > 5;
  create table secret (id int primary key, owner uuid, name text);
  create view secrets as select id, name from secret;
  create view careful with (security_invoker = on) as select id, name from secret;
  create table calm (id int primary key, owner uuid);
  create index on calm (owner);
  create table kept (note text);
  create function same(secret) returns text language sql stable as 'select 1';
  create function of_row(secret) returns text language sql stable as 'select $1.name';
  create function "odd fn"() returns int language sql stable as 'select 1';
  create function many(n int, variadic ns int[]) returns int language sql stable as 'select 1';
  create function writes(n int) returns int language sql volatile as 'select 1';
  alter table secret enable row level security;
  alter table calm enable row level security;
  create policy mine on secret using (auth.uid() = owner and (auth.jwt() ->> 'aal') = 'aal2') with check (owner = auth.uid());
  create policy by_setting on secret for select using (owner = current_setting('request.jwt.claim.sub', true)::uuid);
  create policy calm on calm using (owner = (select auth.uid()) and exists (select from parent p where p.a = (select (auth.jwt() ->> 'a')::int)));
  grant select on all tables in schema public to anon;
  revoke select on secret from anon;
  grant select (id) on secret to anon;
`

const service = forSuite(createTestService, { sql })

type Advice = readonly { readonly problem: string; readonly object: string; readonly sql: string }[]
const report = async (role = 'anon', from = service): Promise<SchemaReport & { readonly advice: Advice }> => {
  const answer = await from.graphql('{ __typename }', { role, extensions: { schemaReport: true } })
  expect(answer.errors).toBeUndefined()
  return answer.extensions?.['schemaReport'] as never
}
const commentOfPublic = async (): Promise<string> =>
  (await service.db.query(`select obj_description('public'::regnamespace, 'pg_namespace') as comment`)).rows[0].comment
const advised = async () => (await report()).advice.map(({ problem, object }) => `${problem}: ${object}`)

describe('17 schemaReport: the API', () => {
  it('lists every relation and function once, for any reader', async () => {
    const relations = await service.db.query(
      `select count(*)::int as n from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')`,
    )
    const functions = await service.db.query(
      `select count(*)::int as n from pg_proc where pronamespace = 'public'::regnamespace`,
    )
    for (const role of ['anon', 'authenticated', 'service_role']) {
      const told = await report(role)
      expect(told.role).toBe(role)
      expect(new Set(told.relations.map(({ object }) => object)).size).toBe(relations.rows[0].n)
      expect(told.functions).toHaveLength(functions.rows[0].n)
    }
  })
  it('says why something is not in it', async () => {
    const told = await report()
    const reasons = Object.fromEntries(
      [...told.relations, ...told.functions].map(({ object, reason, inSchema }) => [
        object.replaceAll('public.', ''),
        inSchema || reason,
      ]),
    )
    expect(reasons).toEqual({
      [`table "Odd ""Name"" it's"`]: true,
      'table calm': true,
      'table child': true,
      'table kept': 'no primary key',
      'table other': true,
      'table parent': true,
      'table partly': true,
      'table secret': true,
      'view careful': 'no primary key',
      'view secrets': 'no primary key',
      'function many(integer, integer[])': 'not served',
      'function "odd fn"()': 'not served',
      // The whole row goes in, and anon may read a part of it.
      'function of_row(secret)': 'no grant',
      'function same(secret)': 'no grant',
      'function writes(integer)': true,
    })
    const other = await report('authenticated')
    expect(other.relations.find(({ object }) => object === 'table public.child')).toMatchObject({
      inSchema: false,
      reason: 'no grant',
      fix: 'grant select on "public"."child" to "authenticated";',
    })
  })
  it('gives the remedies that work', async () => {
    const before = await report('authenticated')
    for (const { fix } of before.relations.filter(({ reason }) => reason === 'no grant'))
      await service.db.query(fix ?? '')
    const after = await report('authenticated')
    expect(after.relations.filter(({ reason }) => reason === 'no grant')).toEqual([])
    expect(after.functions.find(({ object }) => object === 'function public.of_row(public.secret)')?.inSchema).toBe(
      true,
    )
    await service.db.query('revoke all on all tables in schema public from authenticated')
  })
  it('reports relations that share a field name, and misspelt settings', async () => {
    await service.db.query(
      'alter table child add column c int, add column d int, add foreign key (c, d) references parent',
    )
    const told = await report()
    expect(told.relations.find(({ object }) => object === 'table public.parent')?.conflicts).toMatchObject([
      { code: 'field-taken', message: expect.stringContaining('"childCollection"') as string },
    ])
    expect(told.remarks.find(({ code }) => code === 'comment-key-unknown')).toMatchObject({
      object: `table public."Odd ""Name"" it's"`,
      fix: 'Did you mean "totalCount"?',
    })
    await service.db.query('alter table child drop column c, drop column d')
  })
  it('reports a column that would be called like the node id', async () => {
    await service.db.query('alter table calm add column "nodeId" int')
    const { relations } = await report()
    expect(relations.find(({ object }) => object === 'table public.calm')?.conflicts).toMatchObject([
      {
        code: 'node-id-kept',
        object: 'column public.calm."nodeId"',
        message: expect.stringContaining('it has no field') as string,
      },
    ])
    expect(relations.flatMap(({ conflicts }) => conflicts)).toHaveLength(1)
    await service.db.query('alter table calm drop column "nodeId"')
  })
  it('reports settings on objects without any, as soon as they are there', async () => {
    const misplaced = async () => (await report()).remarks.filter(({ code }) => code === 'comment-key-misplaced')
    expect(await misplaced()).toEqual([])
    await service.db.query(`comment on index child_pkey is '@graphql({"root": {"enabled": false}})'`)
    expect(await misplaced()).toMatchObject([
      { object: 'index public.child_pkey', fix: 'Set it in the comment of a table.' },
    ])
    await service.db.query('comment on index child_pkey is null')
    expect(await misplaced()).toEqual([])
  })
})

describe('17 schemaReport: overloads', () => {
  it('are distinguished by what they take', async () => {
    await service.db.query(`
      comment on schema public is '@graphql({"schemaReport": {"enabled": true}, ${limits}, "functionShapes": {"enabled": true}})';
      create table chair (id int primary key); create table desk (id int primary key); grant select on chair, desk to anon;
      create function add(a int, b int) returns int language sql immutable as 'select a + b';
      comment on function add(int, int) is '@graphql({"name": "addInts"})';
      create function add(a text, b text) returns text language sql immutable as 'select a || b';
      comment on function add(text, text) is '@graphql({"name": "addTexts", "descripton": "x"})';
      create function add(a float8, b float8) returns float8 language sql immutable as 'select a + b';
      create function add(a int[], b int[]) returns setof int language sql immutable as 'select 1';
      comment on function add(int[], int[]) is '@graphql({"name": "addLists"})';
      create function label(chair) returns text language sql stable as 'select 1';
      create function label(desk) returns text language sql stable as 'select 1';
      create function label(desk, int) returns text language sql stable as 'select 1';
      comment on function label(desk, int) is '@graphql({"name": "labelOf"})';
      create function label(int) returns text language sql stable as 'select 1';
      revoke execute on function label(chair) from public;
    `)
    const { functions, remarks } = await report()
    const told = functions
      .filter(({ object }) => /\.(add|label)\(/.test(object))
      .map(({ object, field, reason, message }) => [object.replaceAll('public.', ''), field ?? `${reason}: ${message}`])
    expect(Object.fromEntries(told)).toEqual({
      'function add(integer, integer)': 'addInts',
      'function add(text, text)': 'addTexts',
      'function add(double precision, double precision)':
        'overloaded function: It is not in the API: the served schemas hold another function of its name.',
      'function add(integer[], integer[])':
        'overloaded function: It is not in the API: its result has no counterpart in GraphQL.',
      'function label(chair)': 'no grant: anon may not execute it.',
      'function label(desk)': 'label',
      'function label(desk, integer)': 'labelOf',
      'function label(integer)':
        'overloaded function: It is not in the API: the served schemas hold another function of its name.',
    })
    expect(remarks.find(({ code, fix }) => code === 'comment-key-unknown' && fix.includes('description'))?.object).toBe(
      'function public.add(text, text)',
    )
    await service.db.query(`drop table chair, desk cascade; drop function label(int);
      drop function add(int, int), add(text, text), add(float8, float8), add(int[], int[]); ${on}`)
  })
})

describe('17 schemaReport: advice', () => {
  it('finds each fault, with the SQL after which it is gone', async () => {
    const found = await advised()
    expect(found).toEqual([
      `row level security is off: table public."Odd ""Name"" it's"`,
      'row level security is off: table public.child',
      'row level security is off: table public.kept',
      'row level security is off: table public.other',
      'row level security is off: table public.parent',
      'row level security is off: table public.partly',
      'the view runs as its owner: view public.secrets',
      'the policy asks who is asking for every row: policy by_setting on public.secret',
      'the policy asks who is asking for every row: policy mine on public.secret',
      'the foreign key has no index: constraint child_a_b_fkey on public.child',
      'the foreign key has no index: constraint partly_child_fkey on public.partly',
      'a column that policies compare has no index: column public.secret.owner',
    ])
    for (const { sql } of (await report()).advice) await service.db.query(sql)
    expect(await advised()).toEqual([])
  })
  it('finds what policies compare in text, under aliases and in other tables', async () => {
    await service.db.query(`
      create table team (id int primary key, mail varchar(40), code char(4));
      create table member (team_id int references team, user_id uuid, note text, primary key (team_id, user_id));
      create table guest (id int primary key, team int, who uuid);
      alter table team enable row level security; alter table member enable row level security; alter table guest enable row level security;
      create policy mail on team using (mail = ((select auth.jwt()) ->> 'email') or code = ((select auth.jwt()) ->> 'code'));
      create policy members on team using (exists (select from member m where m.team_id = team.id and m.user_id = (select auth.uid())));
      create policy guests on team using (exists (select from guest where team = team.id and who = (select auth.uid())));
      grant select on team, member, guest to anon;
    `)
    expect(await advised()).toEqual([
      'a column that policies compare has no index: column public.guest.team',
      'a column that policies compare has no index: column public.guest.who',
      'a column that policies compare has no index: column public.team.mail',
    ])
    for (const { sql } of (await report()).advice) await service.db.query(sql)
    expect(await advised()).toEqual([])
    await service.db.query('drop table team, member, guest')
  })
  it('finds what looks like a secret, where every row of it can be read', async () => {
    await service.db.query(`
      create table login (id int primary key, name text, password_hash text, "apiKey" text);
      create table own (id int primary key, user_id uuid, token text);
      alter table own enable row level security; create index on own (user_id);
      create policy own on own using (user_id = (select auth.uid()));
      create table kept_back (id int primary key, secret text, forgotten int); alter table kept_back enable row level security;
      create policy everybody on kept_back using (true);
      grant select on login, own to anon; grant select (id) on kept_back to anon; grant select on kept_back to authenticated;
    `)
    const secrets = async () =>
      (await report()).advice.filter(({ problem }) => problem === 'what looks like a secret can be read')
    expect(await secrets()).toMatchObject([
      {
        object: 'table public.kept_back',
        message: 'authenticated may read secret in every row.',
        sql: 'revoke select on public.kept_back from authenticated; grant select (id, forgotten) on public.kept_back to authenticated;',
      },
      {
        object: 'table public.login',
        message: 'anon may read password_hash, "apiKey" in every row.',
        sql: 'revoke select on public.login from anon; grant select (id, name) on public.login to anon;',
      },
    ])
    for (const { sql } of (await report()).advice) await service.db.query(sql)
    expect(await advised()).toEqual([])
    await service.db.query('drop table login, own, kept_back')
  })
  it('takes for a secret what can hold one, and leaves a table alone whose key has one', async () => {
    await service.db.query(`
      create table users (id int primary key, password_login boolean, twofa_key text, totp bytea, otp_sent_at timestamptz, name text);
      create table verification (identifier text, token text, unique (identifier, token));
      comment on table verification is '@graphql({"primary_key_columns": ["identifier", "token"]})';
      create table later (id int primary key, name text, api_key text);
      grant select on users, verification to anon;
    `)
    const { advice, relations } = await report()
    expect(advice.filter(({ problem }) => problem === 'what looks like a secret can be read')).toMatchObject([
      {
        message: 'anon may read twofa_key, totp in every row.',
        sql: 'revoke select on public.users from anon; grant select (id, password_login, otp_sent_at, name) on public.users to anon;',
      },
      {
        message: 'anon may read token in every row. A key has it, so that nothing of the table is left to read.',
        sql: 'revoke select on public.verification from anon;',
      },
    ])
    expect(relations.find(({ object }) => object === 'table public.later')?.fix).toBe(
      'grant select ("id", "name") on "public"."later" to "anon";',
    )
    for (const { sql } of advice) await service.db.query(sql)
    expect(await advised()).toEqual([])
    await service.db.query('drop table users, verification, later')
  })
  it('leaves alone what an extension brought', async () => {
    const superuser = service.db.superuser('creates an extension that is not trusted')
    await superuser.query(`create extension pg_stat_statements; grant select on pg_stat_statements to anon`)
    expect(await advised()).not.toContainEqual(expect.stringContaining('pg_stat_statements'))
    await superuser.query('drop extension pg_stat_statements')
  })
  it('finds relations that no policy can protect', async () => {
    await service.db.query(`
      create materialized view calmed as select * from calm; grant select on calmed to anon, authenticated;
      create materialized view unseen as select * from calm;
    `)
    const superuser = service.db.superuser('creates an extension that is not trusted')
    await superuser.query(`create extension file_fdw; create server files foreign data wrapper file_fdw;
      create foreign table lines (line text) server files options (filename '/dev/null'); grant select (line) on lines to anon;
    `)
    expect((await report()).advice).toMatchObject([
      {
        problem: 'row level security cannot protect it',
        object: 'foreign table public.lines',
        sql: 'revoke all on public.lines from anon;',
      },
      {
        problem: 'row level security cannot protect it',
        object: 'materialized view public.calmed',
        sql: 'revoke all on public.calmed from anon, authenticated;',
      },
    ])
    for (const { sql } of (await report()).advice) await superuser.query(sql)
    expect(await advised()).toEqual([])
    await superuser.query('drop materialized view calmed, unseen; drop extension file_fdw cascade')
  })
  it('finds allow-lists that those cannot read whom they govern', async () => {
    await service.db.query(
      `comment on schema public is '@graphql({"schemaReport": {"enabled": true}, ${limits}, "allowlist": {"table": "\\"Listed Here\\".documents", "roles": ["anon", "authenticated", "nobody"]}})'`,
    )
    const asked = async () =>
      (await report('service_role')).advice.map(({ problem, object }) => `${problem}: ${object}`)
    const mend = async () => {
      for (const { sql } of (await report('service_role')).advice) await service.db.query(sql)
    }
    const unreadable = 'the allow-list cannot be read: table "Listed Here".documents'
    expect(await asked()).toEqual([unreadable, unreadable])
    const [first] = (await report('service_role')).advice
    await service.db.query(first?.sql ?? '')
    expect((await report('service_role')).advice).toMatchObject([
      {
        sql: 'grant usage on schema "Listed Here" to authenticated; grant select on "Listed Here".documents to authenticated;',
      },
    ])
    await mend()
    expect(await asked()).toEqual([])
    for (const harm of [
      'revoke usage on schema "Listed Here" from anon',
      'revoke select on "Listed Here".documents from anon',
    ]) {
      await service.db.query(harm)
      expect(await asked()).toEqual([unreadable])
      await mend()
      expect(await asked()).toEqual([])
    }
    await service.db.query(`drop schema "Listed Here" cascade; ${on}`)
  })
  it('finds that anon has no limits, and adds them to what the comment says', async () => {
    const unlimited = 'anon may ask for everything at once: schema public'
    const comments = [
      `The blog's schema. @graphql({"schemaReport": {"enabled": true}, "inflect_names": true}) Ask (Ada`,
      `@graphql({ "schemaReport" : {"enabled": true}, "limits": {"fields": 300, "rows": "many"}})`,
      `\\ @graphql({"limits": null, "schemaReport": {"enabled": true}})`,
    ]
    const told = async () => (await report('service_role')).advice.filter(({ object }) => object === 'schema public')
    for (const comment of comments) {
      await service.db.query(`comment on schema public is ${literal(comment)}`)
      const [found, ...others] = await told()
      expect([`${found?.problem}: ${found?.object}`, others]).toEqual([unlimited, []])
      await service.db.query(found?.sql ?? '')
      expect(await told()).toEqual([])
      const { annotated, diagnostics } = atOnce(
        annotate(catalog({ schemas: [schema('public', await commentOfPublic())] })),
      )
      expect(annotated.schemas[0]?.settings).toMatchObject({
        schemaReport: true,
        inflect_names: comment.includes('inflect_names'),
        limits: { rows: 10_000, cost: 100_000, fields: comment.includes('fields') ? 300 : null },
      })
      expect(diagnostics).toEqual([])
      const [outside, ...more] = (await commentOfPublic()).split(/@graphql\([^]*\)/)
      expect([outside, ...more]).toEqual(comment.split(/@graphql\([^]*\)/))
    }
    expect((await service.graphql('{ parentCollection { edges { cursor } } }')).errors).toBeUndefined()
    await service.db.query(
      `comment on schema public is '@graphql({"schemaReport": {"enabled": true}, "limits": {"fields": 9}})'`,
    )
    expect(await told()).toHaveLength(1)
    await service.db.query(
      `comment on schema public is '@graphql({"schemaReport": {"enabled": true}, "limits": {"cost": 9}})'`,
    )
    expect(await told()).toEqual([])
    await service.db.query(on)
  })
  it('names rules because of which writes fail, and keys over periods, which need no index', async () => {
    const ruled = await createTestService({
      major: 18,
      sql: `comment on schema public is '@graphql({"schemaReport": {"enabled": true}, "limits": {"rows": 9}})';
        create table log (id int generated always as identity primary key, what text);
        create table taken (id int primary key, name text);
        create table kept (id int primary key, name text);
        create view shown as select id, name from taken;
        create rule beside as on insert to taken do also insert into log (what) values (new.name);
        create rule nothing_done as on delete to taken do instead nothing;
        create rule partly as on update to kept where new.id > 9 do instead nothing;
        create rule silent as on delete to shown do instead delete from taken where id = old.id;
        create rule good as on insert to shown do instead insert into kept values (new.id, new.name) returning id, name;
        create table span (room int4range, during daterange, primary key (room, during without overlaps));
        create table part (id int primary key, room int4range, during daterange,
          foreign key (room, period during) references span (room, period during));
        do $$ declare t text; begin for t in select tablename from pg_tables where schemaname = 'public' loop
          execute format('alter table %I enable row level security; create policy p on %I using (true)', t, t); end loop; end $$;
        alter view shown set (security_invoker = true);
        grant all on all tables in schema public to anon`,
    })
    onTestFinished(() => ruled.close())
    const told = (await report('anon', ruled)).advice
    expect(told.map(({ problem, object }) => `${problem}: ${object}`)).toEqual([
      'a rule makes writes fail: rule beside on public.taken',
      'a rule makes writes fail: rule nothing_done on public.taken',
      'a rule makes writes fail: rule partly on public.kept',
      'a rule makes writes fail: rule silent on public.shown',
      'a foreign key over periods has no relation: constraint part_room_during_fkey on public.part',
    ])
    const failing = [
      'insertIntotakenCollection(objects: [{id: 1}]) { affectedCount }',
      'deleteFromtakenCollection(filter: {id: {eq: 1}}) { affectedCount }',
      'updatekeptCollection(set: {name: "a"}, filter: {id: {eq: 1}}) { affectedCount }',
    ]
    for (const field of failing)
      expect((await ruled.graphql(`mutation { ${field} }`)).errors?.[0]?.extensions.code, field).toBe(
        'DATABASE_REFUSED',
      )
    for (const { sql } of told) await ruled.db.query(sql)
    for (const field of failing) expect((await ruled.graphql(`mutation { ${field} }`)).errors, field).toBeUndefined()
  })
  it('says nothing of limits where anon reads nothing', async () => {
    const quiet = await createTestService({
      sql: `comment on schema public is '@graphql({"schemaReport": {"enabled": true}})'; create table own (id int primary key);
        alter table own enable row level security; grant select on own to authenticated;`,
    })
    onTestFinished(() => quiet.close())
    expect((await report('service_role', quiet)).advice).toEqual([])
    await quiet.db.query('grant select on own to anon')
    expect((await report('service_role', quiet)).advice).toMatchObject([
      {
        sql: `comment on schema public is '@graphql({"schemaReport":{"enabled":true},"limits":{"rows":10000,"cost":100000}})';`,
      },
    ])
  })
  it('looks at the schemas that ask and at what keys reach', async () => {
    await service.db.query(
      'create schema aside; create table aside.open (id int primary key); grant select on aside.open to anon',
    )
    await service.db.query('create table unreachable (id int primary key, parent int references child)')
    expect(await advised()).toEqual([
      'the foreign key has no index: constraint unreachable_parent_fkey on public.unreachable',
    ])
  })
})

describe('17 schemaReport: live queries', () => {
  it('says which tables pay for it, by which columns changes are distinguished, and what is in the way', async () => {
    const live = await createTestService({
      withTriggers: true,
      sql: `
        comment on schema public is '@graphql({"schemaReport": {"enabled": true}, "live": {"enabled": true}})';
        create table member (name text primary key);
        create table post (id int primary key, owner text, note json);
        create table moment (id int primary key, at timestamptz);
        comment on table moment is '@graphql({"live": {"enabled": false}})';
        alter table post enable row level security;
        create policy seen on post using (exists (select from member));
        create view recent as select id from post;
        comment on view recent is '@graphql({"primary_key_columns": ["id"]})';
        create view past as select id from post where now() > '2020-01-01';
        create function members() returns bigint language sql stable as 'select count(*) from public.member';
        create function rolled() returns float8 language sql volatile as 'select random()';
        grant select on all tables in schema public to anon;`,
    })
    onTestFinished(() => live.close())
    const { relations, functions } = await report('anon', live)
    const found = Object.fromEntries([...relations, ...functions].map(({ object, live }) => [object, live]))
    expect(found).toEqual({
      'table public.member': { watchable: true, reads: ['public.member'], pins: ['name'] },
      'table public.moment': { watchable: false, reasons: ['table public.moment is not live.'] },
      'table public.post': { watchable: true, reads: ['public.member', 'public.post'], pins: ['id', 'owner'] },
      'view public.recent': { watchable: true, reads: ['public.member', 'public.post'], pins: [] },
      'view public.past': {
        watchable: false,
        reasons: ['view public.past cannot be watched: it depends on the clock.'],
      },
      'function public.members()': { watchable: true, reads: ['public.member'], pins: [] },
      'function public.rolled()': { watchable: false, reasons: [expect.stringContaining('it is volatile')] },
    })
  })

  it('says nothing of it where nothing is live', async () => {
    const { relations, functions } = await report()
    expect([...relations, ...functions].filter((one) => 'live' in one)).toEqual([])
  })
})

describe('17 schemaReport, the setting', () => {
  it('is asked for, and must be on', async () => {
    for (const schemaReport of [false, 'true', 1])
      expect(await service.graphql('{ __typename }', { extensions: { schemaReport } })).toEqual({
        data: { __typename: 'Query' },
      })
    await service.db.query('comment on schema public is null')
    expect(Object.keys(await service.graphql('{ __typename }', { extensions: { schemaReport: true } }))).toEqual([
      'data',
    ])
    await service.db.query(on)
    expect(await service.graphql('{ nothing }', { extensions: { schemaReport: true } })).not.toHaveProperty(
      'extensions',
    )
  })
  it('goes together with explain', async () => {
    await service.db.query(
      `comment on schema public is '@graphql({"schemaReport": {"enabled": true}, "explain": {"enabled": true}})'`,
    )
    const { data, extensions } = await service.graphql('{ parentCollection { edges { cursor } } }', {
      extensions: { explain: true, schemaReport: true },
    })
    expect(data).toEqual({ parentCollection: { edges: [] } })
    expect(extensions?.['explain']).toHaveLength(1)
    expect(extensions).toHaveProperty('schemaReport.role', 'anon')
    await service.db.query(on)
  })
  it.each([
    ['{}', false],
    ['{"schemaReport": {"enabled": false}}', false],
    ['{"schemaReport": {"enabled": "yes"}}', false],
    ['{"schemaReport": {"enabled": true}}', true],
  ])('of %s puts a report into the manifest: %s', (comment, expected) => {
    const { annotated } = atOnce(annotate(catalog({ schemas: [schema('public', `@graphql(${comment})`)] })))
    expect('report' in atOnce(buildModel(annotated)).model.manifest).toBe(expected)
  })
})

describe('17 schemaReport on random catalogues', () => {
  const seed = Number(process.env['EXACT_SEED'] ?? '91')
  it(`says what introspection says, for every role (seed ${seed})`, { timeout: 60_000 }, async () => {
    for (const { limits: _, allowlist: __, ...world } of fc.sample(worlds, { seed, numRuns: sized(4, 2) })) {
      const stage = await openStage({ ...world, schemaReport: true })
      try {
        for (const role of roles) {
          const told = await report(role, stage.service)
          const shown = await introspect(stage.service, { role, claims: {} })
          const types = Object.keys(shown.getTypeMap())
          expect(told.relations).toHaveLength(world.tables.length)
          expect(told.functions).toHaveLength(world.functions.length)
          const named = told.relations.flatMap(({ type }) => type ?? [])
          const nodes = shown.getPossibleTypes(shown.getType('Node') as never).map(({ name }) => name)
          expect([...named].sort()).toEqual([...nodes].sort())
          for (const item of [...told.relations, ...told.functions]) {
            expect(item.inSchema).toBe(item.reason === null)
            expect([item.message === null, item.fix === null]).toEqual([item.inSchema, item.inSchema])
          }
          const fields = ['Query', 'Mutation', ...types].flatMap((name) => {
            const type = shown.getType(name)
            return type !== undefined && 'getFields' in type ? Object.keys(type.getFields()) : []
          })
          for (const { field } of told.functions) if (field !== null) expect(fields).toContain(field)
        }
      } finally {
        await stage.close()
      }
    }
  })
})
