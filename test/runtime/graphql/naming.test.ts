import { beforeAll, describe, expect, it, test } from 'vitest'
import { validateSchema, type GraphQLSchema } from 'graphql'
import { atOnce } from '../../../runtime/lib/steps.ts'
import { dataOf } from '../../support/answers.ts'
import { fieldsOf, introspect, namesOf, signatureOf } from '../../support/api-schema.ts'
import { catalogOf } from '../../support/catalog.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService, type AskOptions } from '../../support/service.ts'
import { annotate, buildModel } from '../../support/with-additions.ts'

/** `public` keeps names as they are, `app` inflects; both are served, public first. */
const sql = `
  comment on schema public is '@graphql({"introspection": true})';
  create schema app;
  comment on schema app is '@graphql({"introspection": true, "inflect_names": true})';

  create type public.post_state as enum ('draft', 'live');
  create type app.order_state as enum ('open', 'in-transit');
  comment on type app.order_state is '@graphql({"mappings": {"in-transit": "IN_TRANSIT"}})';
  create type app.renamed_state as enum ('a');
  comment on type app.renamed_state is '@graphql({"name": "state_of_affairs"})';

  create table public.blog_post (id int primary key, created_at timestamptz, "URL" text, state post_state, author_id int, "authorId" int);
  comment on table public.blog_post is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  create table public.author (id int primary key);
  alter table public.blog_post add constraint raw_fk foreign key (author_id) references public.author;
  alter table public.blog_post add constraint camel_fk foreign key ("authorId") references public.author;
  comment on constraint camel_fk on public.blog_post is '@graphql({"local_name": "camelPosts"})';

  create table app.line_item (
    item_id int primary key, "account_BY_email" text, "_foo" int, a1_b int, "foo-bar" text, "URL" text, state app.order_state,
    renamed app.renamed_state, other public.post_state, owner_id int, owner int, raw_id int references public.author
  );
  comment on column app.line_item.a1_b is '@graphql({"name": "chosen_name"})';
  create table app.account_holder (id int primary key, tenant int, unique (id, tenant));
  alter table app.line_item add foreign key (owner_id) references app.account_holder;
  alter table app.line_item add foreign key (owner) references app.account_holder;
  alter table app.line_item add constraint whole_key foreign key (owner_id, owner) references app.account_holder (id, tenant);
  comment on constraint whole_key on app.line_item is '@graphql({"foreign_name": "whole_key", "local_name": "itemsByWholeKey"})';
  create table app.account (account_id int primary key, email text);
  create table app.address (id int primary key, account_id int unique references app.account);
  create table app.profile (id int primary key, name text);
  create table app.portrait (profile_id int primary key references app.profile);
  create table app."under" ("_id" int primary key);
  create table app.over (over_id int primary key, "_id" int references app."under");
  create table app.chosen (id int primary key);
  comment on table app.chosen is '@graphql({"name": "My_Own"})';
  create table app."bad-name" (id int primary key);
  create table app."1st" (id int primary key);

  create function public.full_title(blog_post) returns text stable language sql as $$ select 'title' $$;
  create function public._state(blog_post) returns int stable language sql as $$ select 1 $$;
  create function public."Shout_it"("The_Word" text, second_word text default 'x') returns text stable language sql as $$ select $1 $$;
  create function app.shout_at("The_Word" text, last_word text) returns text immutable language sql as $$ select $1 $$;
  create function app._hidden_one() returns int volatile language sql as 'select 1';
  create function app.plain_name() returns int stable language sql as 'select 1';
  comment on function app.plain_name() is '@graphql({"name": "Its_Own_Name"})';

  -- 2.4
  create function public.blog_post_collection() returns int stable language sql as 'select 1';
  comment on function public.blog_post_collection() is '@graphql({"name": "blog_postCollection"})';
  create function public.blog_post_insert() returns int volatile language sql as 'select 1';
  comment on function public.blog_post_insert() is '@graphql({"name": "insertIntoblog_postCollection"})';
  create function public.node() returns int stable language sql as 'select 1';
  create table public.twice (id int primary key, a int, b int, "nodeId" int, "and" int, "not" jsonb);
  comment on column public.twice.a is '@graphql({"name": "value"})';
  comment on column public.twice.b is '@graphql({"name": "value"})';
  create table public.pick (
    id int primary key, parent_one int references public.pick, "parentOne" int, computed int, pick int
  );
  create function public.computed(public.pick) returns text stable language sql as $$ select 'function' $$;
  create function public._mood(public.pick) returns text stable language sql as $$ select 'for anybody' $$;
  create function public.mood(public.pick) returns text stable language sql as $$ select 'for some' $$;
  revoke execute on function public.mood from public;
  grant execute on function public.mood to authenticated;
  create table public.link (
    id int primary key, a_id int constraint l1 references public.author, b_id int constraint l2 references public.author
  );
  create table app.author (id int primary key);
  create table app.node_tag (node_id bigint primary key, lat int, lost int, up bigint, constraint sideways unique (up, node_id));
  comment on column app.node_tag.lost is '@graphql({"name": "nodeId"})';
  comment on column app.node_tag.lat is '@graphql({"name": "lost"})';
  alter table app.node_tag add constraint upwards foreign key (up) references app.node_tag;
  comment on constraint upwards on app.node_tag is '@graphql({"local_name": "nodeId"})';
  create function app.node_id(app.node_tag) returns int stable language sql as 'select 1';
  insert into app.node_tag values (7, 1);
  create table public."Int" (id int primary key);
  create table public."PageInfo" (id int primary key);
  create table public."authorEdge" (id int primary key);
  create table public."StringFilter" (id int primary key);
  create type public.labels as enum ('ok', 'not ok', 'true', '__x');
  create table public.labelled (id int primary key, label public.labels, "bad col" int);
  insert into public.labelled values (1, 'ok'), (2, 'not ok');
  create function public.bad_argument("not ok" int) returns int stable language sql as 'select 1';
  create function public.reserved_set(first int) returns setof author stable language sql as 'select * from author';
  create function public.reserved_row(first int) returns author stable language sql as 'select * from author';

  insert into public.twice values (1, 10, 20, 30, 40, '{}');
  insert into public.pick values (1, null, 7, 8, 9);
  insert into public.author values (1), (2);
  insert into public.link values (1, 1, 2), (2, 2, 2);
  grant usage on schema public, app to anon;
  grant all on all tables in schema public, app to anon;
  insert into app.author values (7);
  grant usage on schema public, app to authenticated;
  grant select on app.author to authenticated;
  grant select (id) on public.twice to authenticated;
  grant select on public.pick to authenticated;
`

