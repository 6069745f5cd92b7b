import { isObjectType, type GraphQLSchema } from 'graphql'
import { beforeAll, describe, expect, it, onTestFinished, test } from 'vitest'
import { dataOf, messagesOf } from '../../support/answers.ts'
import { fieldsOf, introspect, namesOf, signatureOf } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService, type AskOptions } from '../../support/service.ts'

/** anon may do everything that a grant can give; authenticated lacks one thing per object, service_role has nothing in `closed`. */
const sql = `
  comment on schema public is '@graphql({"introspection": true})';
  create schema closed;
  comment on schema closed is '@graphql({"introspection": true})';
  create schema empty;
  create extension if not exists file_fdw;
  create server files foreign data wrapper file_fdw;
  create type closed.size as enum ('s', 'm');
  create type mood as enum ('sad', 'glad');
  revoke usage on type mood from public;
  create type free as enum ('x');

  create table plain (id int primary key, a text, b int);
  comment on table plain is '@graphql({"aggregate": {"enabled": true}})';
  create table closed.inside (id int primary key);
  create function closed.inner_call() returns int stable language sql as 'select 1';
  create table sized (id int primary key, size closed.size, sizes closed.size[], inside_id int references closed.inside);
  create table no_select (id int primary key, plain_id int references plain);
  create function rows_of_no_select() returns setof no_select stable language sql as 'select * from no_select';
  create table one_hidden (id int primary key, secret int, open text, plain_id int unique references plain, hidden_plain_id int constraint hidden_link references plain);
  comment on constraint hidden_link on one_hidden is '@graphql({"local_name": "hiddenOnes", "foreign_name": "hiddenPlain"})';
  comment on table one_hidden is '@graphql({"aggregate": {"enabled": true}})';
  create table points_at_hidden (id int primary key, secret int references plain, code int);
  create unique index on one_hidden (secret);
  alter table points_at_hidden add constraint to_secret foreign key (code) references one_hidden (secret);
  create table hidden_key (id int primary key, body text);
  create function shout(one_hidden) returns text stable language sql as $$ select 'x' $$;
  create table no_insert (id int primary key, body text);
  create table some_insert (id int primary key, body text, other text);
  create table no_update (id int primary key, body text);
  create table some_update (id int primary key, body text, other text);
  create table no_delete (id int primary key, body text);
  create function hidden_call() returns int stable language sql as 'select 1';
  create function hidden_computed(plain) returns int stable language sql as 'select 1';
  create table moody (id int primary key, mood mood, moods mood[], free free, frees free[]);
  create table no_key (id int);
  create table no_key_child (id int primary key, a text);
  create table bad_comment_key (id int, a text);
  comment on table bad_comment_key is '@graphql({"primary_key_columns": ["id", "nothing"]})';
  create table two_keys (id int primary key, a int);
  comment on table two_keys is '@graphql({"primary_key_columns": ["a"]})';
  create view keyless_view as select id, a from plain;
  create view keyed_view as select id, a from plain where id > 0;
  comment on view keyed_view is '@graphql({"primary_key_columns": ["id"]})';
  create materialized view keyed_materialized as select id, a from plain;
  comment on materialized view keyed_materialized is '@graphql({"primary_key_columns": ["id"]})';
  create foreign table keyed_foreign (id int, a text) server files options (program 'echo 1,one', format 'csv');
  comment on foreign table keyed_foreign is '@graphql({"primary_key_columns": ["id"]})';
  create table parted (id int, place int, primary key (id, place)) partition by list (place);
  create table parted_one partition of parted for values in (1);
  create type stand_alone as (a int);
  create table unmapped (id int primary key, pair stand_alone, pairs stand_alone[], row plain, generated int generated always as (id * 2) stored, dropped int);
  alter table unmapped drop column dropped;
  create table unrooted (id int primary key, plain_id int references plain);
  comment on table unrooted is '@graphql({"root": {"enabled": false}})';
  create sequence a_sequence;

  insert into plain values (1, 'x', 2);
  insert into one_hidden values (1, 7, 'seen', 1, 1);
  insert into hidden_key values (1, 'x');
  insert into moody values (1, 'sad', '{glad}', 'x', '{x}');
  insert into unmapped values (1, row(1), null, null);
  insert into unrooted values (1, 1);
  insert into sized values (1, 's', '{m}', null);

  grant usage on schema public, closed to anon;
  grant all on all tables in schema public, closed to anon;
  grant usage on type mood to anon;
  grant usage on schema public to authenticated, service_role;
  grant all on all tables in schema public, closed to authenticated, service_role;
  revoke all on no_select from authenticated;
  revoke all on one_hidden, hidden_key from authenticated;
  grant select (id, open, plain_id), insert, update on one_hidden to authenticated;
  grant select (body), insert, update, delete on hidden_key to authenticated;
  revoke insert on no_insert from authenticated;
  revoke insert on some_insert from authenticated;
  grant insert (id, body) on some_insert to authenticated;
  revoke update on no_update from authenticated;
  revoke update on some_update from authenticated;
  grant update (body) on some_update to authenticated;
  revoke delete on no_delete from authenticated;
  revoke execute on function hidden_call, hidden_computed(plain) from public;
  grant execute on function hidden_call, hidden_computed(plain) to anon;
`

