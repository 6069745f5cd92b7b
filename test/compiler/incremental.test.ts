import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createCatalogReader, readCatalog } from '../../compiler/catalog/read.ts'
import { createCompiler, type Compiled } from '../../compiler/compile.ts'
import { createJudgeLater } from '../../compiler/following/serving/later-state.ts'
import type { EntityFacts } from '../../runtime/contract/manifest.ts'
import { counterExpression, versionExpression } from '../../runtime/db/check/version.ts'
import { withoutMemory } from '../../runtime/lib/memo/memo.ts'
import { createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { lawMajors, sized } from '../support/whole.ts'

/**
 * Law: what a compiler makes after any changes is, byte for byte, what a compiler makes that never saw what was before,
 * and what one makes whose passes remember nothing.
 */

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
/** Statements that are drawn; more of them find more, as in `COUNT=1000`. */
const count = Number(process.env['COUNT'] ?? sized(120, 28))
const schemas = ['public', 'app']

const start = `
  create schema app; create schema hidden; create schema extra;
  create type mood as enum ('sad', 'ok'); create domain positive as int check (value > 0);
  create type pair as (a int, b text);
  create table hidden.far (id int primary key, name text, unique (name));
  create table users (id serial primary key, name text, feeling mood, many mood[], age positive);
  create table posts (id int primary key, author int references users, far int references hidden.far, note varchar(8),
    editor_id int references users);
  create table app.users (id int primary key, other int references public.users);
  create view seen as select id, name from users;
  comment on view seen is '@graphql({"primary_key_columns": ["id"]})';
  create function label(users) returns text language sql stable as $$ select $1.name $$;
  create function feel(m text default 'ok'::mood::text, n int default 3) returns text language sql as $$ select m $$;
  create function latest() returns setof posts language sql stable as $$ select * from posts $$;
  grant select, insert on users, posts, seen to anon;
`

/** Statements by what they touch; each may fail, as when a name is taken or gone. `%` is a small number. */
const statements = [
  'create table t% (id int primary key, a text, b int references users)',
  'drop table t% cascade',
  'alter table t% add column extra_% int',
  'alter table users add column extra_% uuid',
  'alter table users drop column extra_% cascade',
  'alter table users rename column id to key%; alter table users rename column key% to id',
  'alter table users rename column name to name_%',
  'alter table users rename column name_% to name',
  'alter table posts rename column editor_id to reader_%_id',
  'alter table posts rename column reader_%_id to editor_id',
  'alter table posts rename column editor_id to editor',
  'alter table posts rename column editor to editor_id',
  'alter table t% add column owner_id int references users',
  'alter table t% drop column owner_id',
  'alter table users rename to people%',
  'alter table people% rename to users',
  'alter table hidden.far rename column id to id_%',
  'alter table hidden.far rename column id_% to id',
  'alter table hidden.far rename to far_%',
  'alter table hidden.far_% rename to far',
  'alter table hidden.far set schema app',
  'alter table app.far set schema hidden',
  'alter schema extra rename to extra%',
  'create schema born% create table told (id int primary key) create view seen as select 1 as one',
  'alter table posts add column born int references born%.told',
  'drop schema born% cascade',
  'alter schema app rename to away%',
  'alter schema away% rename to app',
  'alter schema hidden rename to covered%',
  'alter schema covered% rename to hidden',
  'alter type mood rename to mood_%',
  'alter type mood_% rename to mood',
  `alter type mood add value 'new%'`,
  `alter type mood rename value 'ok' to 'ok%'`,
  `alter type mood rename value 'ok%' to 'ok'`,
  'alter type mood set schema extra',
  'alter type extra.mood set schema public',
  'alter domain positive rename to above_%',
  'alter domain above_% rename to positive',
  'alter table posts alter column note type varchar(%)',
  'alter table posts alter column note set not null',
  'alter table posts alter column note drop not null',
  `alter table posts alter column note set default 'x%'`,
  'alter table posts alter column note drop default',
  'alter table posts add constraint c% unique (author)',
  'alter table posts drop constraint c%',
  'alter table posts add constraint f% foreign key (author) references users not valid',
  'alter table posts validate constraint f%',
  'alter table posts drop constraint f%',
  'create unique index u% on posts (note)',
  'drop index u%',
  'create index p% on posts (note)',
  'alter table posts enable row level security',
  'alter table posts disable row level security',
  `comment on table posts is 'text %'`,
  'comment on table posts is null',
  `comment on column posts.note is '@graphql({"name": "note%"})'`,
  'comment on column posts.note is null',
  `comment on constraint posts_author_fkey on posts is '@graphql({"local_name": "written%"})'`,
  'comment on constraint posts_author_fkey on posts is null',
  `comment on schema public is '@graphql({"inflect_names": true, "max_rows": %})'`,
  'comment on schema public is null',
  `comment on type mood is '@graphql({"mappings": {"sad": "SAD%"}})'`,
  'comment on type mood is null',
  `comment on function label(users) is '@graphql({"name": "label%"})'`,
  'comment on function label(users) is null',
  `comment on view seen is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [{"local_columns": ["id"],
    "foreign_schema": "public", "foreign_table": "users", "foreign_columns": ["id"]}]})'`,
  'grant select on posts to authenticated',
  'revoke select on posts from authenticated',
  'grant update (note) on posts to anon',
  'revoke update (note) on posts from anon',
  'grant usage on schema app to anon',
  'revoke usage on schema app from anon',
  'grant execute on function feel(text, int) to anon',
  'revoke execute on function feel(text, int) from public',
  'create function extra_%(a int) returns int language sql as $$ select 1 $$',
  'drop function extra_%(int)',
  'create function extra_%(a text) returns text language sql as $$ select a $$',
  `create or replace function label(users) returns text language sql stable as $$ select '%' $$`,
  'create sequence s% owned by posts.id',
  'drop sequence s%',
  'alter sequence s% owned by none',
  'alter sequence users_id_seq owned by none',
  'alter sequence users_id_seq owned by users.id',
  'create table part% partition of whole for values in (%)',
  'alter table whole detach partition part%',
  'create table sub% partition of whole for values in (1%) partition by list (id)',
  'create table sub%_part partition of sub% for values in (1)',
  'drop table part%',
  'alter table whole add column extra_% int',
  'create table refers% (id int, kind int, foreign key (id, kind) references whole)',
  'create unique index whole_key% on whole (kind, id)',
  'create table whole (id int, kind int, primary key (id, kind)) partition by list (kind)',
  'drop table whole cascade',
  'create role law_role_%_{db}',
  'alter role law_role_%_{db} rename to law_other_%_{db}',
  'drop role law_other_%_{db}',
  'grant select on posts to law_role_%_{db}',
  'grant law_role_%_{db} to anon',
  'drop owned by law_other_%_{db}',
  'alter table posts owner to law_role_%_{db}',
  'reassign owned by law_role_%_{db} to postgres',
  'alter default privileges grant select on tables to anon',
  'alter default privileges revoke select on tables from anon',
  'alter table users alter column id type bigint',
  'alter table users alter column id type int',
  'alter table hidden.far alter column id type bigint',
  'alter table hidden.far alter column id type int',
  'alter table users drop constraint users_pkey cascade',
  'alter table users add primary key (id)',
  'alter table posts add constraint posts_author_fkey foreign key (author) references users (id)',
  'alter table users alter column name set not null',
  'alter table users alter column name drop not null',
  'create table kid% () inherits (users)',
  'alter table kid% alter column name drop not null',
  'alter table kid% alter column name set not null',
  'create table grandkid% () inherits (kid%)',
  'alter table grandkid% alter column name drop not null',
  'alter table kid% no inherit users',
  'drop table kid% cascade',
  'create table typed% of pair',
  'alter type pair add attribute extra_% int cascade',
  'create function note_%() returns text language sql as $$ select null::text $$',
  'alter table posts alter column note set default note_%()',
  'drop function note_%() cascade',
  'create sequence free%',
  `alter table posts alter column far set default nextval('free%')`,
  'drop sequence free% cascade',
  'do $$ begin begin alter table posts add column inner_% int; exception when others then null; end; end $$',
  'begin; alter table posts add column kept_% int; savepoint s; drop table users cascade; rollback to s; commit',
  'create table clone% (like posts including all)',
  'truncate users cascade',
  'create temp table passing% (id int)',
  'analyze posts',
  'vacuum full users',
  'truncate posts',
  'begin; drop table users cascade; rollback',
] as const

const step = fc.tuple(fc.constantFrom(...statements), fc.integer({ min: 1, max: 4 }))

/** Roles belong to all databases of the server, so other tests may change them in between: then all are asked again. */
async function sameVersion<T>(
  asks: readonly (() => Promise<T>)[],
  version: (value: T) => string | null,
): Promise<readonly T[]> {
  for (;;) {
    const all: T[] = []
    for (const ask of asks) all.push(await ask())
    if (new Set(all.map(version)).size === 1) return all
  }
}

describe.each(lawMajors())('following the changes of PostgreSQL %i', (major) => {
  const database = forSuite(createDatabase, {
    major,
    isolated: true,
    prepare: true,
    sql: start,
    superuser: 'has superusers, and objects of several owners',
  })
  afterAll(async () => {
    const { rows } = await database.query(
      `select rolname from pg_roles where rolname like 'law\\_%\\_' || current_database()`,
    )
    for (const { rolname } of rows) await database.query(`drop owned by ${rolname} cascade; drop role ${rolname}`)
  })

  const options = { schemas, version: versionExpression, counter: counterExpression }
  const told = ({ revision, model, diagnostics }: Compiled): unknown => ({ revision, model, diagnostics })

  test(`equals a fresh start, whatever changed (SEED=${seed})`, { timeout: 60_000 + count * 500 }, async () => {
    const { db } = (await database.query('select current_database() as db')).rows[0]
    const follower = createCompiler({ query: database.query, ...options })
    const unaided = createCompiler({ query: database.query, memo: withoutMemory, ...options }).compile
    const read = createCatalogReader(database.query, options)
    const applied: string[] = []
    for (const [statement, number] of fc.sample(step, { numRuns: count, seed })) {
      const text = statement.replaceAll('%', String(number)).replaceAll('{db}', db)
      const changed = await database.query(text).then(
        () => true,
        () => database.query('rollback').then(() => false),
      )
      if (!changed) continue
      applied.push(text)
      const where = `after:\n${applied.join(';\n')}`
      const [catalog, whole] = await sameVersion(
        [read, () => readCatalog(database.query, options)],
        ({ version }) => version,
      )
      expect(catalog, where).toEqual(whole)
      if (applied.length % 4 !== 0) continue
      const anew = (): Promise<Compiled> => createCompiler({ query: database.query, ...options }).compile()
      const [followed, ...others] = (
        await sameVersion([follower.compile, anew, unaided], ({ revision }) => revision.version)
      ).map((compiled) => JSON.stringify(told(compiled)))
      for (const other of others) expect(followed, where).toBe(other)
    }
    expect(applied.length).toBeGreaterThan(count / 6)
  })

  test(`keeps what is judged to hold as it was (SEED=${seed})`, { timeout: 60_000 + count * 500 }, async () => {
    const { db } = (await database.query('select current_database() as db')).rows[0]
    const follower = createCompiler({ query: database.query, ...options })
    const besides = ({ revision, model }: Compiled, changed: readonly string[]): unknown => {
      const isBeside = ({ id }: { readonly id: string }): boolean => !changed.includes(id)
      const headOf = ({ name, key, grants }: EntityFacts): unknown => ({ name, key, grants })
      const { entities } = revision.manifest
      return {
        manifest: { ...revision.manifest, entities: entities.filter(isBeside) },
        heads: entities.map(headOf),
        modules: revision.entities.filter(isBeside),
        functions: revision.functions,
        sql: model.entities.filter(isBeside),
      }
    }
    let before = await follower.compile()
    let judge = createJudgeLater(before)
    let kept = 0
    for (const [statement, number] of fc.sample(step, { numRuns: 2 * count, seed: seed + 1 })) {
      const text = statement.replaceAll('%', String(number)).replaceAll('{db}', db)
      await database.query(text).catch(() => database.query('rollback'))
      const later = judge(await follower.readAhead())
      const now = await follower.compile()
      if (later !== null && later.version === now.revision.version) {
        kept += 1
        expect(besides(now, later.changed), text).toEqual(besides(before, later.changed))
      }
      // Some states are judged after several changes.
      if (later !== null && number % 3 > 0) continue
      before = now
      judge = createJudgeLater(before)
    }
    expect(kept).toBeGreaterThan(count / 12)
  })

  describe('reads only relations that records name', () => {
    let read: ReturnType<typeof createCatalogReader>
    beforeAll(() => {
      read = createCatalogReader(database.query, options)
    })

    /** Whether all changes since the snapshot were recorded with their relations; the catalogue is right in any case. */
    const isTold = async (change: () => Promise<unknown>): Promise<boolean> => {
      await read()
      const before = (await database.query(`select pg_current_snapshot() as at, ${counterExpression} as n`)).rows[0]
      await change()
      expect(await read()).toEqual(await readCatalog(database.query, options))
      const { rows } = await database.query(
        `select coalesce(sum(step) filter (where objects is not null), 0) = ${counterExpression}::int8 - $2::int8 as told from catalograph.schema_record
        where not pg_visible_in_snapshot(xid, $1)`,
        [before.at, before.n],
      )
      return rows[0].told
    }
    const run = (text: string) => (): Promise<unknown> => database.query(text)
    test('grants on a schema are recorded once in a transaction', async () => {
      await database.query('create table granted (id int primary key); create schema open')
      const read = createCatalogReader(database.query, options)
      await read()
      const before = (await database.query('select pg_current_snapshot() as at')).rows[0]
      await database.query(`begin; comment on table granted is 'text'; grant usage on schema open to anon;
        revoke usage on schema open from anon; grant usage on schema open to authenticated; commit`)
      const { rows } = await database.query(
        'select cardinality(objects) as objects from catalograph.schema_record where not pg_visible_in_snapshot(xid, $1)',
        [before.at],
      )
      // The table, and once that something without a name changed as well.
      expect(rows).toEqual([{ objects: 2 }])
      expect(await read()).toEqual(await readCatalog(database.query, options))
    })

    const inTransaction = fc.constantFrom(
      'alter table granted add column more int',
      'alter table granted drop column more',
      `comment on table granted is 'more'`,
      'grant select on granted to anon',
      'grant usage on schema open to anon',
      'revoke usage on schema open from anon',
      'create table further (id int primary key)',
      'drop table further',
      'create function further() returns int language sql as $$ select 1 $$',
      ...['savepoint s', 'rollback to s', 'reset all'],
    )
    const many = `do $$ begin for i in 1..40 loop execute 'comment on table granted is ''' || i || ''''; end loop; end $$`

    test(`a transaction is recorded once, with its savepoints (SEED=${seed})`, { timeout: 60_000 }, async () => {
      const drawn = fc.array(
        fc.oneof({ arbitrary: inTransaction, weight: 9 }, { arbitrary: fc.constant(many), weight: 1 }),
        {
          maxLength: 14,
        },
      )
      const { query } = database
      const recorded = async (at: unknown): Promise<unknown> =>
        (
          await query(
            'select count(*)::int as n from catalograph.schema_record where not pg_visible_in_snapshot(xid, $1)',
            [at],
          )
        ).rows[0].n
      for (const steps of fc.sample(drawn, { numRuns: sized(60, 25), seed })) {
        const before = (await query('select pg_current_snapshot() as at')).rows[0].at
        await query('begin; savepoint s')
        for (const text of steps)
          if (/savepoint|rollback/.test(text)) await query(text)
          else await query(`savepoint one; ${text}; release one`).catch(() => query('rollback to one'))
        await query('commit')
        expect(await read(), steps.join('; ')).toEqual(await readCatalog(query, options))
        if (!steps.includes('reset all')) expect(await recorded(before), steps.join('; ')).toBeLessThan(2)
      }
    })

    test.each([
      'create table told (id serial primary key, a text)',
      'alter table told add column b int references told',
      'alter table told alter column a set not null',
      'alter table told alter column id type bigint',
      'create unique index told_a on told (a)',
      `comment on column told.a is 'text'`,
      'grant select on told to anon',
      'grant update (a) on told to anon',
      'revoke all on told from anon',
      `do $$ begin execute 'grant update (a) on told to anon'; end $$`,
      'revoke update on told from anon',
      'grant select on told to anon; grant update (a) on told to anon',
      'revoke all on told from anon',
      'create table told_whole (id int primary key) partition by range (id); create table told_to (id int references told_whole)',
      'create table told_part partition of told_whole for values from (1) to (9)',
      'drop table told_to; drop table told_part',
      'create table told_kid () inherits (told); alter table told add column more int; drop table told_kid',
      'create sequence told_sequence',
      'create sequence told_owned owned by told.a',
      'create table told_owner (id serial primary key)',
      'alter sequence told_owned increment 2',
      'alter sequence told_owned owned by told_owner.id',
      'alter sequence told_owned owned by none',
      'alter sequence told_owned owned by told.a',
      'alter sequence told_owned rename to told_own',
      'drop sequence told_own',
      'alter sequence told_owner_id_seq owned by none; drop sequence told_owner_id_seq cascade',
      'alter sequence told_sequence increment 2',
      'drop sequence told_sequence',
      'create sequence told_sequence owned by told.a; drop sequence told_sequence',
      'drop table told_owner',
      'create schema told_schema',
      'create schema told_made create table inside (id int primary key references told) grant update (a) on told to anon',
      'create table told_outside (id int primary key references told_made.inside)',
      'drop schema told_made cascade',
      'drop schema told_schema',
      'drop table told_outside',
      'create policy told_policy on told; alter table told enable row level security',
      `create policy told_reads on told using (a = current_setting('request.jwt.claim.sub', true))`,
      'drop policy told_reads on told',
      `create function told_asks() returns boolean language sql as 'select current_setting(''request.jwt.claim.sub'') is null'`,
      'create policy told_asking on told using (told_asks())',
      'drop function told_asks() cascade',
      `create function told_fills() returns trigger language plpgsql as 'begin return new; end'`,
      'create trigger told_filled before insert on told for each row execute function told_fills()',
      'drop trigger told_filled on told',
      'create trigger told_filled before insert on told for each row execute function told_fills()',
      'drop function told_fills() cascade',
      `create domain told_domain as text check (value = current_setting('request.jwt.claim.sub', true))`,
      `create type told_mood as enum ('a')`,
      'create table told_child (id bigint references told)',
      'alter table told set schema auth',
      'alter table auth.told set schema public',
      'alter table told rename column id to told_id; alter table told rename column told_id to id',
      'alter table told rename column id to told_id',
      'alter table told rename column told_id to id',
      'drop table told_child',
      `create function told_sets() returns void language plpgsql as 'begin perform set_config(''a.b'', ''c'', true); end'`,
      'grant execute on function told_sets() to anon',
      'drop function told_sets()',
      'create function told(int) returns int language sql as $$ select 1 $$',
      'drop function told(int)',
      `create function told_checks(text) returns boolean immutable language sql as 'select true';
        create domain told_checked as text check (told_checks(value) and value = current_setting('request.jwt.claim.sub'))`,
      'drop table told',
      'begin; create table told (); alter table told add column a int; commit',
      'begin; create table rolled_back (); rollback',
    ])('a record names what changed: %s', async (text) => {
      expect(await isTold(run(text))).toBe(true)
    })

    test.each([
      'create schema told; alter schema told rename to told_other; drop schema told_other',
      'drop function told_checks(text) cascade',
      'begin isolation level repeatable read; comment on column told.a is $$text$$; commit',
      `do $$ begin for i in 1..80 loop execute 'comment on table told is ''' || i || ''''; end loop; end $$`,
      'comment on table told is null; delete from catalograph.schema_record',
      `insert into catalograph.schema_version values (-1, 1)`,
    ])('a record may be missing: %s', async (text) => {
      expect(await isTold(run(text))).toBe(false)
    })

    test.each([
      ['grant select on told to anon', false],
      ['  REVOKE ALL\n on TABLE told from anon ; ', false],
      ['grant select on all tables in schema public to anon', false],
      ['grant execute on function feel(text, int) to anon', false],
      ['grant select (a) on told to anon', true],
      ['grant select on told /* (a) */ to anon', true],
      ['grant select on told to anon; select 1', true],
      [`do $$ begin execute 'grant select on told to anon'; end $$`, true],
    ])('columns are searched after what may have named some: %s', async (text, searched) => {
      await database.query(text)
      const { rows } = await database.query(
        'select granted from catalograph.schema_record order by pg_catalog.age(xid::text::xid), step limit 1',
      )
      expect(rows).toEqual([{ granted: searched }])
    })

    test('records that were restored from another server say nothing', async () => {
      await database.query(`insert into catalograph.schema_record values (-1, 0, '9000000000', null, false)`)
      const read = createCatalogReader(database.query, options)
      await read()
      await database.query(`comment on column told.a is 'restored'`)
      expect(await read()).toEqual(await readCatalog(database.query, options))
      await database.query('select catalograph.fold_versions()')
      const { rows } = await database.query('select count(*)::int as n from catalograph.schema_record where pid = -1')
      expect(rows).toEqual([{ n: 0 }])
    })

    test('an owner that changed in silence is found at the next reading', async () => {
      const { db } = (await database.query('select current_database() as db')).rows[0]
      const role = `law_owner_${db}`
      await database.query(`create role ${role}; alter table told owner to ${role}`)
      const reassign = run(`reassign owned by ${role} to postgres; comment on schema public is null`)
      expect(await isTold(reassign)).toBe(true)
    })

    test('a change that is committed after a later one is read at its commit', async () => {
      const late = new pg.Client(database.ownerUrl)
      await late.connect()
      onTestFinished(() => late.end())
      await late.query('begin; alter table told add column late int')
      const commit = (): Promise<unknown> => late.query('commit')
      expect(await isTold(run('create table early ()'))).toBe(true)
      expect(await isTold(commit)).toBe(true)
    })
  })

  test('keeps the very same object for what did not change', async () => {
    await database.query('create table kept (id int primary key); create table touched (id int primary key)')
    const read = createCatalogReader(database.query, options)
    const before = await read()
    await database.query('alter table touched add column more text; analyze kept')
    const after = await read()
    const kept = before.relations.filter(({ name }) => name !== 'touched')
    expect(kept.filter((relation) => !after.relations.includes(relation))).toEqual([])
    expect(after.types.filter(({ name }) => name === 'mood')[0]).toBe(
      before.types.filter(({ name }) => name === 'mood')[0],
    )
  })
})
