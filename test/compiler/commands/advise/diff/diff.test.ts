import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { compileCommand } from '../../../../../compiler/commands/compile.ts'
import { diffCommand } from '../../../../../compiler/commands/diff.ts'
import type { Comparison } from '../../../../../compiler/commands/advise/diff/compare.ts'
import { runHere, type Ran } from '../../../../support/built-cli.ts'
import { createDatabase, type TestDatabase } from '../../../../support/database.ts'

const schema = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table authors (id int primary key, name text not null);
  create table posts (id int primary key, title text not null, body text, author_id int references authors);
  create view titles as select id, title from posts;
  create function public.shouted(posts) returns text language sql stable as 'select upper($1.title)';
  grant select on authors, posts to anon, authenticated;
  grant insert, update on posts to authenticated;
  grant all on authors, posts to service_role;`

const catalogue = `select
  (select string_agg(format('%s.%s %s', c.relname, a.attname, a.atttypid::regtype), ',' order by 1)
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and a.attnum > 0) as columns,
  (select string_agg(indexrelid::regclass::text, ',' order by 1) from pg_index
    where indrelid::regclass::text in ('posts', 'authors')) as indexes`

describe('catalograph diff', { timeout: 120_000 }, () => {
  let db: TestDatabase
  let folder: string
  beforeAll(async () => {
    db = await createDatabase({ prepare: true, sql: schema })
    folder = await mkdtemp(join(tmpdir(), 'catalograph-diff-'))
    await mkdir(join(folder, 'app/posts'), { recursive: true })
    await mkdir(join(folder, 'steps/more'), { recursive: true })
    await file('app/posts/titles.graphql', 'query Titles { postsCollection { edges { node { ...Title } } } }')
    await file('app/fragments.graphql', 'fragment Title on Posts { ...Key title } fragment Key on Posts { id }')
    await file(
      'app/bodies.graphql',
      'query Bodies { postsCollection { edges { node { id body } } } } query Name { __typename }',
    )
  })
  afterAll(async () => {
    await db.drop()
    await rm(folder, { recursive: true, force: true })
  })

  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ran> =>
    runHere(diffCommand, ['diff', ...args], { DATABASE_URL: db.ownerUrl, ...environment })
  const migrate = async (sql: string, ...more: readonly string[]): Promise<Ran> =>
    run(['--migration', await file('migration.sql', sql), ...more])
  const compared = ({ stdout }: Ran): Comparison => JSON.parse(stdout) as Comparison

  it('reports first what a migration breaks, for whom, and takes it back', async () => {
    const before = (await db.query(catalogue)).rows
    const ran = await migrate(
      `begin;
       alter table posts drop column body; -- gone
       alter table authors add column bio text;
       revoke insert on posts from authenticated;
       commit;`,
      '--documents',
      join(folder, 'app/**/*.graphql'),
    )
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toMatch(/^held for \d+ ms: ACCESS EXCLUSIVE on public\.authors, public\.posts\n$/)
    expect(ran.stdout).toMatch(/^4 breaking, 0 dangerous, 1 addition; 1 of 2 documents stops working\n\nBreaking\n/)
    expect(ran.stdout).toContain('  Posts.body was removed.  (anon, authenticated, service_role)')
    expect(ran.stdout).toContain('  Mutation.insertIntoPostsCollection was removed.  (authenticated)')
    expect(ran.stdout).toContain('  Authors.bio was added.  (anon, authenticated, service_role)')
    expect(ran.stdout).toContain('authenticated lost INSERT ON TABLE public.posts')
    expect(ran.stdout).toContain(
      `${join(folder, 'app/bodies.graphql')}, Bodies  (anon, authenticated, service_role)\n    Cannot query field "body" on type "Posts"`,
    )
    expect(ran.stdout).not.toContain('Titles')
    expect(ran.stdout.indexOf('Breaking')).toBeLessThan(ran.stdout.indexOf('Additions'))
    expect((await db.query(catalogue)).rows).toEqual(before)
  })

  it('ends with 0 where nothing breaks, whatever is new', async () => {
    const ran = await migrate('create table tags (id int primary key); grant select on tags to anon', '--json')
    expect(ran.exitCode).toBe(0)
    const { breaking, changes } = compared(ran)
    expect(breaking).toBe(false)
    expect(changes).toContainEqual({
      severity: 'addition',
      kind: 'TYPE_ADDED',
      description: 'Tags was added.',
      roles: ['anon'],
    })
    // Types that come with it go without saying.
    const told = changes.map(({ description }) => description)
    expect(told).not.toContain('TagsConnection was added.')
    expect(told).toContain('Query.tagsCollection was added.')
    expect(told).not.toContain('Query.tagsCollection(first:) was added.')
  })

  it('pairs columns that share a field with themselves', async () => {
    await db.query(
      'create table acc (id int primary key, created_at int, "createdAt" timestamp not null default now())',
    )
    await db.query('grant select, insert on acc to anon')
    onTestFinished(async () => void (await db.query('drop table acc')))
    const ran = await migrate('alter table authors add column x int', '--roles', 'anon', '--json')
    expect(compared(ran).changes.map(({ description }) => description)).toEqual(['Authors.x was added.'])
  })

  it('names a field, type, function or value that means another object', async () => {
    await db.query(`create table moved (id int primary key, one text, two text, first int references authors, second int references authors);
      comment on column moved.one is '@graphql({"name": "text"})';
      comment on constraint moved_first_fkey on moved is '@graphql({"foreign_name": "author"})';
      comment on constraint moved_second_fkey on moved is '@graphql({"foreign_name": "other"})';
      create table place (id int primary key); create table room (id int primary key);
      create type mood as enum ('glad', 'sad'); alter table moved add column mood mood;
      create function call_one() returns int language sql stable as 'select 1';
      create function call_two() returns int language sql stable as 'select 2';
      grant select on moved, place, room to anon`)
    onTestFinished(async () => {
      await db.query('drop table moved, place, room; drop type mood; drop function call_one(), call_two()')
    })
    const ran = await migrate(
      `comment on column moved.one is null; comment on column moved.two is '@graphql({"name": "text"})';
         comment on constraint moved_first_fkey on moved is '@graphql({"foreign_name": "other"})';
         comment on constraint moved_second_fkey on moved is '@graphql({"foreign_name": "author"})';
         comment on table place is '@graphql({"name": "Room"})'; comment on table room is '@graphql({"name": "Place"})';
         comment on type mood is '@graphql({"mappings": {"glad": "sad", "sad": "glad"}})';
         comment on function call_one() is '@graphql({"name": "callTwo"})'; comment on function call_two() is '@graphql({"name": "callOne"})'`,
      '--roles',
      'anon',
      '--json',
    )
    const moved = compared(ran).changes.filter(({ kind }) => kind === 'NAME_MOVED')
    expect(moved.map(({ description }) => description).toSorted()).toEqual([
      "Mood.glad is the label 'sad' now, no longer 'glad'.",
      "Mood.sad is the label 'glad' now, no longer 'sad'.",
      'Moved.author is the relation second -> public.authors (id) now, no longer the relation first -> public.authors (id).',
      'Moved.other is the relation first -> public.authors (id) now, no longer the relation second -> public.authors (id).',
      'Moved.text is column two now, no longer column one.',
      'Place is table public.room now, no longer table public.place.',
      'Query.callOne is function public.call_two now, no longer function public.call_one.',
      'Query.callTwo is function public.call_one now, no longer function public.call_two.',
      'Room is table public.place now, no longer table public.room.',
    ])
    // Renamed, and called as before.
    const renamed = await migrate(
      `alter table moved rename one to three; comment on column moved.three is '@graphql({"name": "text"})'`,
      '--json',
    )
    expect(compared(renamed).changes).toEqual([])
  })

  it('names a new table that no role may read', async () => {
    const ran = await migrate(
      'create table transport (id int primary key); create table bare (id int primary key); grant select on bare to anon',
      '--json',
    )
    expect(compared(ran).changes.filter(({ kind }) => kind === 'UNUSED_OBJECT')).toEqual([
      {
        severity: 'addition',
        kind: 'UNUSED_OBJECT',
        description: 'The table public.transport is new, and none of these roles may read it.',
        roles: ['anon', 'authenticated', 'service_role'],
      },
    ])
  })

  it('compares a database with artifacts and with another database', async () => {
    const artifacts = join(folder, 'artifacts')
    await runHere(compileCommand, ['compile', '--out', artifacts], { DATABASE_URL: db.ownerUrl })
    const other = await createDatabase({ prepare: true, sql: `${schema} alter table posts rename title to heading;` })
    onTestFinished(() => other.drop())
    expect(await run(['--against', artifacts])).toMatchObject({
      exitCode: 0,
      stdout: '0 breaking, 0 dangerous, 0 additions\n',
    })
    for (const against of [artifacts, db.ownerUrl]) {
      const ran = await run(['--against', against, '--roles', 'anon', '--json'], { DATABASE_URL: other.ownerUrl })
      expect(ran.exitCode).toBe(1)
      expect(compared(ran).changes.map(({ description }) => description)).toContain('Posts.title was removed.')
    }
  })

  it('judges the documents of artifacts for the roles for which they were compiled', async () => {
    const out = join(folder, 'compiled')
    const documents = ['--documents', join(folder, 'app/**/*.graphql')]
    await runHere(compileCommand, ['compile', ...documents, '--roles', 'authenticated', '--out', out], {
      DATABASE_URL: db.ownerUrl,
    })
    const ran = await migrate('alter table posts drop column body', '--artifacts', out, '--json')
    const { broken } = compared(ran).documents
    expect(broken.map(({ source, operation, roles }) => [source, operation, roles.join()])).toEqual([
      ['Bodies, Name', 'Bodies', 'authenticated'],
      ['Bodies, Name', 'Name', 'authenticated'],
    ])
    expect(await migrate('select 1', '--artifacts', out, ...documents)).toMatchObject({ exitCode: 2 })
  })

  it('judges the documents of an allow-list for the roles of the list', async () => {
    await db.query(`
      create schema private; create table private.documents (hash text primary key, document text);
      insert into private.documents values ('aa', '{ postsCollection { edges { node { body } } } }'), ('bb', '{ nowhere }');
      comment on schema public is '@graphql({"inflect_names": true, "allowlist": {"table": "private.documents"}})'`)
    onTestFinished(async () => {
      await db.query(`drop schema private cascade; comment on schema public is '@graphql({"inflect_names": true})'`)
    })
    const { documents } = compared(await migrate('alter table posts drop column body', '--json'))
    expect(documents.broken).toMatchObject([
      { source: expect.stringContaining('listed aa'), roles: ['anon', 'authenticated'], operation: null },
    ])
    expect(documents.invalid).toMatchObject([{ source: expect.stringContaining('listed bb') }])
  })

  it.each([
    ['lowers pages', `comment on table posts is '@graphql({"max_rows": 5})'`, 'PAGES_SMALLER', 0],
    [
      'makes other node ids',
      'alter table posts drop constraint posts_pkey, add primary key (id, title)',
      'NODE_IDS_CHANGED',
      1,
    ],
    [
      'limits documents',
      `comment on schema public is '@graphql({"inflect_names": true, "limits": {"fields": 9}})'`,
      'LIMIT_LOWERED',
      0,
    ],
    [
      'limits costs',
      `comment on schema public is '@graphql({"inflect_names": true, "limits": {"cost": 9}})'`,
      'LIMIT_LOWERED',
      0,
    ],
    ['refuses null', 'alter table posts alter body set not null', 'NULL_REFUSED', 0],
    ['takes shorter texts', 'alter table posts alter body type varchar(9)', 'TEXTS_SHORTER', 0],
    ['refuses everything', `comment on schema public is '@graphql({oops})'`, 'EVERYTHING_REFUSED', 1],
    [
      'lists documents',
      `comment on schema public is '@graphql({"inflect_names": true, "allowlist": {"table": "a.b"}})'`,
      'ALLOWLIST_ADDED',
      1,
    ],
  ] as const)('sees that a migration %s, which no type shows', async (_what, sql, kind, exitCode) => {
    const ran = await migrate(sql, '--json')
    expect(ran.exitCode).toBe(exitCode)
    expect(compared(ran).changes.map((change) => change.kind)).toContain(kind)
  })

  it('reports policies, for the roles that they are for', async () => {
    const told = async (sql: string) =>
      compared(await migrate(sql, '--json')).changes.map(({ severity, kind, description, roles }) =>
        [severity, kind, description, roles.join()].join(' | '),
      )
    const on = 'alter table authors enable row level security'
    expect(await told(on)).toEqual([
      'dangerous | ROW_SECURITY_ON | Row-level security of public.authors is on: none is in reach. | anon,authenticated',
    ])
    expect(await told(`${on}; create policy "all of it" on authors to anon using (true)`)).toEqual([
      'dangerous | ROW_SECURITY_ON | Row-level security of public.authors is on: only rows of "all of it" are in reach. | anon',
      'dangerous | ROW_SECURITY_ON | Row-level security of public.authors is on: none is in reach. | authenticated',
    ])
    await db.query(`${on}; create policy one on authors for select using (id in (select id from posts));
      create policy two on authors as restrictive for insert to authenticated with check (id > 0)`)
    onTestFinished(async () => {
      await db.query(
        'drop policy one on authors; drop policy two on authors; alter table authors disable row level security',
      )
    })
    expect(await told('select 1')).toEqual([])
    expect(await told('alter table authors disable row level security')).toEqual([
      'dangerous | ROW_SECURITY_OFF | Row-level security of public.authors is off: every row is in reach. | anon,authenticated',
    ])
    expect(
      await told(
        'drop policy two on authors; alter policy one on authors using (false); create policy three on authors to anon using (true)',
      ),
    ).toEqual([
      'dangerous | POLICY_CHANGED | Policy one on public.authors is for select using false; it was for select using (id IN ( SELECT posts.id FROM public.posts)) | anon,authenticated',
      'dangerous | POLICY_ADDED | Policy three on public.authors was added: for all using true | anon',
      'dangerous | POLICY_REMOVED | Policy two on public.authors was removed: restrictive, for insert with check (id > 0) | authenticated',
    ])
    // Forward relations say more of a table whose rows are all in reach (spec/graphql.md 8.4), but not where a key may be null.
    const ran = await run(['--against', db.ownerUrl, '--json'])
    expect(compared(ran).changes).toEqual([])
  })

  it('judges a migration that uses a label before it is committed', async () => {
    await db.query(`create type mood as enum ('a')`)
    const ran = await migrate(`alter type mood add value 'b';\nselect 'b'::mood;\nalter table posts drop column body`)
    expect(ran).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('migration.sql:2: not judged: unsafe use of new value "b"'),
    })
    expect(ran.stdout).toContain('Posts.body was removed.')
    await db.query('drop type mood')
  })

  it('names what cannot run in a transaction, and judges the rest', async () => {
    const ran = await migrate(
      'create index concurrently i on posts (title);\nalter table posts drop column body;\nvacuum posts',
    )
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toMatch(/migration\.sql:1: not judged: CREATE INDEX CONCURRENTLY cannot run inside/)
    expect(ran.stderr).toMatch(/migration\.sql:3: not judged: VACUUM cannot run inside/)
    expect(ran.stdout).toContain('Posts.body was removed.')
  })

  it.each([
    ['alter table posts drop column body; rollback; drop table posts', 'ROLLBACK would end', 1],
    ["prepare transaction 'x'", 'PREPARE TRANSACTION would end', 1],
    ['select 1;\nalter table nowhere add a int', 'relation "nowhere" does not exist', 2],
    ['do $$ begin alter table posts drop column body; commit; end $$', 'invalid transaction termination', 1],
    ['select 1;\n\\connect other', '\\connect other would leave the database', 2],
    ['select 1;\ncopy public.posts (id) from stdin;\n1\n\\.', 'FROM STDIN takes rows from psql', 2],
  ])('gives no verdict on %j, and keeps nothing', async (sql, reason, line) => {
    const before = (await db.query(catalogue)).rows
    const ran = await migrate(sql)
    expect(ran).toMatchObject({ exitCode: 3, stdout: '' })
    expect(ran.stderr).toContain(`migration.sql:${line}: `)
    expect(ran.stderr).toContain(reason)
    expect((await db.query(catalogue)).rows).toEqual(before)
  })

  it('reads scripts of psql, several in their order', async () => {
    await file('steps/1.sql', '\\set ON_ERROR_STOP 1\nbegin;\nalter table posts add column two int;\ncommit;')
    await file('steps/2.sql', '\\ir more/column.sql\n')
    await file('steps/more/column.sql', '\\restrict x\nalter table posts rename column two to three;\n\\unrestrict x')
    const ran = await run([
      '--migration',
      `${join(folder, 'steps/*.sql')},${await file('last.sql', 'create table own (id int primary key)')}`,
    ])
    expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Posts.three was added.') })
    expect(ran.stderr).toMatch(/ACCESS EXCLUSIVE on public\.posts\n$/)
    const missing = await run(['--migration', join(folder, 'steps/3*.sql')])
    expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('names no file') })
  })

  it('lists what is newly deprecated, and nothing that stays so', async () => {
    const deprecate = (reason: string): string =>
      `comment on column posts.body is '@graphql({"deprecated": "${reason}"})';`
    const ran = await migrate(deprecate('use title'))
    expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 addition') })
    expect(ran.stdout).toContain('Posts.body is deprecated: use title')
    await db.query(deprecate('use title'))
    onTestFinished(async () => void (await db.query('comment on column posts.body is null')))
    expect((await migrate(deprecate('use the title'))).stdout).toMatch(/^0 breaking, 0 dangerous, 0 additions/)
  })

  it('reports what a role can write and read no longer where comments say so', async () => {
    const ran = await migrate(
      `comment on table posts is '@graphql({"readOnly": {"authenticated": ["body"]}, "writeOnly": {"anon": ["title"]},
         "preset": {"authenticated": {"author_id": "1"}}})'`,
    )
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toContain('PostsInsertInput.body was removed.  (authenticated)')
    expect(ran.stdout).toContain('PostsInsertInput.authorId was removed.  (authenticated)')
    expect(ran.stdout).toContain('Posts.title was removed.  (anon)')
  })

  it('reports a default order that is new or differs', async () => {
    const order = (direction: string): string =>
      `comment on table posts is '@graphql({"defaultOrder": [{"title": "${direction}"}]})';`
    expect((await migrate(order('AscNullsLast'))).stdout).toContain('Collections of Posts have a default order now')
    await db.query(order('AscNullsLast'))
    onTestFinished(async () => void (await db.query('comment on table posts is null')))
    expect((await migrate(order('DescNullsLast'))).stdout).toMatch(/^0 breaking, [1-9]\d* dangerous/)
    expect((await migrate('comment on table posts is null')).stdout).toContain('have no default order now')
  })

  it('reports a default filter that is new or differs', async () => {
    const filter = (title: string): string =>
      `comment on table posts is '@graphql({"defaultFilter": {"title": {"neq": "${title}"}}})';`
    expect((await migrate(filter('a'))).stdout).toContain('Collections of Posts have a default filter now')
    await db.query(filter('a'))
    onTestFinished(async () => void (await db.query('comment on table posts is null')))
    expect((await migrate(filter('b'))).stdout).toMatch(/^0 breaking, [1-9]\d* dangerous/)
    expect((await migrate('comment on table posts is null')).stdout).toContain('have no default filter now')
  })

  it('reports a column that marks rows as deleted', async () => {
    await db.query('alter table posts add column gone boolean')
    const mark = `comment on table posts is '@graphql({"softDelete": "gone"})';`
    expect((await migrate(mark)).stdout).toContain('Rows of Posts count as deleted by "gone" now')
    await db.query(mark)
    onTestFinished(async () => {
      await db.query('comment on table posts is null; alter table posts drop column gone')
    })
    expect((await migrate('comment on table posts is null')).stdout).toContain('No row of Posts counts as deleted now')
  })

  it('reports links that come, lead another way or go', async () => {
    const links = (title: string): string =>
      `comment on table authors is '@graphql({"links": {"titled": [{"postsCollection": {"title": {"neq": "${title}"}}}]}})';`
    expect((await migrate(links('a'))).stdout).toContain('Authors.titled was added.')
    await db.query(links('a'))
    onTestFinished(async () => void (await db.query('comment on table authors is null')))
    expect((await migrate(links('b'))).stdout).toContain('Authors.titled leads another way now: it holds other rows.')
    expect((await migrate('comment on table authors is null')).stdout).toContain('Authors.titled was removed.')
  })

  it('reports unions that come, lead by other relations or go', async () => {
    const unions = (...of: readonly string[]): string =>
      `comment on table posts is '@graphql(${JSON.stringify({ polymorphism: { unions: { origin: of } } })})';`
    expect((await migrate(unions('author'))).stdout).toContain('Posts.origin was added.')
    await db.query(unions('author'))
    onTestFinished(async () => void (await db.query('comment on table posts is null')))
    const checked = 'alter table posts add column checker_id int references authors;'
    expect((await migrate(checked + unions('checker', 'author'))).stdout).toContain(
      'Posts.origin leads by other relations now: it may hold other rows.',
    )
    expect((await migrate('comment on table posts is null')).stdout).toContain('Posts.origin was removed.')
  })

  it('reports collections of interfaces that have rows of other tables', async () => {
    const collected = (table: string): string =>
      `comment on table ${table} is '@graphql({"polymorphism": {"collections": ["Work"]}})';`
    expect((await migrate(collected('posts'))).stdout).toContain('Query.workCollection was added.')
    await db.query(collected('posts'))
    onTestFinished(async () => void (await db.query('comment on table posts is null')))
    expect((await migrate(collected('authors'))).stdout).toContain(
      'The collection of Work has rows of other tables now.',
    )
    expect((await migrate('comment on table posts is null')).stdout).toContain('Query.workCollection was removed.')
  })

  it('reports inputs that take exactly one member, which breaks documents', async () => {
    const on = `comment on table posts is '@graphql({"oneOf": {"enabled": true}})';`
    const report = await migrate(on)
    expect(report.stdout).toMatch(/^[1-9]\d* breaking/)
    expect(report.stdout).toContain('PostsOrderBy takes exactly one member now')
    await db.query(on)
    onTestFinished(async () => void (await db.query('comment on table posts is null')))
    const off = await migrate('comment on table posts is null')
    expect(off.stdout).toMatch(/^0 breaking/)
    expect(off.stdout).toContain('PostsOrderBy takes any members now')
  })

  it('lists what additions bring, and what is lost without them', async () => {
    const settings = Object.fromEntries(['groups', 'updates', 'textFilters'].map((name) => [name, { enabled: true }]))
    const on = `comment on table posts is '@graphql(${JSON.stringify(settings)})';`
    const coming = await migrate(on)
    expect(coming.stdout).toContain('PostsConnection.groups was added.')
    expect(coming.stdout).toContain('Mutation.updatePostsByPk was added.  (authenticated, service_role)')
    expect(coming.stdout).toMatch(/PostsFilter\.title changed type from StringFilter to TextFilter/)
    await db.query(on)
    onTestFinished(async () => void (await db.query('comment on table posts is null')))
    const going = await migrate('comment on table posts is null')
    expect(going.exitCode).toBe(1)
    expect(going.stdout).toContain('PostsConnection.groups was removed.')
    expect(going.stdout).toContain('Mutation.updatePostsByPk was removed.  (authenticated, service_role)')
  })

  it('lets a migration keep savepoints, settings and role of its own', async () => {
    const ran = await migrate(
      `set statement_timeout = 1000; set client_encoding = latin1; set lock_timeout = 0; grant anon to current_user; set role anon; reset role; create schema s; set search_path = s; savepoint a; create table lost (id int primary key);
       rollback to a; create table public.kept (id int primary key); grant select on public.kept to anon; set role anon`,
    )
    expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Kept was added.') })
    expect(ran.stdout).not.toContain('Lost')
  })

  it('waits for no lock longer than three seconds', async () => {
    await db.query('begin; lock table posts in access share mode')
    onTestFinished(async () => void (await db.query('rollback')))
    const ran = await migrate('set lock_timeout = 0; alter table posts drop column body')
    expect(ran).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('Another transaction holds a lock') })
  })

  it('says what it was not given, and keeps secrets to itself', async () => {
    expect(await run([])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--against') })
    expect(await run(['--migration', '/nowhere.sql'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('ENOENT'),
    })
    expect(await run(['--agianst', 'x'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--against') })
    const none = await run(['--against', '.', '--documents', 'no/**/such.graphql'])
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('names no file') })
    expect(await run(['--against', '/nowhere'])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('/nowhere'),
    })
    const away = await run(['--against', 'postgres://someone:hunter2@127.0.0.1:1/none'])
    expect(away.exitCode).toBe(3)
    expect(away.stderr).not.toContain('hunter2')
  })
})