let full: GraphQLSchema
let less: GraphQLSchema
const ask = async (query: string, options?: AskOptions) => dataOf(await service.graphql(query, options))
const refused = async (query: string, options?: AskOptions) => messagesOf(await service.graphql(query, options))
const asLess = { role: 'authenticated' }

const service = forSuite(createTestService, {
  sql,
  schemas: ['public', 'closed', 'empty', 'does_not_exist'],
  superuser: 'file_fdw is no trusted extension',
})
beforeAll(async () => {
  full = await introspect(service)
  less = await introspect(service, asLess)
})

const typesOf = (schema: GraphQLSchema, base: string): readonly string[] =>
  Object.keys(schema.getTypeMap()).filter(
    (name) => name === base || (name.startsWith(base) && /^[A-Z]/.test(name.slice(base.length))),
  )
const rootFields = (schema: GraphQLSchema, base: string): readonly string[] =>
  [...namesOf(schema, 'Query'), ...namesOf(schema, 'Mutation')].filter((name) =>
    [
      `${base}Collection`,
      `${base}ByPk`,
      `insertInto${base}Collection`,
      `update${base}Collection`,
      `deleteFrom${base}Collection`,
    ].includes(name),
  )

describe('1.1 served schemas', () => {
  it('need USAGE', async () => {
    expect(rootFields(full, 'inside')).toHaveLength(5)
    expect(rootFields(less, 'inside')).toEqual([])
    expect(await refused('{ insideCollection { edges { node { id } } } }', asLess)).toEqual([
      expect.stringContaining('Cannot query field "insideCollection" on type "Query".'),
    ])
  })
  it('two roles see two schemas in turn', async () => {
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await ask('{ insideCollection { edges { node { id } } } }')).toEqual({ insideCollection: { edges: [] } })
      expect(await refused('{ insideCollection { edges { node { id } } } }', asLess)).toHaveLength(1)
    }
  })
})

