import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { asMaintenance, createDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { lawMajors } from '../support/whole.ts'
import { followDatabase, type FollowedOptions, type FollowedService } from '../support/followed.ts'
import { dataOf } from '../support/answers.ts'

/** Promise: the next request has the effects of a committed change of the schema, and nothing else makes a service look. */

const schema = `
  create table base (id int primary key, body text, other int); insert into base values (1, 'one', 1);
  create table child (id int primary key, base int references base);
  create table going (id int primary key, body text); create rule going_rule as on insert to going do nothing;
  create view seen as select * from base; create materialized view kept as select * from base;
  create unique index kept_id on kept (id);
  create type mood as enum ('sad'); create type pair as (a int);
  create function twice(int) returns int language sql as 'select $1 * 2';
  create function fires() returns trigger language plpgsql as 'begin return new; end';
  create role member_{db}; create role group_{db}; grant select on base to member_{db};
  grant member_{db} to authenticator; grant select on child to group_{db};
  grant select, insert on base, child to anon;`

const warm = '{ baseCollection { edges { node { id } } } }'

describe.each(lawMajors())('following the schema of PostgreSQL %i', (major) => {
  let name: string
  const services: FollowedService[] = []
  const follow = (options: FollowedOptions = {}): FollowedService => {
    const service = followDatabase(db.url, options)
    services.push(service)
    return service
  }
  /** Two processes that are there all the time, as most are. */
  let both: readonly FollowedService[] = []
  const named = (text: string): string => text.replaceAll('{db}', name)
  const run = async (text: string): Promise<void> => {
    for (const statement of named(text).split(';;')) await db.query(statement)
  }
  // Roles belong to a whole server, so those that other tests make would count here: this test has a server of its own.
  const db = forSuite(createDatabase, {
    major,
    prepare: true,
    isolated: true,
    superuser: 'has superusers, and objects of several owners',
  })
  beforeAll(async () => {
    name = (await db.query('select current_database() as name')).rows[0].name
    await run(schema)
    both = [followDatabase(db.url), followDatabase(db.url)]
  })
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close()
  })
  afterAll(async () => {
    for (const service of both) await service.close()
    await run('drop owned by member_{db}, group_{db} cascade;; drop role member_{db}, group_{db}')
  })

  const compilesOnce = async (change: string, query: string): Promise<void> => {
    for (const service of both) dataOf(await service.graphql(query))
    const before = both.map(({ compiled }) => compiled())
    await run(change)
    await Promise.all(both.flatMap((service) => [1, 2, 3].map(async () => dataOf(await service.graphql(query)))))
    for (const service of both) dataOf(await service.graphql(query))
    // Requests that it does not concern are answered before it is compiled, which follows within a second.
    const counts = (): readonly number[] => both.map(({ compiled }) => compiled())
    await expect.poll(counts, { timeout: 10_000 }).toEqual(before.map((count) => count + 1))
  }

  test.each([
    'create table t1 (id serial primary key, b text unique)',
    'drop table t1',
    'alter table base add column extra int',
    'alter table base rename column extra to more',
    'alter table base drop column more',
    'alter table base owner to current_user',
    'alter table base enable row level security;; alter table base disable row level security',
    'create or replace view seen as select *, 1 as one from base',
    'drop view seen',
    `alter type mood add value 'glad'`,
    `alter type mood rename value 'glad' to 'merry'`,
    'alter type pair add attribute b int',
    'create domain positive as int',
    `create or replace function twice(int) returns int language sql stable as 'select $1 * 2'`,
    'drop function twice(int)',
    'create schema another',
    'drop schema another',
    'create sequence counting',
    'create policy some_policy on base',
    'create trigger some_trigger before insert on base for each row execute function fires()',
    'drop rule going_rule on going',
    'create unique index unique_index on base (other)',
    'drop index unique_index',
    `comment on table base is 'text'`,
    `comment on column base.body is 'text'`,
    `comment on constraint child_base_fkey on child is 'text'`,
    `comment on schema public is 'text'`,
    'grant select on child to authenticated',
    'revoke select on child from authenticated',
    'grant update (body) on base to anon',
    'grant usage on schema public to anon',
    'alter default privileges in schema public grant select on tables to anon',
    'drop owned by member_{db}',
    'begin;; create table t2 ();; create table t3 ();; commit',
    'set session_replication_role = replica;; create table t4 ();; set session_replication_role = origin',
  ])('compiles once after: %s', (text) => compilesOnce(text, warm))

  // A request for data checks the roles that concern the caller, one about the schema all of them.
  test.each([
    'grant group_{db} to member_{db}',
    'revoke group_{db} from member_{db}',
    'alter role member_{db} superuser',
    'alter role member_{db} nosuperuser noinherit',
    'alter database {db} owner to member_{db};; select 1',
    'alter database {db} owner to current_user',
  ])('compiles once, when a request is about the schema, after: %s', (text) => compilesOnce(text, '{ __typename }'))

  test('a role that counts as more or less than before is noticed, however often it asked before', async () => {
    const service = follow()
    const ask = async (role: string) => dataOf(await service.graphql(warm, { role: named(role) }))
    await run('alter role member_{db} inherit;; grant select on base to member_{db}')
    const changes = ['superuser', 'nosuperuser'].map((what) => `alter role member_{db} ${what}`)
    changes.push('grant group_{db} to member_{db}', 'revoke group_{db} from member_{db}')
    for (const [index, change] of changes.entries()) {
      for (const role of ['member_{db}', 'anon', 'member_{db}', 'anon']) await ask(role)
      await run(change)
      await ask('anon')
      expect(service.compiled(), change).toBe(index + 1)
      await ask('member_{db}')
      expect(service.compiled(), change).toBe(index + 2)
    }
  })

  test('two roles that swap their names in one transaction have the rights of each other', async () => {
    await run(`create table of_one (id int primary key, a text);; create table of_other (id int primary key, b text);;
      create role one_{db};; create role other_{db};; grant one_{db}, other_{db} to authenticator;;
      grant select on of_one to one_{db};; grant select on of_other to other_{db};;
      grant select (id) on of_one to other_{db};; grant select (id) on of_other to one_{db}`)
    const service = follow()
    const fields = (table: string, column: string): string =>
      `{ ${table}Collection { edges { node { id ${column} } } } }`
    const asked = { one: fields('of_one', 'a'), other: fields('of_other', 'b') }
    const answered = async (role: string, text: string): Promise<unknown> =>
      (await service.graphql(text, { role: named(`${role}_{db}`) })).errors?.[0]?.extensions.code ?? 'ok'
    const ask = async (): Promise<readonly unknown[]> => [
      await answered('one', asked.one),
      await answered('other', asked.other),
      await answered('one', asked.other),
      await answered('other', asked.one),
    ]
    const refused = 'GRAPHQL_VALIDATION_FAILED'
    const swap = `begin;; alter role one_{db} rename to swapped_{db};; alter role other_{db} rename to one_{db};;
      alter role swapped_{db} rename to other_{db};; commit`
    onTestFinished(async () => {
      await run('drop owned by one_{db}, other_{db};; drop role one_{db}, other_{db};; drop table of_one, of_other')
    })
    expect(await ask()).toEqual(['ok', 'ok', refused, refused])
    await run(swap)
    expect(await ask()).toEqual([refused, refused, 'ok', 'ok'])
    await run(swap)
    expect(await ask()).toEqual(['ok', 'ok', refused, refused])
  })

  test.each([
    'create temp table x1 (id serial primary key, b text);; create index on x1 (b);; comment on table x1 is $$t$$;; drop table x1',
    'create temp table x2 as select 1 as x;; drop table x2',
    'create temp table x3 (id int primary key) on commit drop',
    'create temp view x4 as select 1 as x;; drop view x4',
    'refresh materialized view kept',
    'refresh materialized view concurrently kept',
    'create statistics some_statistics on id, other from base',
    'create publication some_publication for table base;; drop publication some_publication',
    'create index some_index on base (other)',
    'reindex table base',
    'create table if not exists base ()',
    'drop table if exists never_was',
    'analyze base',
    'vacuum full base',
    'cluster base using base_pkey',
    'insert into base (id) values (2);; delete from base where id = 2',
    'begin;; create table never ();; rollback',
    'begin;; grant select on base to authenticated;; drop table child;; rollback',
  ])('never compiles after: %s', async (text) => {
    for (const service of both) dataOf(await service.graphql(warm))
    const before = both.map(({ compiled }) => compiled())
    await run(text)
    for (const service of both) dataOf(await service.graphql(warm))
    expect(both.map(({ compiled }) => compiled())).toEqual(before)
  })

  test('a change shows on the very next request of every process, reads and refusals alike', async () => {
    const ask = '{ freshCollection { edges { node { id } } } }'
    const codes = async (): Promise<readonly unknown[]> =>
      Promise.all(both.map(async ({ graphql }) => (await graphql(ask)).errors?.[0]?.extensions.code ?? 'ok'))
    expect(await codes()).toEqual(['GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_VALIDATION_FAILED'])
    await run('create table fresh (id int primary key);; grant select on fresh to anon')
    expect(await codes()).toEqual(['ok', 'ok'])
    await run('revoke select on fresh from anon')
    expect(await codes()).toEqual(['GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_VALIDATION_FAILED'])
    await run('grant select on fresh to member_{db};; grant member_{db} to anon')
    expect(new Set(await codes()).size).toBe(1)
    await run('drop table fresh;; revoke member_{db} from anon')
    expect(await codes()).toEqual(['GRAPHQL_VALIDATION_FAILED', 'GRAPHQL_VALIDATION_FAILED'])
  })

  test('an uncommitted change shows to no session, and at its commit to all, though another transaction continues', async () => {
    const service = follow()
    const ask = async (table: string): Promise<boolean> =>
      (await service.graphql(`{ ${table}Collection { edges { node { id } } } }`)).errors === undefined
    const [first, second] = [new pg.Client(db.ownerUrl), new pg.Client(db.ownerUrl)]
    await Promise.all([first.connect(), second.connect()])
    onTestFinished(async () => void (await Promise.all([first.end(), second.end()])))
    const make = (table: string): string =>
      `begin; create table ${table} (id int primary key); grant select on ${table} to anon`
    await first.query(make('by_first'))
    expect(await ask('by_first')).toBe(false)
    await second.query(make('by_second'))
    await second.query('commit')
    expect([await ask('by_first'), await ask('by_second')]).toEqual([false, true])
    await first.query('commit')
    expect([await ask('by_first'), await ask('by_second')]).toEqual([true, true])
  })

  test('a request that had to wait for a change is answered by what it waited for', async () => {
    const service = follow()
    await run('create table held (id int primary key, a text, b text);; grant select, insert on held to anon')
    await run(
      `comment on column held.a is '@graphql({"name": "x"})';; comment on column held.b is '@graphql({"name": "y"})'`,
    )
    const read = '{ heldCollection { edges { node { x y } } } }'
    dataOf(await service.graphql(read))
    const other = new pg.Client(db.ownerUrl)
    await other.connect()
    onTestFinished(() => other.end())
    await other.query(`begin; lock table held; comment on column held.a is '@graphql({"name": "y"})'`)
    await other.query(`comment on column held.b is '@graphql({"name": "x"})'`)
    const [waiting, writing] = [
      service.graphql(read),
      service.graphql(
        'mutation { insertIntoheldCollection(objects: [{ id: 1, x: "x", y: "y" }]) { records { x y } } }',
      ),
    ]
    await new Promise((resolve) => setTimeout(resolve, 150))
    await other.query('commit')
    dataOf(await waiting)
    expect(dataOf(await writing).insertIntoheldCollection.records).toEqual([{ x: 'x', y: 'y' }])
    expect((await db.query('select a, b from held')).rows).toEqual([{ a: 'y', b: 'x' }])
  })

  test('a function that changes the schema itself is not a stale request', async () => {
    const service = follow()
    await run(`create function make_part() returns int language plpgsql volatile security definer as
      $$ begin begin create table made_by_call (id int primary key); exception when duplicate_table then null; end; return 1; end $$`)
    expect(dataOf(await service.graphql('mutation { make_part }'))).toEqual({ make_part: 1 })
    expect((await db.query(`select to_regclass('made_by_call') is not null as made`)).rows).toEqual([{ made: true }])
  })

  test('a compile that fails leaves the last good schema in service, and is tried again', async () => {
    const clock = { now: 0 }
    let broken = false
    const compiling = (): void => {
      if (broken) throw new Error('the catalogue cannot be read')
    }
    const service = follow({ now: () => clock.now, compiling })
    dataOf(await service.graphql(warm))
    broken = true
    await run('create table unseen (id int primary key);; grant select on unseen to anon')
    dataOf(await service.graphql(warm))
    const unseen = '{ unseenCollection { edges { node { id } } } }'
    expect((await service.graphql(unseen)).errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
    broken = false
    clock.now += 5_000
    await expect.poll(async () => (await service.graphql(unseen)).errors).toBeUndefined()
  })

  test('nothing is refused by a schema that cannot be compared with the current one', async () => {
    const service = follow()
    await run('create table former (id int primary key);; grant select on former to anon')
    dataOf(await service.graphql('{ formerCollection { edges { node { id } } } }'))
    const latter = async (): Promise<unknown> => {
      const { data, errors } = await service.graphql('{ latterCollection { edges { node { id } } } }')
      return errors?.[0]?.extensions.code ?? data.latterCollection.edges
    }
    const port = Number(new URL(db.ownerUrl).port)
    await asMaintenance(port, `alter database ${name} allow_connections false`)
    try {
      await run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator'`)
      await run('alter table former rename to latter')
      expect(await latter()).toBe('DATABASE_UNAVAILABLE')
    } finally {
      await asMaintenance(port, `alter database ${name} allow_connections true`)
    }
    await expect.poll(latter, { timeout: 10_000 }).toEqual([])
  })

  describe('where nothing counts changes', () => {
    const clock = { now: 0 }
    const uncounted = (): FollowedService => follow({ counted: false, now: () => clock.now })

    test('refusals, introspection and what the database refuses are about the current schema', async () => {
      const service = uncounted()
      await run('create table late (id int primary key, body text);; grant select on late to anon')
      dataOf(await service.graphql('{ lateCollection { edges { node { id body } } } }'))
      await run('alter table late add column more int')
      dataOf(await service.graphql('{ lateCollection { edges { node { more } } } }'))
      await run('alter table late rename column body to text')
      const gone = await service.graphql('{ lateCollection { edges { node { body } } } }')
      expect(gone.errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
      await run(`comment on schema public is '@graphql({"introspection": true})'`)
      const { __type } = dataOf(await service.graphql('{ __type(name: "late") { fields { name } } }'))
      expect(__type.fields.map((field: { name: string }) => field.name)).toContain('text')
      await run('comment on schema public is null')
    })

    test('everything else is at most a second late, and nothing is read while nothing changed', async () => {
      const service = uncounted()
      await run(
        'create table slow (id int primary key);; insert into slow select generate_series(1, 3);; grant select on slow to anon',
      )
      const count = async (): Promise<number> =>
        dataOf(await service.graphql('{ slowCollection { edges { node { id } } } }')).slowCollection.edges.length
      expect(await count()).toBe(3)
      await run(`comment on table slow is '@graphql({"max_rows": 2})'`)
      expect(await count()).toBe(3)
      clock.now += 1_000
      expect(await count()).toBe(2)
      const before = service.compiled()
      clock.now += 1_000
      expect([await count(), service.compiled()]).toEqual([2, before])
    })
  })
})
