import { afterEach, describe, expect, it, test } from 'vitest'
import { messagesOf, dataOf } from '../../support/answers.ts'
import { fieldsOf, introspect, namesOf } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

/** Comments change from test to test; each test is answered by the very next request. */
const sql = `
  comment on schema public is '@graphql({"introspection": true})';
  create schema other;
  create type mood as enum ('sad', 'so-so', 'glad');
  create type other.kind as enum ('a', 'b');
  create table author (id int primary key, name text);
  create table book_item (id int primary key, author_id int constraint written_by references author, mood mood);
  create view book_view as select id, author_id from book_item;
  create materialized view book_copy as select id, author_id from book_item;
  create function total_books() returns int stable language sql as 'select count(*)::int from book_item';
  create function title(book_item) returns text stable language sql as $$ select 'x' $$;
  insert into author select n, 'author ' || n from generate_series(1, 40) n;
  insert into book_item values (1, 1, 'so-so'), (2, 1, 'glad');
  create schema closed; create type closed.kind as enum ('a');
  grant usage on schema public, other to anon, authenticated;
  grant usage on schema closed to authenticated;
  grant all on all tables in schema public to anon;
`
const restore = `
  comment on schema public is '@graphql({"introspection": true})';
  comment on schema other is null;
  comment on type mood is null; comment on type other.kind is null; comment on type closed.kind is null;
  comment on table author is null; comment on table book_item is null;
  comment on view book_view is null; comment on materialized view book_copy is null;
  comment on column book_item.mood is null; comment on column author.name is null;
  comment on constraint written_by on book_item is null;
  comment on function total_books is null; comment on function title is null;
`

