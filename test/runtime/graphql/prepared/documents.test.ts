import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService, type AskOptions } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create type plan as enum ('free', 'pro');
  create table account (
    id int primary key, email text not null, plan plan not null default 'free', big bigint, amount numeric,
    born date, seen timestamptz, token uuid, settings jsonb, active boolean, ratio float8, clock time, tags text[], range int4range
  );
  comment on table account is '@graphql({"totalCount": {"enabled": true}})';
  create table post (id int primary key, account_id int not null references account, title text);
  insert into account (id, email, plan, big) values (1, 'a@x.io', 'free', 9007199254740993), (2, 'b@x.io', 'pro', null), (3, 'c@x.io', 'free', 7);
  insert into post values (10, 1, 'first'), (11, 1, null), (20, 2, 'third');
  create function add(a int, b int default 10) returns int immutable language sql as 'select a + b';
  create function sum_of(numbers int[]) returns int immutable language sql as 'select sum(n)::int from unnest(numbers) n';
  grant usage on schema public to anon, authenticated;
  grant select on account, post to anon;
  grant insert, update on account to anon;
  grant select on post to authenticated;
  revoke execute on all functions in schema public from public;
  grant execute on all functions in schema public to anon;
`

const ask = async (query: string, variables: Record<string, unknown> = {}, options: AskOptions = {}) =>
  dataOf(await service.graphql(query, { ...options, variables }))
const refused = async (query: string, variables: Record<string, unknown> = {}, options: AskOptions = {}) =>
  messagesOf(await service.graphql(query, { ...options, variables }))

const service = forSuite(createTestService, { sql })

describe('11 operation choice', () => {
  const two = 'query A { a: __typename } query B { b: __typename }'

  it('runs the one operation, the named one, and none that is not there', async () => {
    expect(await ask('{ __typename }')).toEqual({ __typename: 'Query' })
    expect(await ask('query Q { __typename }')).toEqual({ __typename: 'Query' })
    expect(await ask(two, {}, { operationName: 'B' })).toEqual({ b: 'Query' })
    expect(await ask(two, {}, { operationName: 'A' })).toEqual({ a: 'Query' })
    expect(await refused(two)).toEqual(['Must provide operation name if query contains multiple operations.'])
    expect(await refused(two, {}, { operationName: 'C' })).toEqual(['Unknown operation named "C".'])
    expect(await refused('query Q { __typename }', {}, { operationName: 'C' })).toEqual([
      'Unknown operation named "C".',
    ])
    expect(await refused('fragment F on Query { __typename }')).toEqual(['Fragment "F" is never used.'])
  })
  it('validates the operations that do not run as well', async () => {
    expect(await refused('query A { __typename } query B { nope }', {}, { operationName: 'A' })).toEqual([
      'Cannot query field "nope" on type "Query". Did you mean "node"?',
    ])
  })
  it('refuses two operations of one name and an anonymous one beside others', async () => {
    expect(await refused('query A { __typename } query A { __typename }', {}, { operationName: 'A' })).toEqual([
      'There can be only one operation named "A".',
    ])
    expect(await refused('{ __typename } query A { __typename }')).toEqual([
      'This anonymous operation must be the only defined operation.',
    ])
  })
  it('has no subscriptions, and mutations only for roles that may change something', async () => {
    expect(await refused('subscription { __typename }')).toEqual([
      'Schema is not configured to execute subscription operation.',
    ])
    expect(await refused('mutation { __typename }', {}, { role: 'authenticated' })).toEqual([
      'Schema is not configured to execute mutation operation.',
    ])
    expect(await ask('mutation { __typename }')).toEqual({ __typename: 'Mutation' })
  })
  it('is 400-worthy when the text does not parse', async () => {
    const answer = await service.serve('{ accountCollection { ')
    expect(answer.outcome).toBe('invalid')
    expect(JSON.parse(answer.body)).toEqual({
      data: null,
      errors: [
        {
          message: 'Syntax Error: Expected Name, found <EOF>.',
          locations: [{ line: 1, column: 23 }],
          extensions: { code: 'GRAPHQL_PARSE_FAILED' },
        },
      ],
    })
    expect(await refused('')).toEqual(['Syntax Error: Unexpected <EOF>.'])
    expect(await refused('type T { a: Int } { __typename }')).toEqual(['The "T" definition is not executable.'])
  })
})

describe('11 variables', () => {
  const byKey = 'query($id: Int!) { accountByPk(id: $id) { email } }'
  const filtered = 'query($f: AccountFilter) { accountCollection(filter: $f) { edges { node { id } } } }'
  const ids = (data: { accountCollection: { edges: { node: { id: number } }[] } }) =>
    data.accountCollection.edges.map(({ node }) => node.id)

  it('reads a value, refuses one that is absent, null or of another type', async () => {
    expect(await ask(byKey, { id: 1 })).toEqual({ accountByPk: { email: 'a@x.io' } })
    expect(await refused(byKey)).toEqual(['Variable "$id" of required type "Int!" was not provided.'])
    expect(await refused(byKey, { id: null })).toEqual(['Variable "$id" of non-null type "Int!" must not be null.'])
    expect(await refused(byKey, { id: '1' })).toEqual([
      'Variable "$id" got invalid value "1"; Int cannot represent non-integer value: "1"',
    ])
    expect(await refused(byKey, { id: 3_000_000_000 })).toEqual([
      'Variable "$id" got invalid value 3000000000; Int cannot represent non 32-bit signed integer value: 3000000000',
    ])
  })
  it('names the place inside a value', async () => {
    expect(await refused(filtered, { f: { id: { eq: true } } })).toEqual([
      'Variable "$f" got invalid value true at "f.id.eq"; Int cannot represent non-integer value: true',
    ])
    expect(await refused(filtered, { f: { nope: 1, plan: { eq: 'gold' } } })).toEqual([
      'Variable "$f" got invalid value "gold" at "f.plan.eq"; Value "gold" does not exist in "Plan" enum.',
      'Variable "$f" got invalid value { nope: 1, plan: { eq: "gold" } }; Field "nope" is not defined by type "AccountFilter". Did you mean "not"?',
    ])
  })
  it('names every variable that is wrong', async () => {
    expect(await refused('query($a: Int!, $b: Int!) { add(a: $a, b: $b) }', { a: 'x' })).toEqual([
      'Variable "$a" got invalid value "x"; Int cannot represent non-integer value: "x"',
      'Variable "$b" of required type "Int!" was not provided.',
    ])
  })
  it('wraps a single value where a list is wanted', async () => {
    expect(
      ids(
        await ask('query($in: [Int!]) { accountCollection(filter: {id: {in: $in}}) { edges { node { id } } } }', {
          in: 2,
        }),
      ),
    ).toEqual([2])
    expect(
      ids(
        await ask('query($o: [AccountOrderBy!]) { accountCollection(orderBy: $o) { edges { node { id } } } }', {
          o: { id: 'DescNullsLast' },
        }),
      ),
    ).toEqual([3, 2, 1])
    expect(await ask('query($n: [Int]!) { sumOf(numbers: $n) }', { n: 4 })).toEqual({ sumOf: 4 })
    expect(await ask('{ sumOf(numbers: 4) }')).toEqual({ sumOf: 4 })
  })
  it('wants the exact type for orderBy', async () => {
    expect(await refused('query($d: [AccountOrderBy]) { accountCollection(orderBy: $d) { totalCount } }')).toEqual([
      'Variable "$d" of type "[AccountOrderBy]" used in position expecting type "[AccountOrderBy!]".',
    ])
  })
  it('refuses variables that are undeclared, unused, declared twice or of unknown types', async () => {
    expect(await refused('query Q { add(a: $x) }', { x: 1 })).toEqual([
      'Variable "$x" is not defined by operation "Q".',
    ])
    expect(await refused('{ add(a: $x) }', { x: 1 })).toEqual(['Variable "$x" is not defined.'])
    expect(await refused('query Q($x: Int) { add(a: 1) }')).toEqual(['Variable "$x" is never used in operation "Q".'])
    expect(await refused('query($x: Int) { add(a: 1) }')).toEqual(['Variable "$x" is never used.'])
    expect(await refused('query($a: Int!, $a: Int!) { add(a: $a) }', { a: 1 })).toContain(
      'There can be only one variable named "$a".',
    )
    expect(await refused('query($a: Qqqqqq) { add(a: 1, b: $a) }')).toContain('Unknown type "Qqqqqq".')
    expect(await refused('query($a: Account) { add(a: 1, b: $a) }')).toContain(
      'Variable "$a" cannot be non-input type "Account".',
    )
    expect(await refused('query($a: Int!) { accountByPk(id: 1) { id } }', { a: 1 })).toEqual([
      'Variable "$a" is never used.',
    ])
  })
  it('reads integers beyond 2^53 without losing digits', async () => {
    const query = 'query($big: BigInt) { accountCollection(filter: {big: {eq: $big}}) { edges { node { id big } } } }'
    const found = [{ node: { id: 1, big: '9007199254740993' } }]
    expect((await ask(query, { big: 9007199254740993n })).accountCollection.edges).toEqual(found)
    expect((await ask(query, { big: '9007199254740993' })).accountCollection.edges).toEqual(found)
    expect(
      (await ask('{ accountCollection(filter: {big: {eq: 9007199254740993}}) { edges { node { id big } } } }'))
        .accountCollection.edges,
    ).toEqual(found)
    expect(
      (await ask('{ accountCollection(filter: {big: {eq: 9007199254740992}}) { edges { node { id big } } } }'))
        .accountCollection.edges,
    ).toEqual([])
  })
  it('shares one statement between values and not between shapes', async () => {
    const names = async (variables: Record<string, unknown>) => {
      await ask(filtered, variables)
      return service.exchanges.at(-1)?.statements[0]?.name
    }
    const one = await names({ f: { id: { eq: 1 } } })
    expect(await names({ f: { id: { eq: 2 } } })).toBe(one)
    expect(await names({ f: { email: { eq: 'x' } } })).not.toBe(one)
    expect(ids(await ask(filtered, { f: null }))).toEqual([1, 2, 3])
    expect(ids(await ask(filtered))).toEqual([1, 2, 3])
    expect(ids(await ask(filtered, { f: { id: { eq: null } } }))).toEqual([])
  })
  it('is not confused by variables and values named like members of objects', async () => {
    expect(
      await ask(
        'query($__proto__: Int, $constructor: Int, $toString: Int) { a: add(a: 1, b: $__proto__) b: add(a: 1, b: $constructor) c: add(a: 1, b: $toString) }',
      ),
    ).toEqual({ a: 11, b: 11, c: 11 })
    expect(await ask('query($constructor: Int) { add(a: 1, b: $constructor) }', { constructor: 3 })).toEqual({ add: 4 })
    const proto = JSON.parse('{"f": {"__proto__": {"eq": 1}}}')
    expect(await refused(filtered, proto)).toEqual([
      expect.stringMatching(/Field "__proto__" is not defined by type "AccountFilter"\.$/),
    ])
    const data = await ask('{ __proto__: accountByPk(id: 1) { constructor: id __proto__: email } }')
    expect(JSON.stringify(data)).toBe('{"__proto__":{"constructor":1,"__proto__":"a@x.io"}}')
  })
})

describe('11 directives', () => {
  it('holds on fragment spreads, inline fragments and at every level', async () => {
    const query = `query($on: Boolean!) {
      accountByPk(id: 1) {
        id
        ...Email @include(if: $on)
        ... @skip(if: $on) { plan }
        ... on Account @include(if: $on) { big }
        postCollection { edges @include(if: $on) { node { id title @skip(if: $on) } } pageInfo @skip(if: $on) { hasNextPage } }
      }
    }
    fragment Email on Account { email }`
    expect((await ask(query, { on: true })).accountByPk).toEqual({
      id: 1,
      email: 'a@x.io',
      big: '9007199254740993',
      postCollection: { edges: [{ node: { id: 10 } }, { node: { id: 11 } }] },
    })
    expect((await ask(query, { on: false })).accountByPk).toEqual({
      id: 1,
      plan: 'free',
      postCollection: { pageInfo: { hasNextPage: false } },
    })
  })
  it('validates what is skipped and refuses other directives', async () => {
    expect(await refused('{ __typename nope @skip(if: true) }')).toEqual([
      'Cannot query field "nope" on type "Query". Did you mean "node"?',
    ])
    expect(await refused('{ add(a: 1) @foo }')).toEqual(['Unknown directive "@foo".'])
    expect(await refused('{ add(a: 1) @skip }')).toEqual([
      'Directive "@skip" argument "if" of type "Boolean!" is required, but it was not provided.',
    ])
    expect(await refused('{ add(a: 1) @skip(unless: true) }')).toContain(
      'Unknown argument "unless" on directive "@skip".',
    )
    expect(await refused('{ add(a: 1) @include(if: true) @include(if: true) }')).toEqual([
      'The directive "@include" can only be used once at this location.',
    ])
    expect(await refused('query @skip(if: true) { add(a: 1) }')).toEqual([
      'Directive "@skip" may not be used on QUERY.',
    ])
    expect(await refused('{ add(a: 1) @skip(if: "true") }')).toEqual([
      'Boolean cannot represent a non boolean value: "true"',
    ])
  })
})

describe('11 fragments', () => {
  it('refuses what the specification refuses', async () => {
    expect(await refused('{ ...F }')).toEqual(['Unknown fragment "F".'])
    expect(await refused('{ add(a: 1) } fragment F on Account { id }')).toEqual(['Fragment "F" is never used.'])
    expect(
      await refused('{ accountByPk(id: 1) { ...A } } fragment A on Account { ...B } fragment B on Account { ...A }'),
    ).toContain('Cannot spread fragment "A" within itself via "B".')
    expect(await refused('{ accountByPk(id: 1) { ...A } } fragment A on Account { id ...A }')).toContain(
      'Cannot spread fragment "A" within itself.',
    )
    expect(await refused('{ accountByPk(id: 1) { ...F } } fragment F on Post { id }')).toEqual([
      'Fragment "F" cannot be spread here as objects of type "Account" can never be of type "Post".',
    ])
    expect(await refused('{ accountByPk(id: 1) { ... on Post { id } } }')).toEqual([
      'Fragment cannot be spread here as objects of type "Account" can never be of type "Post".',
    ])
    expect(await refused('{ accountByPk(id: 1) { ... on Int { id } } }')).toEqual([
      'Fragment cannot condition on non composite type "Int".',
    ])
    expect(await refused('{ accountByPk(id: 1) { ... on Qqqqqq { id } } }')).toContain('Unknown type "Qqqqqq".')
    expect(await refused('{ ...F } fragment F on Query { add(a: 1) } fragment F on Query { add(a: 2) }')).toContain(
      'There can be only one fragment named "F".',
    )
  })
})

describe('11 merging', () => {
  it('refuses different fields and different arguments under one name', async () => {
    const hint = 'Use different aliases on the fields to fetch both if this was intentional.'
    expect(await refused('{ accountByPk(id: 1) { email: id email } }')).toEqual([
      `Fields "email" conflict because "id" and "email" are different fields. ${hint}`,
    ])
    expect(await refused('{ add(a: 1) add(a: 2) }')).toEqual([
      `Fields "add" conflict because they have differing arguments. ${hint}`,
    ])
    expect(await refused('query($x: Int!, $y: Int!) { add(a: $x) add(a: $y) }', { x: 1, y: 1 })).toEqual([
      `Fields "add" conflict because they have differing arguments. ${hint}`,
    ])
    expect(await refused('{ ...A ...B } fragment A on Query { add(a: 1) } fragment B on Query { add(a: 2) }')).toEqual([
      `Fields "add" conflict because they have differing arguments. ${hint}`,
    ])
    expect(
      await refused(
        '{ accountByPk(id: 1) { postCollection { edges { node { x: id } } } } accountByPk(id: 1) { postCollection { edges { node { x: title } } } } }',
      ),
    ).toEqual([
      `Fields "accountByPk" conflict because subfields "postCollection" conflict because subfields "edges" conflict because subfields "node" conflict because subfields "x" conflict because "id" and "title" are different fields. ${hint}`,
    ])
  })
})

describe('14.2 the reference wording', () => {
  const account = (selection: string) => `{ accountByPk(id: 1) { ${selection} } }`
  const where = (filter: string) => `{ accountCollection(filter: ${filter}) { totalCount } }`

  it.each<readonly [what: string, query: string, ...messages: string[]]>([
    ['unknown field', account('emial'), 'Cannot query field "emial" on type "Account". Did you mean "email"?'],
    ['unknown field without a neighbour', account('qqqqqqqq'), 'Cannot query field "qqqqqqqq" on type "Account".'],
    ['unknown root field', '{ zzzzzzzz }', 'Cannot query field "zzzzzzzz" on type "Query".'],
    ['unknown mutation', 'mutation { zzzzzzzz }', 'Cannot query field "zzzzzzzz" on type "Mutation".'],
    [
      'unknown member of a connection',
      '{ accountCollection { nodes { id } } }',
      'Cannot query field "nodes" on type "AccountConnection". Did you mean "edges"?',
    ],
    [
      'totalCount that is off',
      '{ postCollection { totalCount } }',
      'Cannot query field "totalCount" on type "PostConnection".',
    ],
    [
      'aggregate that is off',
      '{ accountCollection { aggregate { count } } }',
      'Cannot query field "aggregate" on type "AccountConnection".',
    ],
    [
      'concrete field on an interface',
      '{ node(nodeId: "x") { email } }',
      'Cannot query field "email" on type "Node". Did you mean to use an inline fragment on "Account"?',
    ],
    [
      'field of two types on an interface',
      '{ node(nodeId: "x") { id } }',
      'Cannot query field "id" on type "Node". Did you mean to use an inline fragment on "Account" or "Post"?',
    ],
    [
      'string for enum',
      where('{plan: {eq: "free"}}'),
      'Enum "Plan" cannot represent non-enum value: "free". Did you mean the enum value "free"?',
    ],
    ['unknown enum word', where('{plan: {eq: gold}}'), 'Value "gold" does not exist in "Plan" enum.'],
    ['string for Int', '{ add(a: "1") }', 'Int cannot represent non-integer value: "1"'],
    [
      'Int beyond 32 bits',
      '{ add(a: 3000000000) }',
      'Int cannot represent non 32-bit signed integer value: 3000000000',
    ],
    ['number for String', where('{email: {eq: 5}}'), 'String cannot represent a non string value: 5'],
    ['string for Boolean', where('{active: {eq: "t"}}'), 'Boolean cannot represent a non boolean value: "t"'],
    ['string for Float', where('{ratio: {eq: "1.5"}}'), 'Float cannot represent non numeric value: "1.5"'],
    ['null for NonNull', '{ add(a: null) }', 'Expected value of type "Int!", found null.'],
    ['no object', where('" x "'), 'Expected value of type "AccountFilter", found " x ".'],
    [
      'unknown input field',
      'mutation { insertIntoAccountCollection(objects: [{k: 1}]) { affectedCount } }',
      'Field "k" is not defined by type "AccountInsertInput".',
    ],
    ['duplicate input field', where('{id: {eq: 1, eq: 2}}'), 'There can be only one input field named "eq".'],
    [
      'duplicate argument',
      '{ accountCollection(first: 1, first: 2) { totalCount } }',
      'There can be only one argument named "first".',
    ],
    ['missing argument', '{ add }', 'Field "add" argument "a" of type "Int!" is required, but it was not provided.'],
    [
      'missing key',
      '{ accountByPk { id } }',
      'Field "accountByPk" argument "id" of type "Int!" is required, but it was not provided.',
    ],
    [
      'unknown argument',
      '{ accountCollection(uuuuuuu: 1) { totalCount } }',
      'Unknown argument "uuuuuuu" on field "Query.accountCollection".',
    ],
    [
      'selection on a scalar',
      account('id { x }'),
      'Field "id" must not have a selection since type "Int!" has no subfields.',
    ],
    [
      'no selection on an object',
      '{ accountByPk(id: 1) }',
      'Field "accountByPk" of type "Account" must have a selection of subfields. Did you mean "accountByPk { ... }"?',
    ],
    ['null in a list of NonNull', where('{id: {in: [1, null]}}'), 'Expected value of type "Int!", found null.'],
    [
      'introspection that is off',
      '{ __schema { description } }',
      'GraphQL introspection has been disabled, but the requested query contained the field "__schema".',
    ],
    [
      'introspection of a type that is off',
      '{ __type(name: "Account") { name } }',
      'GraphQL introspection has been disabled, but the requested query contained the field "__type".',
    ],
  ])('is used: %s', async (_, query, ...messages) => {
    expect(await refused(query)).toEqual(messages)
  })
  it('lists every problem with its place and code, and sends no statement', async () => {
    service.exchanges.length = 0
    const answer = await service.graphql(
      'query Q($x: Int) {\n  zzzzzzzz\n  add(a: "1")\n}\nfragment F on Account { id }',
    )
    expect(answer).toEqual({
      data: null,
      errors: [
        {
          message: 'Cannot query field "zzzzzzzz" on type "Query".',
          locations: [{ line: 2, column: 3 }],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
        {
          message: 'Int cannot represent non-integer value: "1"',
          locations: [{ line: 3, column: 10 }],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
        {
          message: 'Variable "$x" is never used in operation "Q".',
          locations: [{ line: 1, column: 9 }],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
        {
          message: 'Fragment "F" is never used.',
          locations: [{ line: 5, column: 1 }],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
      ],
    })
    expect(service.exchanges.flatMap(({ statements }) => statements)).toEqual([])
  })
})

describe('14.1 the texts that existing clients know', () => {
  const page = (args: string) => `{ accountCollection(${args}) { edges { node { id } } } }`
  const where = (filter: string) => page(`filter: ${filter}`)

  it.each<readonly [query: string, message: string]>([
    [where('{born: {eq: 5}}'), 'Invalid input for Date type'],
    [where('{clock: {eq: 5}}'), 'Invalid input for Time type'],
    [where('{seen: {eq: true}}'), 'Invalid input for Datetime type'],
    [where('{token: {eq: 5}}'), 'Invalid input for UUID type'],
    [where('{big: {eq: true}}'), 'Invalid input for BigInt type'],
    [where('{amount: {eq: 5}}'), 'Invalid input for BigFloat type. String required'],
    [page('after: 5'), 'Invalid input for Cursor type'],
    [
      'mutation { insertIntoAccountCollection(objects: [{settings: {a: 1}}]) { affectedCount } }',
      'Invalid input for JSON type',
    ],
    [
      'mutation { insertIntoAccountCollection(objects: [{range: [1]}]) { affectedCount } }',
      'Unexpected array in input value array',
    ],
    [
      'mutation { insertIntoAccountCollection(objects: [{range: {a: 1}}]) { affectedCount } }',
      'Unexpected object in input value',
    ],
    [where('{id: {is: null}}'), 'Error transpiling Is filter value type'],
    [page('first: -1'), '`first` must be an unsigned integer'],
    [page('first: 1, before: "WzFd"'), '"first" may only be used with "after"'],
    [page('after: "?"'), 'Failed to decode cursor, error 1'],
    [page('after: "WzEsIDRd"'), 'orderBy clause incompatible with pagination cursor'],
    ['{ node(nodeId: "?") { nodeId } }', 'Invalid value passed to nodeId argument. Error 2'],
    [
      `{ node(nodeId: "${Buffer.from('["public", "nope", 1]').toString('base64')}") { nodeId } }`,
      'Collection referenced by nodeId did not match any known collection',
    ],
    [where('{born: {eq: "yesterdayish"}}'), 'invalid input syntax for type date: "yesterdayish"'],
    [where('{token: {eq: "5"}}'), 'invalid input syntax for type uuid: "5"'],
    [where('{amount: {eq: "x"}}'), 'invalid input syntax for type numeric: "x"'],
    [where('{email: {regex: "("}}'), 'invalid regular expression: parentheses () not balanced'],
  ])('is used: %s', async (query, message) => {
    expect(await refused(query)).toEqual([message])
  })
})

describe('15 response', () => {
  it('has null data and errors on every failure, never partial data', async () => {
    const { body, outcome } = await service.serve('{ accountByPk(id: 1) { id } add(a: 2147483647, b: 1) }')
    expect(body).toBe(
      '{"data":null,"errors":[{"message":"integer out of range","extensions":{"code":"DATABASE_REFUSED","sqlstate":"22003"}}]}',
    )
    expect(outcome).toBe('failed')
  })
  it('answers a persisted hash without a query by a clear code', async () => {
    const answer = await service.graphql(null)
    expect(answer.errors?.[0]?.extensions.code).toBe('PERSISTED_QUERY_NOT_SUPPORTED')
  })
})