describe('1.2 the types of relations', () => {
  const shown = 'plain parted parted_one keyed_view keyed_materialized keyed_foreign two_keys hidden_key'.split(' ')
  test.each(shown)('include %s', (name) => {
    expect(isObjectType(full.getType(name))).toBe(true)
    expect(namesOf(full, 'Query')).toEqual(expect.arrayContaining([`${name}Collection`, `${name}ByPk`]))
  })
  const hidden = ['no_key', 'bad_comment_key', 'keyless_view', 'stand_alone', 'a_sequence', 'plain_pkey']
  test.each(hidden)('do not include %s', (name) => {
    expect(typesOf(full, name)).toEqual([])
    expect(rootFields(full, name)).toEqual([])
  })
  it('have the real key before that of a comment', () => {
    expect(signatureOf(full, 'Query', 'two_keysByPk')).toBe('two_keysByPk(id: Int!): two_keys')
  })
  it('include foreign tables and materialized views', async () => {
    await service.db.query('refresh materialized view keyed_materialized')
    await service.db.query('grant pg_execute_server_program to postgres')
    const data = await ask('{ keyed_materializedCollection { edges { node { id a } } } keyed_viewByPk(id: 1) { a } }')
    expect(data).toEqual({
      keyed_materializedCollection: { edges: [{ node: { id: 1, a: 'x' } }] },
      keyed_viewByPk: { a: 'x' },
    })
    expect(await ask('{ keyed_foreignCollection { edges { node { id a } } } }')).toEqual({
      keyed_foreignCollection: { edges: [{ node: { id: 1, a: 'one' } }] },
    })
  })
  it('a table whose key is not readable is exposed, and its reads fail as Postgres says', async () => {
    expect(fieldsOf(less, 'hidden_key')).toEqual(['nodeId: ID!', 'body: String'])
    const denied = ['permission denied for table hidden_key']
    expect(await refused('{ hidden_keyCollection { edges { node { body } } } }', asLess)).toEqual(denied)
    expect(await refused('{ hidden_keyByPk(id: 1) { body } }', asLess)).toEqual(denied)
    const id = Buffer.from('["public", "hidden_key", 1]').toString('base64')
    expect(await refused(`{ node(nodeId: "${id}") { ... on hidden_key { body } } }`, asLess)).toEqual(denied)
  })
})

describe('1.3 columns', () => {
  it('are NonNull by NOT NULL, never for views, in attribute order, with relations and computed fields behind', () => {
    expect(fieldsOf(full, 'one_hidden')).toEqual([
      'nodeId: ID!',
      'id: Int!',
      'secret: Int',
      'open: String',
      'plain_id: Int',
      'hidden_plain_id: Int',
      'plain: plain',
      'hiddenPlain: plain',
      'points_at_hiddenCollection: points_at_hiddenConnection',
      'shout: String',
    ])
    expect(fieldsOf(full, 'keyed_view')).toEqual(['nodeId: ID!', 'id: Int', 'a: String'])
    expect(fieldsOf(full, 'keyed_materialized')).toEqual(['nodeId: ID!', 'id: Int', 'a: String'])
  })
  it('leave out composites, rows and what was dropped', () => {
    expect(fieldsOf(full, 'unmapped')).toEqual(['nodeId: ID!', 'id: Int!', 'generated: Int'])
  })
})

