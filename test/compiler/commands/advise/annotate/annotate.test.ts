import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { annotateDatabase } from '../../../../../compiler/commands/advise/annotate/annotate.ts'
import { annotateCommand } from '../../../../../compiler/commands/annotate.ts'
import { createCompiler } from '../../../../../compiler/compile.ts'
import { withSession } from '../../../../../runtime/db/connect/session.ts'
import { buildView } from '../../../../../compiler/additions/engine.ts'
import { runCommand } from '../../../../support/command.ts'
import { createDatabase, type TestDatabase } from '../../../../support/database.ts'

/** In the style of MusicBrainz: columns are called as the tables that they lead to. */
const music = `
  create type mood as enum ('calm', 'very loud', 'true');
  create table area (id int primary key, name text not null, parent int references area);
  create table artist (
    id int primary key, name text not null, mood mood,
    area int references area, begin_area int references area, end_area int references area, node_id int
  );
  create table artist_alias (id int primary key, artist int not null references artist);
  create table "10 best" (id int primary key, "who?" int references artist);
  create table label (id int primary key, name text);
  create function name_of(label) returns text language sql stable as 'select $1.name';
  create function name(label) returns text language sql stable as 'select $1.name';
  create view artist_names as select id, name from artist;
  create table song (isrc text not null unique, title text unique);
  create table draft (code text unique, note text unique);
  insert into draft values ('a', null), ('b', null);
  create table take (number int);
  create view pairs as select a.id, b.id as other from artist a cross join artist b;
  create schema more;
  create table more.label (id int primary key);
  insert into artist (id, name) values (1, 'one'), (2, 'two');
  grant usage on schema public, more to anon;
  grant select on all tables in schema public, more to anon;`

let db: TestDatabase
const schemas = ['public', 'more']
const annotation = () => withSession({ url: db.ownerUrl }, (query) => annotateDatabase(query, schemas))
const run = (...args: readonly string[]) =>
  runCommand([annotateCommand], ['annotate', ...args], {
    environment: { DATABASE_URL: db.ownerUrl, DB_SCHEMAS: schemas.join(',') },
  })

/** The fields of a type, as anon sees them. */
const fieldsOf = async (type: string): Promise<readonly string[]> => {
  const compiler = createCompiler({ query: (text, values) => db.query(text, values), schemas, version: null })
  const { revision } = await compiler.compile()
  const found = buildView(revision.manifest, 'anon').complete().getType(type)
  return found !== undefined && 'getFields' in found ? Object.keys(found.getFields()) : []
}

describe.each([
  ['inflected', `comment on schema public is '@graphql({"inflect_names": true})'`],
  ['as they are spelt', 'select'],
] as const)('names %s', (style, setting) => {
  beforeAll(async () => {
    db = await createDatabase({ sql: `${music}; ${setting};` })
  })
  afterAll(() => db.drop())

  it('are given to all that lose theirs, once', async () => {
    const { before, after } = await annotation()
    expect(before.length).toBeGreaterThan(8)
    expect(after).toEqual([])
    const { printed, exitCode } = await run()
    expect(exitCode).toBe(0)
    await db.query(printed)
    expect(await run()).toMatchObject({ exitCode: 0, printed: '', noted: 'catalograph: no comment is missing' })
  })

  it('distinguish relations in both directions, and leave fields with what has them', async () => {
    const names =
      style === 'inflected'
        ? ['area', 'areaId', 'areaByArea', 'beginArea', 'areaByBeginArea', 'endArea', 'nodeId', 'node_id']
        : ['area', 'area_id', 'area_by_area', 'begin_area', 'area_by_begin_area', 'end_area', 'nodeId', 'node_id']
    expect(await fieldsOf(style === 'inflected' ? 'Artist' : 'artist')).toEqual(expect.arrayContaining(names))
    const back =
      style === 'inflected'
        ? ['artistCollection', 'artistByAreaCollection', 'artistByBeginAreaCollection', 'parent', 'area']
        : ['artistCollection', 'artist_by_areaCollection', 'artist_by_begin_areaCollection', 'parent', 'area']
    expect(await fieldsOf(style === 'inflected' ? 'Area' : 'area')).toEqual(expect.arrayContaining(back))
  })

  it('are found for views whose rows a key of a table distinguishes, and for tables with a unique index', async () => {
    const { rows } = await db.query(
      `select relname as name, obj_description(oid, 'pg_class') as comment from pg_class
        where relname in ('artist_names', 'draft', 'pairs', 'song', 'take') order by 1`,
    )
    expect(rows).toEqual([
      { name: 'artist_names', comment: '@graphql({"primary_key_columns":["id"]})' },
      { name: 'draft', comment: '@graphql({"primary_key_columns":["code"]})' },
      { name: 'pairs', comment: null },
      { name: 'song', comment: '@graphql({"primary_key_columns":["isrc"]})' },
      { name: 'take', comment: null },
    ])
  })
})