let schema: GraphQLSchema
const ask = async (query: string, options?: AskOptions) => dataOf(await service.graphql(query, options))

const service = forSuite(createTestService, { sql, schemas: ['public', 'app'] })
beforeAll(async () => {
  schema = await introspect(service)
})

const typeNames = (): readonly string[] => Object.keys(schema.getTypeMap())

describe('2.1 and 2.2 derived names', () => {
  it('keeps database spelling without inflection', () => {
    expect(fieldsOf(schema, 'blog_post')).toEqual([
      'nodeId: ID!',
      'id: Int!',
      'created_at: Datetime',
      'URL: String',
      'author_id: Int',
      'authorId: Int',
      'author: author',
      'state: Int',
      'full_title: String',
    ])
    expect(namesOf(schema, 'Query')).toEqual(expect.arrayContaining(['blog_postCollection', 'blog_postByPk']))
  })
  it('names every type and field of a table after its base name', () => {
    const suffixes = [
      '',
      'Connection',
      'Edge',
      'Filter',
      'OrderBy',
      'InsertInput',
      'UpdateInput',
      'InsertResponse',
      'UpdateResponse',
      'DeleteResponse',
      'Aggregate',
      'SumAggregateResult',
      'AvgAggregateResult',
      'MinAggregateResult',
      'MaxAggregateResult',
    ]
    expect(
      typeNames()
        .filter((name) => name.startsWith('blog_post'))
        .sort(),
    ).toEqual(suffixes.map((suffix) => `blog_post${suffix}`).sort())
    expect(typeNames()).toEqual(expect.arrayContaining(['post_stateFilter', 'OrderStateFilter', 'IntListFilter']))
    expect(namesOf(schema, 'Mutation')).toEqual(
      expect.arrayContaining([
        'insertIntoblog_postCollection',
        'updateblog_postCollection',
        'deleteFromblog_postCollection',
      ]),
    )
  })
  it('inflects by the schema of the object: types, columns, enums', () => {
    expect(fieldsOf(schema, 'LineItem').slice(0, 10)).toEqual([
      'nodeId: ID!',
      'itemId: Int!',
      'accountBYEmail: String',
      'foo: Int',
      'chosen_name: Int',
      'uRL: String',
      'state: OrderState',
      'renamed: state_of_affairs',
      'other: post_state',
      'ownerId: Int',
    ])
    expect(namesOf(schema, 'Query')).toEqual(expect.arrayContaining(['lineItemCollection', 'lineItemByPk']))
    expect(namesOf(schema, 'Mutation')).toEqual(
      expect.arrayContaining(['insertIntoLineItemCollection', 'updateLineItemCollection']),
    )
    expect(signatureOf(schema, 'Query', 'lineItemByPk')).toBe('lineItemByPk(itemId: Int!): LineItem')
  })
  it('uses a chosen name as it stands, and lowers it only in root fields', () => {
    expect(typeNames()).toEqual(expect.arrayContaining(['My_Own', 'My_OwnConnection', 'My_OwnFilter']))
    expect(namesOf(schema, 'Query')).toEqual(expect.arrayContaining(['my_OwnCollection', 'my_OwnByPk', 'Its_Own_Name']))
    expect(namesOf(schema, 'Mutation')).toContain('insertIntoMy_OwnCollection')
  })
  it('names functions and arguments with a lower first letter in both modes', () => {
    expect(signatureOf(schema, 'Query', 'shout_it')).toBe('shout_it(the_Word: String!, second_word: String): String')
    expect(signatureOf(schema, 'Query', 'shoutAt')).toBe('shoutAt(theWord: String!, lastWord: String!): String')
    expect(signatureOf(schema, 'Mutation', 'hiddenOne')).toBe('hiddenOne: Int')
  })
  it('leaves out what gives no valid name', () => {
    expect(typeNames().filter((name) => /bad|1st/i.test(name))).toEqual([])
    expect(namesOf(schema, 'LineItem').filter((name) => /bar/i.test(name))).toEqual([])
    expect(namesOf(schema, 'labelled')).toEqual(['nodeId', 'id', 'label'])
    expect(namesOf(schema, 'labelledInsertInput')).toEqual(['id', 'label'])
  })
})

