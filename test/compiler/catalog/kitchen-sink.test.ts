import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readCatalog } from '../../../compiler/catalog/read.ts'
import type { Catalog, CatalogColumn, CatalogType } from '../../../compiler/catalog/catalog.ts'
import { catalogOf, relationNamed, typeName } from '../../support/catalog.ts'
import { createDatabase, majors } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'

const sql = `
  create schema api;
  create schema hidden;
  comment on schema api is '@graphql({"inflect_names": true})';
  create type hidden.mood as enum ('sad', 'ok', 'happy');
  alter type hidden.mood add value 'meh' before 'ok';
  comment on type hidden.mood is 'how it feels';
  create type api.unused as enum ();
  create type api.pair as (a int, b text);
  create domain api.small as int check (value < 10);
  create domain api.smalls as api.small[];
  create table hidden.country (code char(2) primary key);
  create table api.author (
    id int generated always as identity,
    tenant bigserial,
    name varchar(20) not null default 'x',
    gone text,
    email text unique,
    mood hidden.mood,
    tags text[],
    smalls api.smalls,
    pair api.pair,
    price numeric(10, 2),
    country char(2) references hidden.country,
    upper_name text generated always as (upper(name)) stored,
    box box,
    primary key (tenant, id) include (name)
  );
  alter table api.author drop column gone;
  alter table api.author enable row level security;
  comment on table api.author is 'writes';
  comment on column api.author.email is 'address';
  create unique index on api.author (lower(name));
  create unique index on api.author (name) where id > 3;
  create unique index on api.author (name, id) include (email);
  create index on api.author (price);
  create table api.post (
    id int primary key,
    author_id int,
    tenant bigint,
    constraint written_by foreign key (author_id, tenant) references api.author (id, tenant)
  );
  comment on constraint written_by on api.post is '@graphql({"foreign_name": "writer"})';
  create view api.names as select name from api.author;
  create materialized view api.totals as select count(*) as n from api.author;
  create sequence api.loose;
  create temp table hot (id int);
`

const functionsSql = `
  create function api.add(a int, b int default 2, text default 'x,y') returns int language sql stable as 'select 1';
  create function api.add(text) returns text language sql immutable as 'select $1';
  create function api.full_name(api.author) returns setof api.author language sql stable rows 7 as 'select $1.*';
  create function api.outs(out x int, inout y api.small, variadic z text[]) language sql as 'select 1, $1';
  create function api.listed() returns table (n int) language sql as 'select 1';
  create procedure api.run(a hidden.mood default 'sad') language sql as 'select 1';
  create aggregate api.total(int) (sfunc = int4pl, stype = int);
  create function api.nth() returns bigint language internal window as 'window_row_number';
  comment on function api.add(text) is 'echo';
  revoke execute on function api.add(text) from public;
`