const ask = async (query: string) => dataOf(await service.graphql(query))
const refused = async (query: string) => messagesOf(await service.graphql(query))
const comment = (object: string, text: string | null) =>
  service.db.query(`comment on ${object} is ${text === null ? 'null' : `'${text.replaceAll("'", "''")}'`}`)
const set = (object: string, settings: unknown) => comment(object, `@graphql(${JSON.stringify(settings)})`)

const service = forSuite(createTestService, { sql })
afterEach(() => service.db.query(restore))

const objects = [
  'schema public',
  'table book_item',
  'view book_view',
  'materialized view book_copy',
  'column book_item.mood',
  'function total_books()',
  'function title(book_item)',
  'constraint written_by on book_item',
  'type mood',
  'type other.kind',
]

describe('13.1 parsing', () => {
  test.each(objects)('invalid JSON on %s refuses every request until it is corrected', async (object) => {
    await comment(object, '@graphql({"name": })')
    for (const query of [
      '{ __typename }',
      '{ authorCollection { edges { node { id } } } }',
      'mutation { __typename }',
      '{ nothing',
      '',
    ]) {
      const answer = await service.graphql(query)
      expect(answer).toEqual({
        data: null,
        errors: [{ message: 'invalid input syntax for type json', extensions: { code: 'SCHEMA_COMMENT_INVALID' } }],
      })
    }
    expect((await service.graphql('{ __typename }', { role: 'authenticated' })).data).toBeNull()
    await comment(object, null)
    expect(await ask('{ __typename }')).toEqual({ __typename: 'Query' })
  })
  it('is refused only for who may use the schema', async () => {
    const asked = async (role: string) =>
      (await service.graphql('{ __typename }', { role })).errors?.map((error) => error.message) ?? []
    await comment('type closed.kind', '@graphql(x)')
    expect(await asked('anon')).toEqual([])
    expect(await asked('authenticated')).toEqual(['invalid input syntax for type json'])
    await set('type other.kind', { mappings: ['a'] })
    expect(await asked('anon')).toEqual([expect.stringContaining('invalid type: sequence, expected a map')])
    expect(await asked('authenticated')).toEqual(['invalid input syntax for type json'])
    await service.db.query('grant usage on schema closed to anon')
    expect(await asked('anon')).toEqual(['invalid input syntax for type json'])
    await service.db.query('revoke usage on schema closed from anon')
    expect(await asked('anon')).toEqual([expect.stringContaining('expected a map')])
  })
  const readings = [
    ['text before', 'Hello (you). @graphql({"name": "Renamed"})', 'Renamed'],
    ['text after', '@graphql({"name": "Renamed"}) and more', 'Renamed'],
    ['line feeds', '@graphql(\n{\n"name":\n"Renamed"}\n)', 'Renamed'],
    ['parentheses in strings', '@graphql({"name": "Renamed", "description": "a ) b ( c"})', 'Renamed'],
    ['no directive', 'graphql({"name": "Renamed"})', 'author'],
    ['an empty one', '@graphql()', 'author'],
    ['an unclosed one', '@graphql({"name": "Renamed"}', 'author'],
    ['a list', '@graphql(["name"])', 'author'],
    ['a string', '@graphql("name")', 'author'],
    ['null', '@graphql(null)', 'author'],
    ['unknown keys', '@graphql({"name": "Renamed", "nothing": 1})', 'Renamed'],
    ['a name that is a number', '@graphql({"name": 5})', undefined],
    ['a name that is null', '@graphql({"name": null})', 'author'],
    ['the second of two equal keys', '@graphql({"name": "First", "name": "Renamed"})', 'Renamed'],
  ] as const
  test.each(readings)('takes %s as the grammar says', async (_, text, name) => {
    await comment('table author', text)
    const { __schema } = await ask('{ __schema { types { name } } }')
    const names = __schema.types.map((type: { name: string }) => type.name)
    expect(['Renamed', 'author', 'First'].filter((candidate) => names.includes(candidate))).toEqual(
      name === undefined ? [] : [name],
    )
  })
  const broken = [
    ['two directives', '@graphql({"name": "a"}) @graphql({"name": "b"})'],
    ['a parenthesis after it', '@graphql({"name": "a"}) (see above)'],
    ['single quotes', "@graphql({'name': 'a'})"],
    ['a bare word', '@graphql(name)'],
    ['a blank', '@graphql( )'],
  ] as const
  test.each(broken)('takes %s as no JSON', async (_, text) => {
    await comment('table author', text)
    expect(await refused('{ __typename }')).toEqual(['invalid input syntax for type json'])
  })
  const load = 'Error while loading schema, check comment directives. '
  const illTyped: readonly (readonly [string, unknown, string])[] = [
    [
      'view book_view',
      { primary_key_columns: 'account_id' },
      `${load}invalid type: string "account_id", expected a sequence`,
    ],
    ['table author', { description: 5 }, `${load}invalid type: integer \`5\`, expected a string`],
    ['column author.name', { description: true }, `${load}invalid type: boolean \`true\`, expected a string`],
    ['table author', { max_rows: -1 }, `${load}invalid value: integer \`-1\`, expected u64`],
    ['table author', { max_rows: 2.5 }, 'invalid input syntax for type integer: "2.5"'],
    ['schema public', { max_rows: 'many' }, 'invalid input syntax for type integer: "many"'],
    [
      'table author',
      { foreign_keys: [{ local_columns: ['id'], foreign_table: 'a', foreign_columns: ['id'] }] },
      `${load}missing field \`foreign_schema\``,
    ],
    ['type mood', { mappings: ['sad'] }, `${load}invalid type: sequence, expected a map`],
  ]
  test.each(illTyped)('refuses an ill-typed value on %s: %o', async (object, settings, message) => {
    await set(object, settings)
    expect(await service.graphql('{ __typename }')).toEqual({
      data: null,
      errors: [{ message, extensions: { code: 'SCHEMA_COMMENT_INVALID' } }],
    })
    await comment(object, null)
    expect(await ask('{ __typename }')).toEqual({ __typename: 'Query' })
  })
  it('is refused only while the object is there', async () => {
    await service.db.query('create table short_lived (id int)')
    await comment('table short_lived', '@graphql(x)')
    expect(await refused('{ __typename }')).toEqual(['invalid input syntax for type json'])
    await service.db.query('drop table short_lived')
    expect(await ask('{ __typename }')).toEqual({ __typename: 'Query' })
  })
})

describe('13.2 schema keys', () => {
  it('inflect_names changes the names of types and fields', async () => {
    await set('schema public', { inflect_names: true })
    expect(await ask('{ bookItemCollection { edges { node { __typename authorId author { name } } } } }')).toEqual({
      bookItemCollection: {
        edges: Array(2).fill({ node: { __typename: 'BookItem', authorId: 1, author: { name: 'author 1' } } }),
      },
    })
    for (const value of ['true', 1, false]) {
      await set('schema public', { inflect_names: value })
      expect(await ask('{ book_itemByPk(id: 1) { __typename } }')).toEqual({
        book_itemByPk: { __typename: 'book_item' },
      })
    }
  })
  const count = async (args = ''): Promise<number> =>
    (await ask(`{ authorCollection${args} { edges { cursor } } }`)).authorCollection.edges.length
  it('max_rows is an integer or its text, 30 by default, the table before the schema', async () => {
    expect([await count(), await count('(first: 35)')]).toEqual([30, 30])
    await set('schema public', { max_rows: 20 })
    expect([await count(), await count('(first: 25)'), await count('(first: 7)'), await count('(last: 25)')]).toEqual([
      20, 20, 7, 20,
    ])
    await set('schema public', { max_rows: '6' })
    expect(await count()).toBe(6)
    await set('table author', { max_rows: 35 })
    expect(await count('(first: 100)')).toBe(35)
    await set('table author', { max_rows: 0 })
    expect(await count('(first: 100)')).toBe(0)
  })
  it('validation is read from the comment', async () => {
    const unused = 'fragment F on author { id } { __typename }'
    expect(await refused(unused)).toEqual(['Fragment "F" is never used.'])
    await set('schema public', { validation: { enabled: false } })
    expect(await ask(unused)).toEqual({ __typename: 'Query' })
    await set('schema public', { validation: { enabled: true } })
    expect(await refused(unused)).toEqual(['Fragment "F" is never used.'])
  })
})

describe('13.2 keys of relations', () => {
  it('name counts as it stands, before inflection', async () => {
    await service.db.query(`comment on schema public is '@graphql({"introspection": true, "inflect_names": true})'`)
    await set('table book_item', { name: 'the_Book' })
    expect(await ask('{ the_BookCollection { __typename edges { node { __typename } } } }')).toEqual({
      the_BookCollection: {
        __typename: 'the_BookConnection',
        edges: Array(2).fill({ node: { __typename: 'the_Book' } }),
      },
    })
    expect(namesOf(await introspect(service), 'Mutation')).toContain('insertIntothe_BookCollection')
    expect(namesOf(await introspect(service), 'Author')).toContain('the_BookCollection')
  })
  it('description goes first, then the text around the directive, then our own', async () => {
    const described = async () => (await introspect(service)).getType('author')?.description
    const ours = await described()
    expect(ours).toMatch(/./)
    await comment('table author', 'Writes books.')
    expect(await described()).toBe('Writes books.')
    await comment('table author', 'Writes books. @graphql({"description": "Chosen."})')
    expect(await described()).toBe('Chosen.')
    await comment('table author', 'Writes books. @graphql({"totalCount": {"enabled": true}})')
    expect(await described()).toBe('Writes books.')
  })
  const switches: readonly (readonly [unknown, boolean])[] = [
    [{ enabled: true }, true],
    [{ enabled: 'true' }, true],
    [{ enabled: false }, false],
    [{ enabled: 'yes' }, false],
    [true, false],
    [null, false],
    [[], false],
  ]
  test.each(switches)('totalCount and aggregate are read: %o', async (value, on) => {
    await set('table author', { totalCount: value, aggregate: value })
    expect(namesOf(await introspect(service), 'authorConnection')).toEqual([
      'edges',
      'pageInfo',
      ...(on ? ['totalCount', 'aggregate'] : []),
    ])
    const text = '{ authorCollection { totalCount aggregate { count } } }'
    if (on) expect(await ask(text)).toEqual({ authorCollection: { totalCount: 40, aggregate: { count: 40 } } })
    else
      expect(await refused(text)).toEqual([
        'Cannot query field "totalCount" on type "authorConnection".',
        'Cannot query field "aggregate" on type "authorConnection".',
      ])
  })
  it.each(['view book_view', 'materialized view book_copy'])(
    'primary_key_columns, totalCount and foreign_keys work on a %s',
    async (object) => {
      const name = object.split(' ').at(-1) ?? ''
      const foreignKey = {
        local_columns: ['author_id'],
        foreign_schema: 'public',
        foreign_table: 'author',
        foreign_columns: ['id'],
        local_name: 'copies',
        foreign_name: 'writer',
      }
      await service.db.query('refresh materialized view book_copy')
      await set(object, { primary_key_columns: ['id'], totalCount: { enabled: true }, foreign_keys: [foreignKey] })
      expect(
        await ask(
          `{ ${name}Collection { totalCount edges { node { writer { name copies(first: 1) { edges { node { id } } } } } } } }`,
        ),
      ).toEqual({
        [`${name}Collection`]: {
          totalCount: 2,
          edges: Array(2).fill({ node: { writer: { name: 'author 1', copies: { edges: [{ node: { id: 1 } }] } } } }),
        },
      })
      await set(object, { primary_key_columns: ['id', 'nothing'] })
      expect(namesOf(await introspect(service), 'Query')).not.toContain(`${name}Collection`)
    },
  )
  it('root takes the table from Query', async () => {
    await set('table author', { root: { enabled: false } })
    const names = namesOf(await introspect(service), 'Query')
    expect(names.filter((name) => name.startsWith('author'))).toEqual([])
    expect(await ask('{ book_itemByPk(id: 1) { author: author_id } }')).toEqual({ book_itemByPk: { author: 1 } })
  })
})

describe('13.2 keys of columns, functions, enums and foreign keys', () => {
  it('name and description of a column are read', async () => {
    await set('column author.name', { name: 'Pen_Name', description: 'As printed.' })
    const schema = await introspect(service)
    expect(namesOf(schema, 'author')).toContain('Pen_Name')
    expect(namesOf(schema, 'authorFilter')).toContain('Pen_Name')
    const type = schema.getType('author')
    expect(type && 'getFields' in type ? type.getFields()['Pen_Name']?.description : null).toBe('As printed.')
    expect(
      await ask(
        '{ authorCollection(filter: {Pen_Name: {eq: "author 2"}}, orderBy: [{Pen_Name: AscNullsLast}]) { edges { node { Pen_Name } } } }',
      ),
    ).toEqual({
      authorCollection: { edges: [{ node: { Pen_Name: 'author 2' } }] },
    })
    expect(
      await ask(
        'mutation { insertIntoauthorCollection(objects: [{id: 100, Pen_Name: "new"}]) { records { Pen_Name } } }',
      ),
    ).toEqual({
      insertIntoauthorCollection: { records: [{ Pen_Name: 'new' }] },
    })
    await service.db.query('delete from author where id = 100')
  })
  it('name and description of functions are read', async () => {
    await set('function total_books()', { name: 'How_Many', description: 5 })
    await set('function title(book_item)', { name: 'Heading' })
    expect(await ask('{ How_Many book_itemByPk(id: 1) { Heading } }')).toEqual({
      How_Many: 2,
      book_itemByPk: { Heading: 'x' },
    })
    expect((await introspect(service)).getQueryType()?.getFields()['How_Many']?.description).toBe('5')
  })
  it('name and mappings of an enum are read', async () => {
    await set('type mood', { name: 'Feeling', mappings: { 'so-so': 'SO_SO', nothing: 'X' } })
    const { __type } = await ask('{ __type(name: "Feeling") { enumValues { name } } }')
    expect(__type.enumValues).toEqual([{ name: 'sad' }, { name: 'SO_SO' }, { name: 'glad' }])
    expect(await ask('{ book_itemCollection(filter: {mood: {eq: SO_SO}}) { edges { node { mood } } } }')).toEqual({
      book_itemCollection: { edges: [{ node: { mood: 'SO_SO' } }] },
    })
    await comment('type mood', null)
    expect(await ask('{ book_itemCollection { edges { node { mood } } } }')).toEqual({
      book_itemCollection: { edges: [{ node: { mood: 'so-so' } }, { node: { mood: 'glad' } }] },
    })
  })
  const names: readonly (readonly [unknown, string, string])[] = [
    [{ foreign_name: 'writer', local_name: 'works' }, 'writer', 'works'],
    [{ name: 'writer' }, 'writer', 'book_itemCollection'],
    [{ name: 'lost', foreign_name: 'writer' }, 'writer', 'book_itemCollection'],
    [{ local_name: 'works' }, 'author', 'works'],
    [null, 'author', 'book_itemCollection'],
  ]
  test.each(names)('the names of a foreign key are read: %o', async (settings, forward, reverse) => {
    await set('constraint written_by on book_item', settings)
    const schema = await introspect(service)
    expect(fieldsOf(schema, 'book_item')).toContain(`${forward}: author`)
    expect(fieldsOf(schema, 'author')).toContain(`${reverse}: book_itemConnection`)
  })
})