describe('2.3 relation field names', () => {
  it('forward: the column without _id where the target inflects, else the parent', () => {
    expect(fieldsOf(schema, 'LineItem').slice(10)).toEqual([
      'rawId: Int',
      'author: author',
      'owner: AccountHolder',
      'accountHolder: AccountHolder',
      'whole_key: AccountHolder',
    ])
  })
  it('forward: Id is stripped, in its own case, where the target does not inflect', () => {
    expect(fieldsOf(schema, 'blog_post')).toContain('author: author')
    expect(fieldsOf(schema, 'link')).toEqual(['nodeId: ID!', 'id: Int!', 'a_id: Int', 'b_id: Int', 'author: author'])
  })
  it('the reverse is the collection of the child', () => {
    expect(fieldsOf(schema, 'AccountHolder')).toEqual([
      'nodeId: ID!',
      'id: Int!',
      'tenant: Int',
      'lineItemCollection: LineItemConnection',
      'itemsByWholeKey: LineItemConnection',
    ])
  })
  it('the reverse of a one-to-one key follows the same rule on the referenced column', () => {
    expect(fieldsOf(schema, 'Account')).toEqual(['nodeId: ID!', 'accountId: Int!', 'email: String', 'account: Address'])
    expect(fieldsOf(schema, 'Address')).toEqual(['nodeId: ID!', 'id: Int!', 'accountId: Int', 'account: Account'])
    expect(fieldsOf(schema, 'Profile')).toEqual(['nodeId: ID!', 'id: Int!', 'name: String', 'portrait: Portrait'])
  })
  it('drops a field whose name would be empty', () => {
    expect(fieldsOf(schema, 'Over')).toEqual(['nodeId: ID!', 'overId: Int!', 'id: Int'])
    expect(fieldsOf(schema, 'Under')).toContain('overCollection: OverConnection')
  })
})