describe.each(majors().map((major) => [major] as const))('catalogue of PostgreSQL %i', (major) => {
  let catalog: Catalog

  const database = forSuite(createDatabase, {
    major,
    sql: sql + functionsSql,
    superuser: 'has a function in language internal',
  })
  beforeAll(async () => {
    catalog = await catalogOf(database, ['missing', 'api', 'public', 'api'], `select 40 + 2`)
  })

  const column = (name: string): Partial<CatalogColumn> => {
    const found = relationNamed(catalog, 'author').columns.find((item) => item.name === name)
    const { type: _type, ...rest } = found ?? { type: '' }
    return rest
  }
  const plain = {
    modifier: -1,
    notNull: false,
    generated: false,
    identity: false,
    serial: false,
    hasDefault: false,
    comment: null,
    grants: [],
  }

  test('has version, server, owner and served schemas in the order asked for, each once', () => {
    expect(catalog.version).toBe('42')
    expect(Math.floor(catalog.serverVersion / 10_000)).toBe(major)
    expect(catalog.databaseOwner).toBe('owner')
    expect(catalog.schemas.map(({ name, comment }) => [name, comment])).toEqual([
      ['api', '@graphql({"inflect_names": true})'],
      ['public', 'standard public schema'],
    ])
  })

  test('has relations of every kind, without sequences, indexes, composites and temporary ones', () => {
    expect(catalog.relations.map(({ name, kind, owner, comment }) => [name, kind, owner, comment])).toEqual([
      ['author', 'r', 'postgres', 'writes'],
      ['names', 'v', 'postgres', null],
      ['post', 'r', 'postgres', null],
      ['totals', 'm', 'postgres', null],
    ])
    expect(catalog.relations.map((relation) => relation.rowSecurity)).toEqual([true, false, false, false])
  })

  test('lists columns by attribute number, without dropped ones', () => {
    const author = relationNamed(catalog, 'author')
    expect(author.columns.map(({ name, number, typeText }) => [number, name, typeText])).toEqual([
      [1, 'id', 'integer'],
      [2, 'tenant', 'bigint'],
      [3, 'name', 'character varying(20)'],
      [5, 'email', 'text'],
      [6, 'mood', 'hidden.mood'],
      [7, 'tags', 'text[]'],
      [8, 'smalls', 'api.smalls'],
      [9, 'pair', 'api.pair'],
      [10, 'price', 'numeric(10,2)'],
      [11, 'country', 'character(2)'],
      [12, 'upper_name', 'text'],
      [13, 'box', 'box'],
    ])
    expect(author.columns.map((item) => typeName(catalog, item.type))).toEqual([
      'integer',
      'bigint',
      'character varying',
      'text',
      'hidden.mood',
      'text[]',
      'api.smalls',
      'api.pair',
      'numeric',
      'bpchar',
      'text',
      'box',
    ])
  })

  test('identity, serial, generated, default, not null, modifier and comment of a column', () => {
    expect(column('id')).toEqual({
      ...plain,
      name: 'id',
      number: 1,
      typeText: 'integer',
      notNull: true,
      identity: true,
    })
    expect(column('tenant')).toEqual({
      ...plain,
      name: 'tenant',
      number: 2,
      typeText: 'bigint',
      notNull: true,
      serial: true,
      hasDefault: true,
    })
    expect(column('name')).toEqual({
      ...plain,
      name: 'name',
      number: 3,
      typeText: 'character varying(20)',
      modifier: 24,
      notNull: true,
      hasDefault: true,
    })
    expect(column('email')).toEqual({ ...plain, name: 'email', number: 5, typeText: 'text', comment: 'address' })
    expect(column('upper_name')).toEqual({
      ...plain,
      name: 'upper_name',
      number: 12,
      typeText: 'text',
      generated: true,
      hasDefault: true,
    })
  })

  test('keys: ascending attribute number, no INCLUDE columns, no partial or expression index', () => {
    const author = relationNamed(catalog, 'author')
    expect(author.primaryKey).toEqual(['id', 'tenant'])
    expect(author.uniques).toEqual([['email'], ['name', 'id'], ['tenant', 'id']])
    expect(relationNamed(catalog, 'names').primaryKey).toBeNull()
  })

  test('foreign keys with their columns pairwise, also to relations that are not served', () => {
    const strip = (name: string): unknown[] =>
      relationNamed(catalog, name).foreignKeys.map(({ oid: _oid, ...rest }) => rest)
    expect(strip('post')).toEqual([
      {
        name: 'written_by',
        columns: ['author_id', 'tenant'],
        foreignSchema: 'api',
        foreignRelation: 'author',
        foreignColumns: ['id', 'tenant'],
        guaranteed: true,
        comment: '@graphql({"foreign_name": "writer"})',
      },
    ])
    expect(strip('author')).toEqual([
      {
        name: 'author_country_fkey',
        columns: ['country'],
        foreignSchema: 'hidden',
        foreignRelation: 'country',
        foreignColumns: ['code'],
        guaranteed: true,
        comment: null,
      },
    ])
  })

  test('types: what is mentioned, what that mentions, and every enum of the owner', () => {
    const shown = catalog.types
      .filter((type) => type.schema !== 'pg_catalog')
      .map((type) => [type.text, type.kind, typeName(catalog, type.element), typeName(catalog, type.base), type.labels])
    expect(shown).toEqual([
      ['api.small[]', 'b', 'api.small', null, []],
      ['api.author', 'c', null, null, []],
      ['api.pair', 'c', null, null, []],
      ['api.small', 'd', null, 'integer', []],
      ['api.smalls', 'd', null, 'api.small[]', []],
      ['api.unused', 'e', null, null, []],
      ['hidden.mood', 'e', null, null, ['sad', 'meh', 'ok', 'happy']],
    ])
    const named = (text: string): CatalogType | undefined => catalog.types.find((type) => type.text === text)
    expect(named('hidden.mood')?.comment).toBe('how it feels')
    expect(named('box')?.delimiter).toBe(';')
    expect(named('text[]')?.delimiter).toBe(',')
    expect(named('api.pair')?.relation).toMatchObject({ schema: 'api', name: 'pair', standAlone: true })
    const author = relationNamed(catalog, 'author')
    expect(named('api.author')).toMatchObject({
      oid: author.rowType,
      relation: { oid: author.oid, schema: 'api', name: 'author', standAlone: false },
    })
  })

  test('has functions of every kind with their input arguments', () => {
    const shown = catalog.functions.map((item) => [
      item.name,
      item.kind + item.volatility,
      item.args.map((arg) => `${arg.name} ${arg.typeText}`.trim()).join(', '),
      `${item.returnsSet ? 'setof ' : ''}${typeName(catalog, item.result)}`,
      item.hasOutColumns,
    ])
    expect(shown).toEqual([
      ['add', 'fs', 'a integer, b integer, text', 'integer', false],
      ['add', 'fi', 'text', 'text', false],
      ['full_name', 'fs', 'api.author', 'setof api.author', false],
      ['listed', 'fv', '', 'setof integer', true],
      ['nth', 'wv', '', 'bigint', false],
      ['outs', 'fv', 'y api.small, z text[]', 'record', true],
      ['run', 'pv', 'a hidden.mood', 'void', false],
      ['total', 'ai', 'integer', 'integer', false],
    ])
    expect(catalog.functions.filter((item) => item.variadic).map((item) => item.name)).toEqual(['outs'])
    expect(catalog.functions.find((item) => item.name === 'full_name')?.rows).toBe(7)
  })

  test('printed defaults, qualified, and comments of functions', () => {
    expect(catalog.functions.map(({ defaultCount, defaults, comment }) => [defaultCount, defaults, comment])).toEqual([
      [2, "2, 'x,y'::text", null],
      [0, null, 'echo'],
      [0, null, null],
      [0, null, null],
      [0, null, null],
      [0, null, null],
      [1, "'sad'::hidden.mood", null],
      [0, null, null],
    ])
  })

  test('grants: defaults filled in, PUBLIC by name', () => {
    const owner = { grantee: 'postgres', privileges: ['EXECUTE'] }
    expect(catalog.functions.slice(0, 2).map((item) => item.grants)).toEqual([
      [owner, { grantee: 'public', privileges: ['EXECUTE'] }],
      [owner],
    ])
    expect(catalog.schemas[0]?.grants).toEqual([{ grantee: 'postgres', privileges: ['CREATE', 'USAGE'] }])
    expect(relationNamed(catalog, 'post').grants.map((grant) => grant.grantee)).toEqual(['postgres'])
  })

  test('a role without any privilege reads the same', async () => {
    const client = new pg.Client(database.url)
    await client.connect()
    onTestFinished(() => client.end())
    const theirs = await readCatalog((text, values) => client.query(text, values), {
      schemas: ['api', 'public'],
      version: null,
    })
    const { relations, types, functions } = catalog
    expect(theirs).toMatchObject({ relations, types, functions })
  })

  test('reading leaves the session as it was', async () => {
    const before = (await database.query('show search_path')).rows
    await catalogOf(database)
    expect((await database.query('show search_path')).rows).toEqual(before)
  })
})
