import { describe, expect, it, test } from 'vitest'
import { dataOf, messagesOf } from '../../support/answers.ts'
import { fieldsOf, introspect, signatureOf } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService, type AskOptions } from '../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true})';
  create type size as enum ('s', 'm', 'x-l');
  comment on type size is '@graphql({"mappings": {"x-l": "XL"}})';
  create domain code as text;
  create table account (id int primary key, email text, bio text);
  create table product (b int, a text, c int, label text, primary key (c, a));
  create table shirt (size size primary key, stock int);
  create table country (code varchar(2) primary key, name text);
  create table padded (code char(4) primary key);
  create table big (id bigint primary key);
  create table price (amount numeric(6, 2) primary key);
  create table ratio (value float8 primary key);
  create table flag (value bool primary key);
  create table day (value date primary key);
  create table uid (value uuid primary key);
  create table bytes (value bytea primary key);
  create table coded (value code primary key);
  create table listed (value int[] primary key);
  create table document (value jsonb primary key);
  create table documents (value jsonb[] primary key);
  create table document_with_null (value jsonb primary key);
  create type inner_part as (at timestamptz, tags text[]);
  create type pair as (some_label text, a numeric, part inner_part, doc jsonb);
  create table paired (value pair primary key, n int);
  create table pairs (value pair[] primary key, n int);
  create table "Mixed Case" ("The Key" int primary key, body text);
  comment on table "Mixed Case" is '@graphql({"name": "mixed"})';
  comment on column "Mixed Case"."The Key" is '@graphql({"name": "theKey"})';
  create table included (id int, more text, primary key (id) include (more));
  create table keyless (id int);
  create table hidden (id int primary key);
  create view account_view as select id, email from account;
  comment on view account_view is '@graphql({"primary_key_columns": ["id"]})';
  create view product_view as select a, b, c, label from product;
  comment on view product_view is '@graphql({"primary_key_columns": ["c", "b"]})';
  create table "quoted""name" (id text primary key);
  comment on table "quoted""name" is '@graphql({"name": "quoted"})';
  create table loose (code int, body text);
  comment on table loose is '@graphql({"primary_key_columns": ["code"]})';
  create schema other;

  insert into account values (1, 'a@x.io', null), (2, 'b@x.io', 'second');
  insert into product values (7, 'x', 1, 'one'), (8, 'y', 1, 'two');
  insert into shirt values ('s', 3), ('x-l', 4);
  insert into country values ('de', 'Germany');
  insert into padded values ('ab');
  insert into big values (9007199254740993);
  insert into price values (0.10);
  insert into ratio values (1.5);
  insert into flag values (true);
  insert into day values ('2024-02-29');
  insert into uid values ('7e6bb18a-1a35-4d2b-9c5f-6a3b8e0c2d11');
  insert into bytes values ('\\x0102');
  insert into coded values ('c');
  insert into listed values ('{1,2}'), ('{3}');
  insert into document values ('[1, 2]'), ('"text"'), ('{"a": "b"}');
  insert into document_with_null values ('null'), ('[null]');
  insert into documents values (array['"a"', null, '{"b": [1]}']::jsonb[]), (array['1']::jsonb[]);
  insert into paired values (row('a "b", (c)', 1.50, row('2024-01-01 10:00:00.123456Z', '{a,"b c"}'), '{"x": "y"}')::pair, 1),
    (row('', null, null, null)::pair, 2), (row(null, 9007199254740993.1, row(null, '{}'), '"s"')::pair, 3);
  insert into pairs values (array[row('a', 1, null, null), null, row('b', 2, null, '[1]')]::pair[], 1), ('{}', 2);
  insert into "Mixed Case" values (1, 'mixed');
  insert into included values (1, 'more');
  insert into loose values (1, 'a'), (1, 'b'), (null, 'c'), (2, 'd');
  insert into "quoted""name" values ('ü"\\/' || repeat('long ', 30));
  grant usage on schema public to anon;
  grant select on all tables in schema public to anon;
  revoke select on hidden from anon;
