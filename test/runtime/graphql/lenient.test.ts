import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../support/answers.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService, type AskOptions } from '../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true, "validation": {"enabled": false}})';
  create type plan as enum ('free', 'pro');
  create table account (id int primary key, email text, plan plan not null default 'free', big bigint, ratio float8, price numeric(8,2));
  create table post (id int primary key, account_id int not null references account, title text);
  insert into account values (1, 'a@x.io', 'free', 5, 1.5, 0.1), (2, 'b@x.io', 'pro', null, 2, 30);
  insert into post values (10, 1, 'first'), (20, 2, null);
  create function add(a int, b int default 10) returns int immutable language sql as 'select a + b';
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
`

const ask = async (query: string, variables: Record<string, unknown> = {}, options: AskOptions = {}) =>
  dataOf(await service.graphql(query, { ...options, variables }))
const refused = async (query: string, variables: Record<string, unknown> = {}) =>
  messagesOf(await service.graphql(query, { variables }))
const ids = (data: { accountCollection: { edges: { node: { id: number } }[] } }) =>
  data.accountCollection.edges.map(({ node }) => node.id)
const where = (filter: string, head = '') => `${head}{ accountCollection(filter: ${filter}) { edges { node { id } } } }`

const service = forSuite(createTestService, { sql })

describe('11 validation off', () => {
  it('accepts unused fragments and variables', async () => {
    expect(await ask('query Q($x: Int) { add(a: 1) } fragment F on Account { id }')).toEqual({ add: 11 })
  })
  it('accepts undeclared variables, when they are supplied and when not', async () => {
    expect(await ask('{ add(a: 1, b: $b) }', { b: 2 })).toEqual({ add: 3 })
    expect(await ask('{ add(a: 1, b: $b) }')).toEqual({ add: 11 })
    expect(await ask('{ add(a: 1, b: $b) }', { b: null })).toEqual({ add: null })
  })
  it('accepts variables of loose types, whose place decides', async () => {
    expect(ids(await ask(where('{id: {eq: $id}}', 'query($id: String) '), { id: 2 }))).toEqual([2])
    expect(
      ids(
        await ask('query($o: [AccountOrderBy]) { accountCollection(orderBy: $o) { edges { node { id } } } }', {
          o: [{ id: 'DescNullsLast' }],
        }),
      ),
    ).toEqual([2, 1])
    expect(
      ids(
        await ask('query($o: AccountOrderBy) { accountCollection(orderBy: $o) { edges { node { id } } } }', {
          o: { id: 'DescNullsLast' },
        }),
      ),
    ).toEqual([2, 1])
    expect(ids(await ask(where('$f'), { f: { id: { in: 2 } } }))).toEqual([2])
    expect(ids(await ask('{ accountCollection(first: $n) { edges { node { id } } } }', { n: 1 }))).toEqual([1])
  })
  it('uses defaults of declarations for absent variables only', async () => {
    const query = 'query($b: Int = 4) { add(a: 1, b: $b) }'
    expect(await ask(query)).toEqual({ add: 5 })
    expect(await ask(query, { b: null })).toEqual({ add: null })
    expect(await ask(query, { b: 6 })).toEqual({ add: 7 })
  })
  it('accepts enum values written as strings, in documents and variables', async () => {
    expect(ids(await ask(where('{plan: {eq: "pro"}}')))).toEqual([2])
    expect(ids(await ask(where('{plan: {eq: pro}}')))).toEqual([2])
    expect(ids(await ask(where('{plan: {in: ["pro", free]}}')))).toEqual([1, 2])
    expect(ids(await ask(where('{plan: {eq: $p}}'), { p: 'pro' }))).toEqual([2])
    expect(ids(await ask('{ accountCollection(orderBy: {id: "DescNullsLast"}) { edges { node { id } } } }'))).toEqual([
      2, 1,
    ])
  })
  it('accepts bare words as strings', async () => {
    expect(
      await ask(
        'mutation { updateAccountCollection(set: {email: word}, filter: {id: {eq: 2}}) { records { email } } }',
      ),
    ).toEqual({
      updateAccountCollection: { records: [{ email: 'word' }] },
    })
  })
  it('accepts absent variables inside inputs', async () => {
    expect(ids(await ask(where('{id: {eq: $x}}')))).toEqual([1, 2])
    expect(await refused('mutation { updateAccountCollection(set: {email: $x}) { affectedCount } }')).toEqual([
      'At least one mapping must be provided to set argument',
    ])
  })
  it('ignores a selection on a scalar, and selects nothing without one on an object', async () => {
    expect(await ask('{ accountByPk(id: 1) { id { anything } } }')).toEqual({ accountByPk: { id: 1 } })
    expect(await ask('{ accountByPk(id: 1) }')).toEqual({ accountByPk: {} })
    expect(await ask('{ accountCollection { edges { node } } }')).toEqual({
      accountCollection: { edges: [{ node: {} }, { node: {} }] },
    })
  })
  it('accepts keys of any scalar', async () => {
    const one = { accountByPk: { id: 1 } }
    for (const id of ['1', '"1"', '" 1 "']) expect(await ask(`{ accountByPk(id: ${id}) { id } }`)).toEqual(one)
    for (const type of ['String', 'Int', 'JSON']) {
      for (const x of [1, '1', 1n])
        expect(await ask(`query($x: ${type}) { accountByPk(id: $x) { id } }`, { x })).toEqual(one)
    }
  })
  it('accepts integers of 64 bits', async () => {
    expect(ids(await ask('{ accountCollection(first: 99999999999) { edges { node { id } } } }'))).toEqual([1, 2])
    expect(
      ids(await ask('{ accountCollection(offset: $n) { edges { node { id } } } }', { n: 9007199254740993n })),
    ).toEqual([])
    expect(
      ids(await ask('{ accountCollection(first: $n) { edges { node { id } } } }', { n: 9223372036854775807n })),
    ).toEqual([1, 2])
    const change =
      'mutation { updateAccountCollection(set: {big: 5}, filter: {id: {eq: 1}}, atMost: 99999999999) { affectedCount } }'
    expect(await ask(change)).toEqual({ updateAccountCollection: { affectedCount: 1 } })
  })
  it('accepts null for atMost, which is one then', async () => {
    const all = 'deleteFromAccountCollection(filter: {id: {gt: 100}}, atMost: $n) { affectedCount }'
    await service.db.query('insert into account (id) values (101), (102)')
    for (const given of [null, undefined, 1]) {
      expect(await refused(`mutation { ${all} }`, { n: given })).toEqual(['delete impacts too many records'])
    }
    expect(await refused(`mutation { ${all.replace('$n', 'null')} }`)).toEqual(['delete impacts too many records'])
    expect(await ask(`mutation { ${all} }`, { n: 2 })).toEqual({ deleteFromAccountCollection: { affectedCount: 2 } })
  })
  it('accepts inline fragments of other types, which select nothing', async () => {
    expect(await ask('{ accountByPk(id: 1) { id ... on Post { title } } }')).toEqual({ accountByPk: { id: 1 } })
  })
  it('accepts duplicate arguments, of which it takes the first', async () => {
    expect(ids(await ask('{ accountCollection(first: 1, first: 2) { edges { node { id } } } }'))).toEqual([1])
    expect(await ask('{ add(a: 1, a: "one") }')).toEqual({ add: 11 })
  })
  it('accepts duplicate keys, and reads only the last', async () => {
    expect(ids(await ask(where('{id: {eq: 1}, id: {eq: 2}}')))).toEqual([2])
    expect(ids(await ask(where('{price: {eq: 30}, price: {eq: 21.5}, price: {eq: "0.1"}}')))).toEqual([1])
    expect(ids(await ask(where('{id: {eq: 1, eq: $x}}')))).toEqual([1, 2])
    expect(await refused(where('{price: {eq: "0.1"}, price: {eq: 30}}'))).toEqual([
      'Invalid input for BigFloat type. String required',
    ])
    expect(
      await ask(
        'mutation { updateAccountCollection(set: {email: "one", email: "two"}, filter: {id: {eq: 1}}) { records { email } } }',
      ),
    ).toEqual({
      updateAccountCollection: { records: [{ email: 'two' }] },
    })
    expect(await ask('mutation { insertIntoAccountCollection(objects: [{id: 7, id: 8}]) { records { id } } }')).toEqual(
      {
        insertIntoAccountCollection: { records: [{ id: 8 }] },
      },
    )
    await service.db.query('delete from account where id > 2')
  })
  it('accepts mutations with values of every kind', async () => {
    const query =
      'mutation { insertIntoAccountCollection(objects: $rows) { affectedCount records { id email plan big } } }'
    const rows = [
      { id: 30, email: 'p', plan: 'pro', big: 9007199254740993n },
      { id: 31, plan: 'free', email: null, big: '1' },
    ]
    expect((await ask(query, { rows })).insertIntoAccountCollection.records).toEqual([
      { id: 30, email: 'p', plan: 'pro', big: '9007199254740993' },
      { id: 31, email: null, plan: 'free', big: '1' },
    ])
    await service.db.query('delete from account where id > 2')
  })
})

describe('11 validation off', () => {
  it.each([
    ['unknown field', '{ accountByPk(id: 1) { nope } }', 'Cannot query field "nope" on type "Account".'],
    [
      'unknown argument',
      '{ accountCollection(uuuuuuuu: 1) { edges { cursor } } }',
      'Unknown argument "uuuuuuuu" on field "Query.accountCollection".',
    ],
    ['unknown type', '{ accountByPk(id: 1) { ... on Qqqqqq { id } } }', 'Unknown type "Qqqqqq".'],
    ['unknown fragment', '{ ...F }', 'Unknown fragment "F".'],
    ['unknown directive', '{ add(a: 1) @foo }', 'Unknown directive "@foo".'],
    [
      'missing argument',
      '{ accountByPk { id } }',
      'Field "accountByPk" argument "id" of type "Int!" is required, but it was not provided.',
    ],
    [
      'unknown input key',
      'mutation { insertIntoAccountCollection(objects: [{k: 1}]) { affectedCount } }',
      'Input for type AccountInsertInput contains extra keys ["k"]',
    ],
    ['wrong scalar', where('{id: {eq: true}}'), 'Invalid input for Int type'],
    ['wrong custom scalar', where('{big: {eq: true}}'), 'Invalid input for BigInt type'],
    ['a number for BigFloat', where('{price: {eq: 30}}'), 'Invalid input for BigFloat type. String required'],
    ['unknown enum word', where('{plan: {eq: "gold"}}'), 'Invalid input for Plan type'],
    ['null for NonNull', '{ accountByPk(id: null) { id } }', 'Invalid input for NonNull type'],
    ['null element', where('{id: {in: [1, null]}}'), 'Invalid input for NonNull type'],
    ['no object', where('5'), 'Invalid input for AccountFilter type'],
    [
      'fragment cycle',
      '{ accountByPk(id: 1) { ...A } } fragment A on Account { id ...A }',
      'Cannot spread fragment "A" within itself.',
    ],
    [
      'conflicting fields',
      '{ x: accountByPk(id: 1) { id } x: postByPk(id: 10) { id } }',
      'Fields "x" conflict because "accountByPk" and "postByPk" are different fields. Use different aliases on the fields to fetch both if this was intentional.',
    ],
    [
      'conflicting arguments',
      '{ add(a: 1) add(a: 2) }',
      'Fields "add" conflict because they have differing arguments. Use different aliases on the fields to fetch both if this was intentional.',
    ],
    ['undecided directive', '{ add(a: 1) @skip(if: $x) }', 'Value for "if" in @skip directive is required'],
    ['an integer of more than 64 bits', where('{id: {eq: 9223372036854775808}}'), 'Invalid input for Int type'],
    ['a fraction for an integer', where('{id: {eq: 1.5}}'), 'Invalid input for Int type'],
    [
      'a key that Postgres cannot read',
      '{ accountByPk(id: "one") { id } }',
      'invalid input syntax for type integer: "one"',
    ],
    ['a list for a key', '{ accountByPk(id: [1]) { id } }', 'Unexpected array in input value array'],
    ['an object for a key', '{ accountByPk(id: {a: 1}) { id } }', 'Unexpected object in input value'],
    [
      'a node without a fragment',
      '{ node(nodeId: "WyJwdWJsaWMiLCAiYWNjb3VudCIsIDFd") { id } }',
      'Cannot query field "id" on type "Node". Did you mean to use an inline fragment on "Account" or "Post"?',
    ],
  ])('still refuses %s', async (_, query, message) => {
    expect(await refused(query)).toEqual([message])
  })
  it('still refuses values in variables that do not fit their place', async () => {
    expect(await refused(where('{id: {eq: $x}}'), { x: 'one' })).toEqual(['Invalid input for Int type'])
    expect(await refused(where('{price: {eq: $x}}'), { x: 30 })).toEqual([
      'Invalid input for BigFloat type. String required',
    ])
    expect(await refused(where('$x'), { x: 'one' })).toEqual(['Invalid input for AccountFilter type'])
    expect(await refused(where('$x'), { x: { nope: 1 } })).toEqual([
      'Input for type AccountFilter contains extra keys ["nope"]',
    ])
    expect(await refused('{ accountByPk(id: $x) { id } }', { x: null })).toEqual(['Invalid input for NonNull type'])
    expect(await refused('{ accountByPk(id: $x) { id } }')).toEqual(['Invalid input for NonNull type'])
    expect(await refused('mutation { insertIntoAccountCollection(objects: $rows) { affectedCount } }')).toEqual([
      'Invalid input for NonNull type',
    ])
    expect(await refused(where('{email: {eq: $x}}'), { x: { a: 1 } })).toEqual(['Invalid input for String type'])
  })
  it('says where the value of a document stands', async () => {
    const { errors } = await service.graphql(where('{price: {eq: 30}}'))
    expect(errors).toEqual([
      {
        message: 'Invalid input for BigFloat type. String required',
        locations: [{ line: 1, column: 42 }],
        extensions: { code: 'BAD_ARGUMENT' },
      },
    ])
  })
  it('still refuses more rows than the argument allows that counts', async () => {
    const limited = sql.replace('{"enabled": false}', '{"enabled": false}, "limits": {"rows": 5}')
    const service = await createTestService({ sql: limited })
    const page = (args: string) => service.graphql(`{ accountCollection(${args}) { edges { node { id } } } }`)
    expect(ids(dataOf(await page('first: 1, first: 20')))).toEqual([1])
    expect(messagesOf(await page('first: 20, first: 1'))).toEqual([
      'The document may select 20 rows; at most 5 are allowed.',
    ])
    await service.close()
  })
  it('still refuses selections that are too deep, through fragments too', async () => {
    const nested = (levels: number): string =>
      levels === 0 ? '{ id }' : `{ account { postCollection { edges { node ${nested(levels - 1)} } } } }`
    expect(await refused(`{ postByPk(id: 10) ${nested(8)} }`)).toEqual([
      'The selections are nested 34 levels deep; at most 32 levels are allowed.',
    ])
  })
})

describe('11 validation off: values stay parameters', () => {
  it('puts no value into the text of a statement', async () => {
    service.exchanges.length = 0
    await ask(where('{email: {eq: $x}, plan: {eq: "pro"}, id: {in: [123456, $y]}}'), { x: 'needle', y: 654321 })
    const statements = service.exchanges.flatMap((exchange) => exchange.statements)
    expect(statements).toHaveLength(1)
    expect(statements[0]?.text).not.toMatch(/needle|123456|654321|'pro'/)
  })
})