describe('2.4 conflicts', () => {
  it('a table field wins over a function on a root, and so does node', async () => {
    expect(signatureOf(schema, 'Query', 'blog_postCollection')).toMatch(/: blog_postConnection!$/)
    expect(signatureOf(schema, 'Mutation', 'insertIntoblog_postCollection')).toMatch(/: blog_postInsertResponse$/)
    expect(signatureOf(schema, 'Query', 'node')).toBe('node(nodeId: ID!): Node')
  })
  it('of two columns with one field name the last one is read, filtered, ordered and written', async () => {
    expect(fieldsOf(schema, 'twice')).toEqual(['nodeId: ID!', 'id: Int!', 'value: Int', 'and: Int', 'not: JSON'])
    expect(await ask('{ twiceByPk(id: 1) { value } }')).toEqual({ twiceByPk: { value: 20 } })
    const ids = async (args: string) =>
      (await ask(`{ twiceCollection(${args}) { edges { node { id } } } }`)).twiceCollection.edges.length
    expect(await ids('filter: {value: {eq: 20}}')).toBe(1)
    expect(await ids('filter: {value: {eq: 10}}')).toBe(0)
    await ask('mutation { insertIntotwiceCollection(objects: [{id: 2, value: 5}]) { affectedCount } }')
    await ask('mutation { updatetwiceCollection(set: {value: 6}, filter: {id: {eq: 2}}) { affectedCount } }')
    expect((await service.db.query('select a, b from twice where id = 2')).rows).toEqual([{ a: null, b: 6 }])
    const { twiceCollection } = await ask(
      '{ twiceCollection(orderBy: [{value: AscNullsLast}]) { edges { node { value } } } }',
    )
    expect(twiceCollection.edges.map((edge: { node: { value: number } }) => edge.node.value)).toEqual([6, 20])
  })
  it('a column takes the place of a logical operator in its own type only', async () => {
    expect(fieldsOf(schema, 'twiceFilter')).toEqual([
      'id: IntFilter',
      'value: IntFilter',
      'and: IntFilter',
      'nodeId: IDFilter',
      'or: [twiceFilter!]',
      'not: twiceFilter',
    ])
    const { twiceCollection } = await ask(
      '{ twiceCollection(filter: {and: {eq: 40}, not: {id: {eq: 2}}}) { edges { node { and } } } }',
    )
    expect(twiceCollection.edges).toEqual([{ node: { and: 40 } }])
  })
  it('relations win over columns, computed fields over both', async () => {
    expect(fieldsOf(schema, 'pick')).toEqual([
      'nodeId: ID!',
      'id: Int!',
      'parent_one: Int',
      'parentOne: Int',
      'pick: pick',
      'pickCollection: pickConnection',
      'mood: String',
      'computed: String',
    ])
    expect(await ask('{ pickByPk(id: 1) { computed pick { id } parentOne } }')).toEqual({
      pickByPk: { computed: 'function', pick: null, parentOne: 7 },
    })
  })
  it('of two computed fields with one name each role has the last that it may execute', async () => {
    const mood = async (role: string) => (await ask('{ pickByPk(id: 1) { mood } }', { role })).pickByPk.mood
    expect(await mood('anon')).toBe('for anybody')
    expect(await mood('authenticated')).toBe('for some')
  })
  it('of two relations with one name the last one is exposed', async () => {
    expect(fieldsOf(schema, 'author')).toEqual([
      'nodeId: ID!',
      'id: Int!',
      'blog_postCollection: blog_postConnection',
      'camelPosts: blog_postConnection',
      'lineItemCollection: LineItemConnection',
      'linkCollection: linkConnection',
    ])
    const { authorByPk } = await ask('{ authorByPk(id: 2) { linkCollection { edges { node { id } } } } }')
    expect(authorByPk.linkCollection.edges).toEqual([{ node: { id: 1 } }, { node: { id: 2 } }])
    expect(await ask('{ linkByPk(id: 1) { author { id } } }')).toEqual({ linkByPk: { author: { id: 2 } } })
  })
  it('the first served schema, and built-in names, keep theirs', async () => {
    expect(await ask('{ authorCollection { edges { node { id } } } }')).toEqual({
      authorCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] },
    })
    expect(schema.getType('Int')?.toString()).toBe('Int')
    expect(namesOf(schema, 'PageInfo')).toEqual(['endCursor', 'hasNextPage', 'hasPreviousPage', 'startCursor'])
    expect(
      namesOf(schema, 'Query').filter((name) => /^(int|pageInfo|authorEdge|stringFilter)(Collection|ByPk)$/.test(name)),
    ).toEqual([])
  })
  it('goes by what a role sees: who cannot see the first gets the second', async () => {
    const authors = '{ authorCollection { edges { node { __typename id } } } }'
    const as = async (role: string) => dataOf(await service.graphql(authors, { role })).authorCollection.edges[0].node
    expect([await as('anon'), await as('authenticated')]).toEqual([
      { __typename: 'author', id: 1 },
      { __typename: 'Author', id: 7 },
    ])
  })
  it('a column that the role may not see takes no place', async () => {
    const seen = await introspect(service, { role: 'authenticated' })
    expect(fieldsOf(seen, 'twiceFilter')).toEqual([
      'id: IntFilter',
      'nodeId: IDFilter',
      'and: [twiceFilter!]',
      'or: [twiceFilter!]',
      'not: twiceFilter',
    ])
    const text =
      '{ twiceCollection(filter: {and: [{id: {eq: 1}}, {not: {id: {eq: 2}}}]}) { edges { node { id nodeId } } } }'
    expect(dataOf(await service.graphql(text, { role: 'authenticated' })).twiceCollection.edges).toEqual([
      { node: { id: 1, nodeId: Buffer.from('["public", "twice", 1]').toString('base64') } },
    ])
  })
  it('enum values that GraphQL cannot spell are left out and still printed', async () => {
    const { __type } = await ask('{ __type(name: "labels") { enumValues { name } } }')
    expect(__type.enumValues).toEqual([{ name: 'ok' }])
    const { labelledCollection } = await ask('{ labelledCollection { edges { node { label } } } }')
    expect(labelledCollection.edges.map((edge: { node: unknown }) => edge.node)).toEqual([
      { label: 'ok' },
      { label: 'not ok' },
    ])
  })
  it('a function with an argument that GraphQL cannot spell is hidden', () => {
    expect(namesOf(schema, 'Query')).not.toContain('bad_argument')
  })
})