describe('1.4 a missing privilege', () => {
  it('USAGE on a schema takes away columns of its types elsewhere, and relations to its tables', () => {
    expect(fieldsOf(full, 'sized')).toEqual([
      'nodeId: ID!',
      'id: Int!',
      'size: size',
      'sizes: [size]',
      'inside_id: Int',
      'inside: inside',
    ])
    expect(fieldsOf(less, 'sized')).toEqual(['nodeId: ID!', 'id: Int!', 'inside_id: Int'])
    expect(namesOf(less, 'sizedInsertInput')).toEqual(['id', 'inside_id'])
    expect(less.getType('size')).toBeUndefined()
    expect([namesOf(full, 'Query').includes('inner_call'), namesOf(less, 'Query').includes('inner_call')]).toEqual([
      true,
      false,
    ])
  })
  it('SELECT on every column takes away types, reads, writes, relations and functions', () => {
    expect(typesOf(less, 'no_select')).toEqual([])
    expect(rootFields(less, 'no_select')).toEqual([])
    expect(fieldsOf(full, 'plain')).toContain('no_selectCollection: no_selectConnection')
    expect(namesOf(less, 'plain')).not.toContain('no_selectCollection')
    expect([
      namesOf(full, 'Query').includes('rows_of_no_select'),
      namesOf(less, 'Query').includes('rows_of_no_select'),
    ]).toEqual([true, false])
  })
  it('SELECT on one column takes away field, filter, order and relations, not inputs', () => {
    expect(fieldsOf(less, 'one_hidden')).toEqual([
      'nodeId: ID!',
      'id: Int!',
      'open: String',
      'plain_id: Int',
      'plain: plain',
    ])
    expect(namesOf(less, 'one_hiddenFilter')).toEqual(['id', 'open', 'plain_id', 'nodeId', 'and', 'or', 'not'])
    expect(namesOf(less, 'one_hiddenOrderBy')).toEqual(['id', 'open', 'plain_id'])
    expect(namesOf(less, 'one_hiddenInsertInput')).toEqual(['id', 'secret', 'open', 'plain_id', 'hidden_plain_id'])
    expect(namesOf(less, 'one_hiddenUpdateInput')).toEqual(['id', 'secret', 'open', 'plain_id', 'hidden_plain_id'])
    expect(namesOf(less, 'plain')).not.toContain('hiddenOnes')
    expect(namesOf(full, 'plain')).toContain('hiddenOnes')
    expect(namesOf(less, 'points_at_hidden')).toEqual(['nodeId', 'id', 'secret', 'code', 'plain'])
    expect(namesOf(less, 'one_hiddenSumAggregateResult')).toEqual(['id', 'plain_id'])
  })
  it('SELECT on one column leaves the rest, which is read, filtered, ordered and written', async () => {
    const text =
      '{ one_hiddenCollection(filter: {open: {eq: "seen"}}, orderBy: [{open: DescNullsLast}]) { edges { node { id open plain { a } nodeId } } aggregate { count max { open } } } }'
    expect(await ask(text, asLess)).toEqual({
      one_hiddenCollection: {
        edges: [
          {
            node: {
              id: 1,
              open: 'seen',
              plain: { a: 'x' },
              nodeId: Buffer.from('["public", "one_hidden", 1]').toString('base64'),
            },
          },
        ],
        aggregate: { count: 1, max: { open: 'seen' } },
      },
    })
    const insert =
      'mutation { insertIntoone_hiddenCollection(objects: [{id: 9, secret: 9, open: "new"}]) { records { id open } } }'
    expect(await ask(insert, asLess)).toEqual({ insertIntoone_hiddenCollection: { records: [{ id: 9, open: 'new' }] } })
    const update =
      'mutation { updateone_hiddenCollection(set: {secret: 10}, filter: {id: {eq: 9}}) { records { id } } }'
    expect(await ask(update, asLess)).toEqual({ updateone_hiddenCollection: { records: [{ id: 9 }] } })
    expect(
      await refused('{ one_hiddenCollection(filter: {secret: {eq: 7}}) { edges { node { id } } } }', asLess),
    ).toEqual(['Field "secret" is not defined by type "one_hiddenFilter".'])
  })
  it('SELECT on the table takes away computed fields', () => {
    expect(namesOf(full, 'one_hidden')).toContain('shout')
    expect(namesOf(less, 'one_hidden')).not.toContain('shout')
  })
  it('INSERT on every column takes away the mutation and its types', () => {
    expect(rootFields(less, 'no_insert')).toEqual([
      'no_insertByPk',
      'no_insertCollection',
      'deleteFromno_insertCollection',
      'updateno_insertCollection',
    ])
    expect([less.getType('no_insertInsertInput'), less.getType('no_insertInsertResponse')]).toEqual([
      undefined,
      undefined,
    ])
  })
  it('INSERT on one column takes away that input', async () => {
    expect(namesOf(less, 'some_insertInsertInput')).toEqual(['id', 'body'])
    expect(
      await ask(
        'mutation { insertIntosome_insertCollection(objects: [{id: 1, body: "b"}]) { affectedCount } }',
        asLess,
      ),
    ).toEqual({ insertIntosome_insertCollection: { affectedCount: 1 } })
  })
  it('UPDATE on every column takes away the mutation and its types, on one that input', () => {
    expect(rootFields(less, 'no_update')).not.toContain('updateno_updateCollection')
    expect([less.getType('no_updateUpdateInput'), less.getType('no_updateUpdateResponse')]).toEqual([
      undefined,
      undefined,
    ])
    expect(namesOf(less, 'some_updateUpdateInput')).toEqual(['body'])
  })
  it('DELETE takes away the mutation and its response', () => {
    expect(rootFields(less, 'no_delete')).toEqual([
      'no_deleteByPk',
      'no_deleteCollection',
      'insertIntono_deleteCollection',
      'updateno_deleteCollection',
    ])
    expect(less.getType('no_deleteDeleteResponse')).toBeUndefined()
  })
  it('EXECUTE takes away the function and the computed field', () => {
    expect([namesOf(full, 'Query').includes('hidden_call'), namesOf(less, 'Query').includes('hidden_call')]).toEqual([
      true,
      false,
    ])
    expect([
      namesOf(full, 'plain').includes('hidden_computed'),
      namesOf(less, 'plain').includes('hidden_computed'),
    ]).toEqual([true, false])
  })
  it('USAGE on an enum takes away its filter and its arrays; scalar columns keep it', async () => {
    expect(fieldsOf(full, 'moody').slice(2)).toEqual(['mood: mood', 'moods: [mood]', 'free: free', 'frees: [free]'])
    expect(fieldsOf(less, 'moody').slice(2)).toEqual(['mood: mood', 'free: free', 'frees: [free]'])
    expect(namesOf(full, 'moodyFilter')).toEqual(['id', 'mood', 'free', 'nodeId', 'and', 'or', 'not'])
    expect(namesOf(less, 'moodyFilter')).toEqual(['id', 'free', 'nodeId', 'and', 'or', 'not'])
    expect([full.getType('moodFilter') === undefined, less.getType('moodFilter') === undefined]).toEqual([false, true])
    expect(await ask('{ moodyByPk(id: 1) { mood free frees } }', asLess)).toEqual({
      moodyByPk: { mood: 'sad', free: 'x', frees: ['x'] },
    })
    expect(
      await refused('query ($f: moodFilter) { moodyCollection(filter: {mood: $f}) { edges { node { id } } } }', asLess),
    ).toContainEqual(expect.stringMatching(/^Unknown type "moodFilter"\./))
  })
  it('nothing but node is left without any privilege', async () => {
    const bare = { role: 'service_role' }
    expect(namesOf(await introspect(service, bare), 'Query')).not.toContain('insideCollection')
    const none = await createTestService({ sql: 'create table t (id int primary key)' })
    onTestFinished(() => none.close())
    await none.db.query('revoke all on schema public from public')
    expect(await none.graphql('{ __typename node(nodeId: "WyJwdWJsaWMiLCAidCIsIDFd") { nodeId } }')).toMatchObject({
      data: null,
      errors: [{ message: 'Collection referenced by nodeId did not match any known collection' }],
    })
    expect(await none.graphql('mutation { __typename }')).toMatchObject({
      errors: [{ message: 'Schema is not configured to execute mutation operation.' }],
    })
  })
  it('hides no mutation of views that cannot be written: Postgres says so', async () => {
    expect(rootFields(full, 'keyed_materialized')).toHaveLength(5)
    expect(await refused('mutation { deleteFromkeyed_materializedCollection { affectedCount } }')).toEqual([
      'cannot change materialized view "keyed_materialized"',
    ])
  })
  it('never names in a suggestion what the role may not see', async () => {
    for (const text of [
      '{ no_selectCollections { edges { cursor } } }',
      '{ one_hiddenCollection { edges { node { secre } } } }',
      '{ hidden_cal }',
      '{ plainCollection(filter: {hidden: 1}) { edges { node { hidden_compute } } } }',
    ]) {
      expect((await refused(text, asLess)).join('\n')).not.toMatch(
        /no_selectCollection"|"secret"|"hidden_call"|"hidden_computed"/,
      )
    }
  })
})

describe('1.5 root types', () => {
  it('are sorted by name', () => {
    for (const type of ['Query', 'Mutation']) expect(namesOf(full, type)).toEqual([...namesOf(full, type)].sort())
    expect(full.getSubscriptionType() ?? null).toBeNull()
  })
  it('root disabled takes the reads from Query only', async () => {
    expect(rootFields(full, 'unrooted')).toEqual([
      'deleteFromunrootedCollection',
      'insertIntounrootedCollection',
      'updateunrootedCollection',
    ])
    const id = Buffer.from('["public", "unrooted", 1]').toString('base64')
    expect(
      await ask(
        `{ plainByPk(id: 1) { unrootedCollection { edges { node { id } } } } node(nodeId: "${id}") { ... on unrooted { id } } }`,
      ),
    ).toEqual({
      plainByPk: { unrootedCollection: { edges: [{ node: { id: 1 } }] } },
      node: { id: 1 },
    })
  })
})