describe('keys that nothing but the rows of today makes', () => {
  beforeAll(async () => {
    db = await createDatabase({
      sql: `create table nonce (k text unique, v text); insert into nonce values ('a', '1'), ('b', '2');
        create table half (a int not null, b int, unique (a, b)); insert into half values (1, 1);
        create table bare (k text unique, v text);
        create table base (id int primary key, v text); insert into base values (1, 'x');
        create view seen as select id, v from base; create schema more;`,
    })
  })
  afterAll(() => db.drop())

  it('come with what they cost and with the constraint that would keep it so', async () => {
    const { printed } = await run()
    expect(printed.split('\n')).toEqual([
      'begin;',
      '-- Today no row of "public"."half" has a null in "b". One that has is in no collection, count, update or delete.',
      '-- So that there is none: alter table "public"."half" alter column "b" set not null;',
      `comment on table "public"."half" is '@graphql({"primary_key_columns":["a","b"]})';`,
      '-- Today no row of "public"."nonce" has a null in "k". One that has is in no collection, count, update or delete.',
      '-- So that there is none: alter table "public"."nonce" alter column "k" set not null;',
      `comment on table "public"."nonce" is '@graphql({"primary_key_columns":["k"]})';`,
      '-- Today the rows of "public"."seen" have no null in "id", and no two have the same; nothing keeps it so.',
      '-- A row with a null there is in no collection, count, update or delete, and rows with the same values have one node id.',
      `comment on view "public"."seen" is '@graphql({"primary_key_columns":["id"]})';`,
      'commit;',
    ])
  })

  it('are not taken from tables without rows', async () => {
    expect((await run()).printed).not.toContain('bare')
  })

  it('are in the file that was asked for, which is there when nothing is missing, too', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'catalograph-annotate-')), 'names.sql')
    expect(await run('--out', file)).toMatchObject({ exitCode: 0, printed: '' })
    await db.query(await readFile(file, 'utf8'))
    expect(await run('--out', file)).toMatchObject({ exitCode: 0, noted: 'catalograph: no comment is missing' })
    const again = await readFile(file, 'utf8')
    expect(again).toBe('-- No comment is missing.\n')
    await db.query(again)
  })
})

describe('columns in the style of their keys', () => {
  beforeAll(async () => {
    db = await createDatabase({
      sql: `create table items (itemid int primary key, master_itemid int references items, templateid int references items);
        create table functions (functionid int primary key, itemid int references items, spare_itemid int references items);
        create table grids (id int primary key, grid int references grids, outer_grid int references grids);
        grant usage on schema public to anon; grant select on all tables in schema public to anon;
        create schema more; comment on schema public is '@graphql({"inflect_names": true})';`,
    })
  })
  afterAll(() => db.drop())

  it('keep their names, and the rows are named without the id', async () => {
    await db.query((await run()).printed)
    expect(await fieldsOf('Functions')).toEqual(expect.arrayContaining(['itemid', 'spareItemid', 'items', 'item']))
    expect(await fieldsOf('Items')).toEqual(
      expect.arrayContaining(['masterItemid', 'templateid', 'items', 'masterItem']),
    )
    expect(await fieldsOf('Grids')).toEqual(expect.arrayContaining(['grid', 'outerGrid', 'grids', 'gridsByGrid']))
  })
})