describe('nodeId is the node id', () => {
  it('a column that would be called so has the spelling of the database, or no field', async () => {
    expect(fieldsOf(schema, 'NodeTag')).toEqual([
      'nodeId: ID!',
      'node_id: BigInt!',
      'lost: Int',
      'up: BigInt',
      'nodeTag: NodeTag',
    ])
    expect(namesOf(schema, 'NodeTagInsertInput')).toEqual(['node_id', 'lost', 'up'])
    expect(signatureOf(schema, 'Query', 'nodeTagByPk')).toBe('nodeTagByPk(node_id: BigInt!): NodeTag')
    const page =
      '{ nodeTagCollection(filter: {node_id: {eq: "7"}}, orderBy: [{lost: AscNullsLast}]) { edges { node { nodeId node_id } } } }'
    const [{ node }] = (await ask(page)).nodeTagCollection.edges
    expect(node).toEqual({ nodeId: Buffer.from('["app", "node_tag", 7]').toString('base64'), node_id: '7' })
    const again = await ask(`{ node(nodeId: "${node.nodeId}") { nodeId ... on NodeTag { node_id lost } } }`)
    expect(again.node).toEqual({ ...node, lost: 1 })
  })
  it('is reported, and every role has a schema that the reference implementation takes', async () => {
    for (const role of ['anon', 'authenticated'])
      expect(validateSchema(await introspect(service, { role }))).toEqual([])
    const { annotated } = atOnce(annotate(await catalogOf(service.db, ['public', 'app'])))
    const told = atOnce(atOnce(buildModel(annotated)).diagnose()).filter(({ code }) => code === 'node-id-kept')
    expect(told.map(({ object, severity, message }) => [object, severity, message.replace(/^.*; /, '')])).toEqual([
      ['column public.twice."nodeId"', 'warning', 'it has no field.'],
      ['column app.node_tag.node_id', 'warning', 'its field is "node_id".'],
      ['column app.node_tag.lost', 'warning', 'it has no field.'],
      ['constraint upwards on app.node_tag', 'warning', 'its reverse relation has no field.'],
      ['function app.node_id(app.node_tag)', 'warning', 'it is no field of the row.'],
    ])
  })
})

describe('2.5 reserved argument names', () => {
  test.each(['first', 'last', 'before', 'after', 'offset', 'filter', 'orderBy'])(
    '%s hides a function that answers a set',
    async (name) => {
      const type = name === 'filter' || name === 'orderBy' || name === 'before' || name === 'after' ? 'text' : 'int'
      await service.db.query(
        `create or replace function public.set_by_${name.toLowerCase()}("${name}" ${type}) returns setof author stable language sql as 'select * from author'`,
      )
      const fields = namesOf(await introspect(service), 'Query')
      expect(fields).not.toContain(`set_by_${name.toLowerCase()}`)
    },
  )
  it('keeps one that answers a single row', () => {
    expect(namesOf(schema, 'Query')).not.toContain('reserved_set')
    expect(signatureOf(schema, 'Query', 'reserved_row')).toBe('reserved_row(first: Int!): author')
  })
})

describe('naming as a whole', () => {
  it('two foreign keys to one table are distinguished by a comment on each constraint', async () => {
    await service.db.query(`
      comment on constraint l1 on link is '@graphql({"foreign_name": "a", "local_name": "linksAsA"})';
      comment on constraint l2 on link is '@graphql({"foreign_name": "b", "local_name": "linksAsB"})'`)
    const data = await ask(
      '{ authorByPk(id: 2) { linksAsA { edges { node { id b { id } } } } linksAsB { edges { node { id a { id } } } } } }',
    )
    expect(data).toEqual({
      authorByPk: {
        linksAsA: { edges: [{ node: { id: 2, b: { id: 2 } } }] },
        linksAsB: { edges: [{ node: { id: 1, a: { id: 1 } } }, { node: { id: 2, a: { id: 2 } } }] },
      },
    })
  })
})
