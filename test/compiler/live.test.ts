import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { installLive } from '../../compiler/following/prepare/install-live.ts'
import { liveInstalled } from '../../compiler/following/prepare/live-installed.ts'
import { withSession } from '../../runtime/db/connect/session.ts'
import { leaderLock } from '../../runtime/db/check/live-locks.ts'
import { until } from '../support/until.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { lawMajors } from '../support/whole.ts'

const tables = `
  create schema if not exists other;
  create table authors (id int primary key);
  create table posts (id int primary key, owner int, title text, done bool, due date,
    author int references authors on delete cascade);
  create table cities (id int, region int) partition by list (region);
  create table cities_1 partition of cities for values in (1);
  create table animals (id int, name text);
  create table cats (lives int) inherits (animals);
  create view seen as select * from posts;
  create table plain (id int)`

interface Told {
  readonly relation: string
  readonly touched: Readonly<Record<string, readonly string[]>>
}

describe.each(lawMajors())('triggers of live relations on PostgreSQL %i', (major) => {
  let database: TestDatabase
  /** Stands for a process that leads and is awake. */
  let leader: pg.Client
  let watcher: pg.Client
  const run = (text: string) => database.query(text)
  const runAsSuperuser = (text: string) => database.superuser('runs what only superusers may').query(text)
  const install = (...names: string[]) =>
    withSession({ url: database.ownerUrl }, (query) =>
      installLive(
        query,
        names.map((name) => ({ schema: 'public', name })),
      ),
    )
  const installed = async (name: string): Promise<unknown> =>
    (await run(`select ${liveInstalled(`'${name}'::regclass`)} as yes`)).rows[0].yes
  const watch = async (name: string, columns: readonly string[] = []): Promise<void> => {
    await watcher.query('select catalograph.live_watch($1)', [JSON.stringify([{ schema: 'public', name, columns }])])
  }
  /** The changes that were reported since the last call; relations by name. */
  const told = async (): Promise<readonly Told[]> => {
    const { rows } = await run(`with told as (delete from catalograph.live_changes returning *)
      select relation::regclass::text as relation, touched::json from told where relation > 1 order by xid, told.touched`)
    return rows as readonly Told[]
  }
  /** The report of a statement: the relations, or the values of the one that changed. */
  const tells = async (text: string): Promise<readonly string[]> => {
    await told()
    const by = /program|replica|trigger all/.test(text) ? runAsSuperuser : run
    for (const statement of text.split(';;')) await by(statement)
    return (await told()).map(({ relation }) => relation)
  }
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(database.ownerUrl)
    await client.connect()
    return client
  }
  beforeEach(async () => {
    database = await createDatabase({ major, prepare: true, sql: tables })
    leader = await connect()
    watcher = await connect()
    await leader.query(`select pg_advisory_lock(${leaderLock})`)
  })
  afterEach(async () => {
    await leader.end()
    await watcher.end()
    await database.drop()
  })

  test('are made once on the whole tree, and what cannot have them is said', async () => {
    expect(await installed('posts')).toBe(false)
    expect(await install('posts', 'cities_1')).toEqual([])
    for (const name of ['posts', 'cities', 'cities_1']) expect(await installed(name)).toBe(true)
    const before = (await run(`select sum(n)::text as n from catalograph.schema_version`)).rows
    expect(await install('posts', 'cities', 'seen', 'nowhere')).toEqual([
      { relation: { schema: 'public', name: 'seen' }, why: 'kind' },
      { relation: { schema: 'public', name: 'nowhere' }, why: 'absent' },
    ])
    expect((await run(`select sum(n)::text as n from catalograph.schema_version`)).rows).toEqual(before)
  })

  test('are removed from what is live no more, unless a comment still says that it is', async () => {
    await install('posts', 'animals', 'cities')
    await run(`comment on table animals is '@graphql({"live": {"enabled": true}})'`)
    expect(await install('posts')).toEqual([])
    expect([await installed('posts'), await installed('animals'), await installed('cities')]).toEqual([
      true,
      true,
      false,
    ])
    const left = await run(
      `select 1 from pg_trigger where tgname like 'catalograph%' and tgrelid = 'cities_1'::regclass`,
    )
    expect(left.rows).toEqual([])
  })

  test('stay where a comment makes the table live again while they are about to be removed', async () => {
    await install('posts', 'plain')
    const owner = await connect()
    await owner.query(`begin; comment on table posts is '@graphql({"live": {"enabled": true}})'`)
    const removing = install('plain')
    await until(async () => {
      const { rows } = await run(`select from pg_locks where not granted and relation = 'posts'::regclass
        and database = (select oid from pg_database where datname = current_database())`)
      return rows.length > 0
    }, 20_000)
    await owner.query('commit')
    await owner.end()
    expect(await removing).toEqual([])
    expect(await installed('posts')).toBe(true)
  })

  test('a table that others hold is reported as busy, and no session waits behind it for long', async () => {
    const other = await connect()
    await other.query('begin; insert into posts values (1)')
    expect(await install('posts')).toEqual([{ relation: { schema: 'public', name: 'posts' }, why: 'busy' }])
    await other.end()
    expect(await install('posts')).toEqual([])
  })

  test('a table that others hold does not hold up the others, and gets its triggers in the end', async () => {
    const other = await connect()
    await other.query('begin; insert into posts values (1)')
    const installing = install('posts', 'authors', 'plain')
    await until(async () => (await installed('plain')) === true, 20_000)
    await other.end()
    expect(await installing).toEqual([])
  })

  test('a role that may not install is refused', async () => {
    const made = await withSession({ url: database.url }, (query) =>
      installLive(query, [{ schema: 'public', name: 'posts' }]),
    )
    expect(made).toEqual([{ relation: { schema: 'public', name: 'posts' }, why: 'refused' }])
  })

  test('a table of an owner whose role the preparing one has not is refused, held or not', async () => {
    await runAsSuperuser(`grant usage on schema catalograph to authenticated;
      grant execute on function catalograph.live_tree(oid) to authenticated;
      alter function catalograph.live_hindrance(oid) owner to authenticated`)
    const other = await connect()
    await other.query('begin; insert into posts values (1)')
    expect(await install('posts')).toEqual([{ relation: { schema: 'public', name: 'posts' }, why: 'refused' }])
    await other.end()
  })

  test('nothing is reported of an unwatched relation, and each statement of a watched one', async () => {
    await install('posts')
    expect(await tells('insert into posts values (1)')).toEqual([])
    await watch('posts')
    const rows: readonly (readonly [text: string, times: number])[] = [
      ['insert into posts values (2), (3)', 1],
      [`copy posts (id) from program 'echo 4'`, 1],
      ['update posts set done = true', 1],
      ['update posts set done = true where false', 0],
      ['delete from posts where id = 4', 1],
      ['delete from posts where id = 4', 0],
      ['with made as (insert into posts values (5) returning id) select * from made', 1],
      ['insert into posts values (5) on conflict (id) do update set done = false', 1],
      ['insert into posts values (5) on conflict do nothing', 0],
      ['insert into seen values (6)', 1],
      [`do $$ begin insert into posts values (7); end $$`, 1],
      ['merge into posts p using (values (7)) v (id) on p.id = v.id when matched then delete', 1],
      ['begin;;insert into posts values (8);;rollback', 0],
      ['begin;;savepoint s;;insert into posts values (8);;rollback to s;;commit', 0],
      ['begin;;savepoint s;;insert into posts values (8);;release s;;commit', 1],
      ['begin isolation level repeatable read;;delete from posts where id = 8;;commit', 1],
      ['begin isolation level serializable;;insert into posts values (8);;commit', 1],
      ['insert into authors values (1);;update posts set author = 1', 1],
      ['delete from authors', 1],
      ['truncate authors cascade', 1],
      ['truncate posts', 1],
      [`set session_replication_role = replica;;insert into posts values (1);;reset session_replication_role`, 1],
      ['alter table posts disable trigger all;;insert into posts values (9);;alter table posts enable trigger all', 1],
    ]
    for (const [text, times] of rows) {
      if (major === 14 && text.startsWith('merge')) continue
      expect([text, (await tells(text)).length]).toEqual([text, times])
    }
  })

  test('a transaction with an old snapshot sees that a relation came to be watched', async () => {
    await install('posts')
    const other = await connect()
    await other.query('begin isolation level repeatable read; select * from posts')
    await watch('posts')
    await other.query('insert into posts values (1); commit')
    await other.end()
    expect(await told()).toEqual([{ relation: 'posts', touched: {} }])
  })

  test('every table of a tree reports under its root: parent, leaf, attached and later ones; detached ones do not', async () => {
    await install('cities', 'animals')
    await watch('cities')
    await watch('cats')
    expect(await tells('insert into cities values (1, 1)')).toEqual(['cities'])
    expect(await tells('insert into cities_1 values (2, 1)')).toEqual(['cities'])
    expect(await tells('truncate cities_1')).toEqual(['cities'])
    expect(await tells('update animals set name = null;;insert into cats values (1)')).toEqual(['animals'])
    expect(await tells('update animals set name = null')).toEqual(['animals'])
    await run('create table cities_2 partition of cities for values in (2)')
    expect(await tells('insert into cities_2 values (3, 2)')).toEqual(['cities'])
    await run(
      'create table cities_3 (id int, region int); alter table cities attach partition cities_3 for values in (3)',
    )
    expect(await tells('insert into cities_3 values (3, 3)')).toEqual(['cities'])
    expect(await installed('cities_3')).toBe(true)
    await run('alter table cities detach partition cities_3')
    expect(await tells('alter table cities_3 drop column region;;insert into cities_3 values (4)')).toEqual([])
    expect(await installed('cities')).toBe(true)
  })

  test('report values of pinned columns before and after, and of no others', async () => {
    await install('posts')
    await watch('posts', ['owner', 'done', 'due', 'nowhere'])
    await run(
      `set datestyle = 'SQL, DMY'; insert into posts values (1, 7, 'a', true, '2026-03-01'), (2, null, 'b', null, 'infinity')`,
    )
    expect((await told())[0]?.touched).toEqual({ owner: ['7'], done: ['t'], due: ['2026-03-01', 'infinity'] })
    await run('update posts set owner = 8 where id = 1')
    expect((await told())[0]?.touched['owner']).toEqual(['7', '8'])
    await run('update posts set done = false where id = 1')
    expect((await told())[0]?.touched).toEqual({
      owner: ['8'],
      done: ['t', 'f'],
      due: ['2026-03-01'],
    })
    await run('update posts set owner = owner')
    expect((await told())[0]?.touched).toEqual({ owner: ['8'], done: ['f'], due: ['infinity', '2026-03-01'] })
    await run('delete from posts where id = 2')
    expect((await told())[0]?.touched).toEqual({ owner: [], done: [], due: ['infinity'] })
    await run(
      'update posts set owner = 9 where false; delete from posts where false; insert into posts select where false',
    )
    expect(await told()).toEqual([])
    await run('insert into posts (id, owner) select n, n from generate_series(10, 309) n')
    expect((await told())[0]?.touched['owner']).toHaveLength(300)
    await run('insert into posts (id, owner) select n, n from generate_series(310, 610) n')
    expect((await told())[0]?.touched).toEqual({ done: [], due: [] })
  })

  test('report no value of a column with a long one, of one row and of several', async () => {
    await install('posts')
    await watch('posts', ['title', 'owner'])
    const long = `repeat('ä', 251)`
    const fits = `repeat('ä', 250)`
    const touched = async (text: string): Promise<readonly string[]> => {
      await run(text)
      return Object.keys((await told())[0]?.touched ?? {}).sort()
    }
    expect(await touched(`insert into posts (id, owner, title) values (1, 1, ${fits})`)).toEqual(['owner', 'title'])
    expect(await touched(`insert into posts (id, owner, title) values (2, 1, ${long})`)).toEqual(['owner'])
    expect(await touched(`insert into posts (id, title) values (3, ${long}), (4, 'x')`)).toEqual(['owner'])
    expect(await touched(`update posts set title = 'short' where id = 2`)).toEqual(['owner'])
    expect(await touched(`update posts set title = ${long} where id = 1`)).toEqual(['owner'])
    expect(await touched('update posts set owner = 5')).toEqual(['owner'])
    expect(await touched('delete from posts where id = 2')).toEqual(['owner', 'title'])
    expect(await touched('delete from posts where id = 1')).toEqual(['owner'])
    expect(await touched('insert into posts (id, title) values (9, null)')).toEqual(['owner', 'title'])
    expect(await touched('delete from posts')).toEqual(['owner'])
  })

  test('report more columns than one statement holds, of one row and of several', async () => {
    const names = Array.from({ length: 20 }, (_, number) => `c${number}`)
    await run(`create table wide (${names.map((name) => `${name} int default 5`).join()}, note json)`)
    await install('wide')
    const values = (wanted: readonly string[], ...found: readonly string[]) => [
      { relation: 'wide', touched: Object.fromEntries(wanted.map((name) => [name, found])) },
    ]
    for (const wanted of [
      ['c3', 'c7'],
      ['c3', 'c7', 'c8'],
      ['c3', 'c7', 'c8', 'c19'],
    ]) {
      await watch('wide', wanted)
      await run('insert into wide (note) values (null)')
      expect(await told()).toEqual(values(wanted, '5'))
      await run('insert into wide (note) values (null), (null)')
      expect(await told()).toEqual(values(wanted, '5'))
    }
  })

  test('names and types that no one expects', async () => {
    await run(`create domain "d%" as text; create type mood as enum ('a"b', 'c');
      create table "o'%1$s ""x" (told text, mask int, v "d%", "%s ""q" mood, n numeric, touched bigint)`)
    const name = `o'%1$s "x`
    expect(await install(name)).toEqual([])
    await watch(name, ['told', 'mask', 'v', '%s "q', 'n', 'touched'])
    await run(`insert into "o'%1$s ""x" values ('%', 1, 'd''"', 'a"b', 1, 9007199254740993)`)
    expect((await told())[0]?.touched).toEqual({
      told: ['%'],
      mask: ['1'],
      v: [`d'"`],
      '%s "q': ['a"b'],
      touched: ['9007199254740993'],
    })
  })

  test('a column that is renamed, dropped or of another type breaks no write, of an open session neither', async () => {
    await install('posts')
    await watch('posts', ['owner', 'title'])
    const other = await connect()
    await other.query(`insert into posts values (1, 1, 'a')`)
    await run('alter table posts rename owner to keeper')
    await other.query('update posts set keeper = 2')
    await run('drop view seen; alter table posts alter title type bytea using null')
    await other.query('update posts set keeper = 3')
    await run('alter table posts drop column keeper cascade')
    await run('alter table posts rename to articles')
    await other.query('delete from articles')
    await other.end()
    expect((await told()).map(({ touched }) => touched)).toEqual([
      { owner: ['1'], title: ['a'] },
      { keeper: ['1', '2'], title: ['a'] },
      { keeper: ['2', '3'] },
      {},
    ])
  })

  test('a transaction of many changes breaks no write, and no table becomes live beside one that is not followed', async () => {
    const many = (table: string): string =>
      `do $$ begin for i in 1..40 loop execute 'comment on table ${table} is ''' || i || ''''; end loop; end $$`
    await run(`drop view seen; begin; ${many('plain')}; alter table posts drop column due`)
    expect(
      await withSession({ url: database.ownerUrl }, async (query) => {
        await query(`set lock_timeout = 100`)
        return query(`select catalograph.live_install('public.authors'::regclass)`).then(
          String,
          (error: Error) => error.message,
        )
      }),
    ).toMatch('holds a lock')
    await run('commit')
    expect(await install('posts')).toEqual([])
    await run(
      `begin; ${many('plain')}; alter table posts rename column title to heading; alter table posts drop column done; commit`,
    )
    expect(await installed('posts')).toBe(true)
    await run('insert into posts (id) values (1)')
  })

  test('where the triggers cannot be made again, the relation loses them, and the command of its owner succeeds', async () => {
    await install('cities')
    await watch('cities')
    await runAsSuperuser(`create function catalograph.fails() returns event_trigger language plpgsql as $$ begin
      if exists (select from pg_event_trigger_ddl_commands() where command_tag = 'CREATE TRIGGER') then
        raise exception 'no'; end if; end $$;
      create event trigger fails on ddl_command_end execute function catalograph.fails();
      alter event trigger fails enable always`)
    await run('create table cities_2 partition of cities for values in (2)')
    expect(await installed('cities')).toBe(false)
    expect(await tells('insert into cities values (1, 1)')).toEqual([])
    await runAsSuperuser('drop event trigger fails')
    expect(await install('cities')).toEqual([])
  })

  test('changes of the schema are reported, rolled back ones are not', async () => {
    await install('posts')
    const schemaChanges = async (text: string): Promise<number> => {
      await run('delete from catalograph.live_changes')
      for (const statement of text.split(';;')) await run(statement)
      return (await run('select from catalograph.live_changes where relation = 0')).rowCount ?? 0
    }
    expect(await schemaChanges('alter table plain add column x int')).toBe(1)
    expect(await schemaChanges('begin;;drop table plain;;rollback')).toBe(0)
    expect(await schemaChanges('create temp table passing ()')).toBe(0)
    expect(await schemaChanges('drop table plain')).toBe(1)
    expect(await schemaChanges('revoke all on posts from public')).toBe(1)
    await leader.query('select pg_advisory_unlock_all()')
    expect(await schemaChanges('create table plain ()')).toBe(0)
  })

  test('a dropped relation leaves nothing behind', async () => {
    await install('posts')
    await run('drop table posts cascade')
    const left = await run(`select relname from pg_class where relname ~ '^live_[0-9]' union all
      select proname from pg_proc where proname ~ '^live_[0-9]'`)
    expect(left.rows).toEqual([])
  })

  test('without a leader, a writer closes the gate, and nothing is written down from then on', async () => {
    await install('posts')
    await watch('posts')
    await leader.end()
    leader = await connect()
    const writer = await connect()
    await writer.query('begin; insert into posts values (1)')
    // The lock was released: another session may lead although this transaction continues.
    const { rows } = await leader.query(`select pg_try_advisory_lock(${leaderLock}) as got`)
    expect(rows).toEqual([{ got: true }])
    await writer.query('insert into posts values (2); commit')
    await writer.end()
    expect(await told()).toHaveLength(1)
    const gates = await run(`select last_value::int as value from pg_sequences where sequencename ~ '^live_[0-9]'`)
    expect(gates.rows).toEqual([{ value: 0 }])
  })

  test.each(['anon', 'authenticated', 'service_role'])(
    '%s reads nothing, sets no gate and calls nothing',
    async (role) => {
      await install('posts')
      const { rows } = await run(`select p.oid::regprocedure::text as call from pg_proc p
      where p.pronamespace = 'catalograph'::regnamespace and p.proname ~ '^live_'
        and has_function_privilege('${role}', p.oid, 'EXECUTE')`)
      expect(rows).toEqual([])
      const { rows: relations } = await run(`select c.relname from pg_class c
      where c.relnamespace = 'catalograph'::regnamespace and c.relname ~ '^live_' and c.relkind in ('r', 'v', 'S')
        and (has_any_column_privilege('${role}', c.oid, 'SELECT, INSERT, UPDATE') and c.relkind <> 'S'
          or has_table_privilege('${role}', c.oid, 'DELETE, TRUNCATE, UPDATE') or (c.relkind = 'S'
            and has_sequence_privilege('${role}', c.oid, 'USAGE, UPDATE')))`)
      expect(relations).toEqual([])
      await run(`grant insert on posts to ${role}`)
      await watch('posts')
      await database.queryAsLogin(`set role ${role}; insert into posts (id) values (77); reset role`)
      expect(await told()).toHaveLength(1)
    },
  )
})