describe('comments that exist', () => {
  beforeAll(async () => {
    db = await createDatabase({
      sql: `${music}
        comment on schema public is '@graphql({"inflect_names": true})';
        comment on column artist.area is 'Where they live (mostly). @graphql({"description": "Home"})';
        comment on constraint artist_begin_area_fkey on artist is '@graphql({"foreign_name": "origin"})';`,
    })
  })
  afterAll(() => db.drop())

  it('keep their text and their settings', async () => {
    const { printed } = await run()
    expect(printed).toContain(
      `comment on column "public"."artist"."area" is 'Where they live (mostly). @graphql({"description":"Home","name":"areaId"})';`,
    )
    expect(printed).toMatch(
      /"artist_begin_area_fkey" .* is '@graphql\(\{"foreign_name":"origin","local_name":"artistByBeginAreaCollection"\}\)'/,
    )
    await db.query(printed)
    expect(await fieldsOf('Artist')).toEqual(
      expect.arrayContaining(['origin', 'area', 'areaId', 'beginArea', 'endArea']),
    )
  })
})

describe('with --words', () => {
  const blog = `
    create table users (id int primary key, name text not null, pages int);
    create table blog_posts (
      id int primary key, title text not null, user_id int references users, editor_id int references users
    );
    create table "Pages" (id int primary key, owner_id int references users);
    create table nodes (id int primary key, post_id int references blog_posts);
    create table sales_data (id int primary key, seller_id int unique references users, buyer_id int references users);
    create table addresses (id int primary key, street text);
    comment on table addresses is 'Where to send it.';
    create table kept_names (id int primary key, user_id int references users);
    comment on table kept_names is '@graphql({"name": "Kept"})';
    comment on constraint kept_names_user_id_fkey on kept_names is '@graphql({"local_name": "keepers"})';
    create schema more;
    create table more.addresses (id int primary key);
    grant usage on schema public, more to anon;
    grant select on all tables in schema public, more to anon;`

  describe.each([
    ['inflected', `comment on schema public is '@graphql({"inflect_names": true})'`],
    ['as they are spelt', 'select'],
  ] as const)('names %s', (style, setting) => {
    const inflected = style === 'inflected'
    beforeAll(async () => {
      db = await createDatabase({ sql: `${blog}; ${setting};` })
    })
    afterAll(() => db.drop())

    it('are singular for types and plural for what leads to many rows, once', async () => {
      expect((await run()).printed).not.toMatch(/"name":"blog_?post"/i)
      const { printed, exitCode } = await run('--words')
      expect(exitCode).toBe(0)
      expect(printed).toContain(
        inflected
          ? `comment on table "public"."blog_posts" is '@graphql({"name":"BlogPost"})';`
          : `comment on table "public"."blog_posts" is '@graphql({"name":"blog_post"})';`,
      )
      expect(printed).toMatch(/"public"."addresses" is 'Where to send it\.\n@graphql\(\{"name":"[aA]ddress"\}\)'/)
      expect(printed).not.toContain('kept_names')
      await db.query(printed)
      expect(await run('--words')).toMatchObject({ exitCode: 0, printed: '' })
      expect(await run()).toMatchObject({ exitCode: 0, printed: '' })
    })

    it('take no name that something else has', async () => {
      const names = inflected
        ? ['blogPosts', 'blogPostsByEditor', 'pages', 'pagesByOwner', 'salesData', 'salesDataByBuyer', 'keepers']
        : [
            'blog_posts',
            'blog_posts_by_editor',
            'pages',
            'pages_by_owner',
            'sales_data',
            'sales_data_by_buyer',
            'keepers',
          ]
      expect(await fieldsOf(inflected ? 'User' : 'user')).toEqual(expect.arrayContaining(names))
      expect(await fieldsOf(inflected ? 'BlogPost' : 'blog_post')).toEqual(expect.arrayContaining(['nodes']))
      for (const type of inflected ? ['Nodes', 'SalesData', 'Kept', 'Page'] : ['node', 'sales_data', 'Kept', 'Page'])
        expect(await fieldsOf(type)).toContain('nodeId')
      expect(await fieldsOf('more_address')).toContain('nodeId')
    })
  })
})