`

const ask = async (query: string, options?: AskOptions) => dataOf(await service.graphql(query, options))
const refused = async (query: string, options?: AskOptions) => messagesOf(await service.graphql(query, options))
const token = (text: string | Buffer): string => Buffer.from(text).toString('base64')
const byId = 'query ($id: ID!) { node(nodeId: $id) { __typename nodeId } }'

const service = forSuite(createTestService, { sql })

describe('7.1 nodeId', () => {
  const idOf = async (field: string): Promise<string> =>
    (await ask(`{ ${field}Collection(first: 1) { edges { node { nodeId } } } }`))[`${field}Collection`].edges[0].node
      .nodeId

  it('has the bytes of the literal example', async () => {
    expect(await idOf('account')).toBe('WyJwdWJsaWMiLCAiYWNjb3VudCIsIDFd')
  })
  test.each([
    ['product', '["public", "product", "x", 1]'],
    ['shirt', '["public", "shirt", "s"]'],
    ['country', '["public", "country", "de"]'],
    ['padded', '["public", "padded", "ab  "]'],
    ['big', '["public", "big", 9007199254740993]'],
    ['price', '["public", "price", 0.10]'],
    ['flag', '["public", "flag", true]'],
    ['day', '["public", "day", "2024-02-29"]'],
    ['coded', '["public", "coded", "c"]'],
    ['listed', '["public", "listed", [1, 2]]'],
    ['mixed', '["public", "Mixed Case", 1]'],
    ['document', '["public", "document", "text"]'],
    ['included', '["public", "included", 1]'],
    ['account_view', '["public", "account_view", 1]'],
    ['product_view', '["public", "product_view", 1, 7]'],
    ['quoted', `["public", "quoted\\"name", "ü\\"\\\\/${'long '.repeat(30)}"]`],
  ])('of %s holds schema, table and key by their SQL names', async (field, text) => {
    const id = await idOf(field)
    expect(Buffer.from(id, 'base64').toString()).toBe(text)
    expect(id).toBe(token(text))
    expect(await ask(byId, { variables: { id } })).toEqual({ node: { __typename: field, nodeId: id } })
  })
  it('prints a mapped enum key by its label', async () => {
    const { shirtByPk } = await ask('{ shirtByPk(size: XL) { nodeId } }')
    expect(Buffer.from(shirtByPk.nodeId, 'base64').toString()).toBe('["public", "shirt", "x-l"]')
  })

  const account = (key: string): string => token(`["public", "account", ${key}]`)
  const errors: readonly (readonly [string, string, string])[] = [
    ['no base64', '~~~', 'Invalid value passed to nodeId argument. Error 2'],
    [
      'base64 without its padding',
      token('["public", "product", "x", 1]').replace(/=+$/, ''),
      'Invalid value passed to nodeId argument. Error 2',
    ],
    ['base64 of another alphabet', 'W_-_', 'Invalid value passed to nodeId argument. Error 2'],
    ['no UTF-8', token(Buffer.from([0xff, 0xfe])), 'Invalid value passed to nodeId argument. Error 3'],
    ['no JSON', token('nothing'), 'Invalid value passed to nodeId argument. Error 4'],
    ['an empty string', '', 'Invalid value passed to nodeId argument. Error 4'],
    ['two elements', token('["public", "account"]'), 'Invalid value passed to nodeId argument. Error 5'],
    ['no element', token('[]'), 'Invalid value passed to nodeId argument. Error 5'],
    ['a schema that is no string', token('[1, "account", 1]'), 'Invalid value passed to nodeId argument. Error 6'],
    ['a table that is no string', token('["public", null, 1]'), 'Invalid value passed to nodeId argument. Error 7'],
    ['an object', token('{"a": 1}'), 'Invalid value passed to nodeId argument. Error 10'],
    ['a string', token('"public"'), 'Invalid value passed to nodeId argument. Error 10'],
    [
      'a table that does not exist',
      token('["public", "nothing", 1]'),
      'Collection referenced by nodeId did not match any known collection',
    ],
    [
      'a table without a key',
      token('["public", "keyless", 1]'),
      'Collection referenced by nodeId did not match any known collection',
    ],
    [
      'a table that the role may not see',
      token('["public", "hidden", 1]'),
      'Collection referenced by nodeId did not match any known collection',
    ],
    [
      'a table of another schema',
      token('["other", "account", 1]'),
      'Collection referenced by nodeId did not match any known collection',
    ],
    ['too many keys', account('1, 2'), 'Primary key column count mismatch. Expected 1, provided 2'],
    ['too few keys', token('["public", "product", "x"]'), 'Primary key column count mismatch. Expected 2, provided 1'],
  ]
  test.each(errors)('refuses %s', async (_, id, message) => {
    expect(await refused(byId, { variables: { id } })).toEqual([message])
    expect(await refused(`{ node(nodeId: ${JSON.stringify(id)}) { nodeId } }`)).toEqual([message])
  })
  it('leaves what a key means to Postgres', async () => {
    expect(await refused(byId, { variables: { id: account('"x"') } })).toEqual([
      'invalid input syntax for type integer: "x"',
    ])
    expect(await ask(byId, { variables: { id: account('"1"') } })).toEqual({
      node: { __typename: 'account', nodeId: 'WyJwdWJsaWMiLCAiYWNjb3VudCIsIDFd' },
    })
    expect(await ask(byId, { variables: { id: account('null') } })).toEqual({ node: null })
  })
  it('reads a node id however its JSON is spaced, and keeps every digit', async () => {
    expect(await ask(byId, { variables: { id: token('["public","big",9007199254740993]') } })).toMatchObject({
      node: { __typename: 'big' },
    })
    expect(await ask(byId, { variables: { id: token('["public","big",9007199254740992]') } })).toEqual({ node: null })
  })
  it('pages by keys that are arrays or JSON documents', async () => {
    for (const [field, key] of [
      ['listed', [[1, 2], [3]]],
      ['document', ['"text"', '[1, 2]', '{"a": "b"}']],
    ] as const) {
      const pages: unknown[] = []
      let after: string | null = null
      do {
        const page = await ask(
          `query ($after: Cursor) { page: ${field}Collection(first: 1, after: $after) { edges { node { value } } pageInfo { endCursor hasNextPage } } }`,
          { variables: { after } },
        )
        pages.push(...page.page.edges.map((edge: { node: { value: unknown } }) => edge.node.value))
        after = page.page.pageInfo.hasNextPage ? page.page.pageInfo.endCursor : null
      } while (after !== null)
      expect(pages).toEqual(key.map((value) => (value === '"text"' ? 'text' : value)))
    }
  })
  it.each([
    ['document_with_null', 'value', 2],
    ['documents', 'value', 2],
    ['paired', 'n', 3],
    ['pairs', 'n', 2],
  ])('finds rows by a key that is a composite value or JSON, in either direction: %s', async (table, field, count) => {
    const page = async (args: string) =>
      (await ask(`{ page: ${table}Collection(${args}) { edges { cursor node { nodeId ${field} } } } }`)).page.edges
    const all = await page('first: 9')
    expect(all).toHaveLength(count)
    for (const [index, { cursor, node }] of all.entries()) {
      expect(await page(`first: 9, after: "${cursor}"`)).toEqual(all.slice(index + 1))
      expect(await page(`last: 9, before: "${cursor}"`)).toEqual(all.slice(0, index))
      expect(await page(`filter: { nodeId: { eq: "${node.nodeId}" } }`)).toEqual([all[index]])
      const found = await ask(`{ node(nodeId: "${node.nodeId}") { nodeId ... on ${table} { ${field} } } }`)
      expect(found.node).toEqual(node)
    }
  })
})

describe('7.2 node', () => {
  it('is nullable, takes an id, and is an interface with a node id', async () => {
    const schema = await introspect(service)
    expect(signatureOf(schema, 'Query', 'node')).toBe('node(nodeId: ID!): Node')
    expect(fieldsOf(schema, 'Node')).toEqual(['nodeId: ID!'])
  })
  it('lists its possible types by name', async () => {
    const { __type } = await ask('{ __type(name: "Node") { possibleTypes { name } } }')
    const names: readonly string[] = __type.possibleTypes.map((type: { name: string }) => type.name)
    expect(names).toEqual([
      'account',
      'account_view',
      'big',
      'bytes',
      'coded',
      'country',
      'day',
      'document',
      'document_with_null',
      'documents',
      'flag',
      'included',
      'listed',
      'loose',
      'mixed',
      'padded',
      'paired',
      'pairs',
      'price',
      'product',
      'product_view',
      'quoted',
      'ratio',
      'shirt',
      'uid',
    ])
  })
})

describe('7.3 ByPk', () => {
  const rows = [
    ['accountByPk(id: 2) { email }', { email: 'b@x.io' }],
    ['productByPk(a: "y", c: 1) { label }', { label: 'two' }],
    ['productByPk(c: 1, a: "x") { label }', { label: 'one' }],
    ['shirtByPk(size: XL) { size stock }', { size: 'XL', stock: 4 }],
    ['countryByPk(code: "de") { name }', { name: 'Germany' }],
    ['paddedByPk(code: "ab") { code }', { code: 'ab  ' }],
    ['bigByPk(id: 9007199254740993) { id }', { id: '9007199254740993' }],
    ['bigByPk(id: "9007199254740993") { id }', { id: '9007199254740993' }],
    ['priceByPk(amount: "0.1") { amount }', { amount: '0.10' }],
    ['ratioByPk(value: 1.5) { value }', { value: 1.5 }],
    ['flagByPk(value: true) { value }', { value: true }],
    ['dayByPk(value: "2024-02-29") { value }', { value: '2024-02-29' }],
    [
      'uidByPk(value: "7E6BB18A-1A35-4D2B-9C5F-6A3B8E0C2D11") { value }',
      { value: '7e6bb18a-1a35-4d2b-9c5f-6a3b8e0c2d11' },
    ],
    ['bytesByPk(value: "\\\\x0102") { value }', { value: '\\x0102' }],
    ['codedByPk(value: "c") { value }', { value: 'c' }],
    ['documentByPk(value: "[1,2]") { value }', { value: '[1, 2]' }],
    ['mixedByPk(theKey: 1) { body nodeId }', { body: 'mixed', nodeId: token('["public", "Mixed Case", 1]') }],
    ['account_viewByPk(id: 1) { email }', { email: 'a@x.io' }],
    ['product_viewByPk(c: 1, b: 8) { label }', { label: 'two' }],
    ['accountByPk(id: 99) { email }', null],
    ['countryByPk(code: "deu") { name }', null],
    ['productByPk(a: "x", c: 2) { label }', null],
  ] as const
  test.each(rows)('finds the row: %s', async (field, expected) => {
    expect(await ask(`{ row: ${field} }`)).toEqual({ row: expected })
  })
  it('takes the keys of a view in the order of its comment', async () => {
    expect(signatureOf(await introspect(service), 'Query', 'product_viewByPk')).toBe(
      'product_viewByPk(c: Int!, b: Int!): product_view',
    )
  })
  it("a table's key may be what its comment says: the first of several rows, none without a key", async () => {
    expect(
      await ask(
        '{ one: looseByPk(code: 1) { code } two: looseByPk(code: 2) { body } none: looseByPk(code: 3) { body } }',
      ),
    ).toEqual({ one: { code: 1 }, two: { body: 'd' }, none: null })
    expect(await ask(byId, { variables: { id: token('["public", "loose", 1]') } })).toMatchObject({
      node: { __typename: 'loose' },
    })
    const { looseCollection } = await ask('{ looseCollection { edges { node { code nodeId } } } }')
    expect(looseCollection.edges.map((edge: { node: { code: number } }) => edge.node.code)).toEqual([1, 1, 2])
  })
  it('needs every argument', async () => {
    expect(await refused('{ productByPk(a: "x") { label } }')).toEqual([
      'Field "productByPk" argument "c" of type "Int!" is required, but it was not provided.',
    ])
    expect(await refused('{ accountByPk(id: null) { id } }')).toEqual(['Expected value of type "Int!", found null.'])
    expect(await refused('{ accountByPk(id: "1") { id } }')).toEqual(['Int cannot represent non-integer value: "1"'])
  })
})
