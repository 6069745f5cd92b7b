import { describe, expect, test } from 'vitest'
import { buildView } from '../../../compiler/additions/engine.ts'
import { dataOf } from '../../support/answers.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

const many = 40
const schema = `
  create type mood as enum ('sad', 'glad');
  comment on type mood is '@graphql({"mappings": {"glad": "GLAD"}})';
  create table item (
    id int primary key, name text, price numeric(6,2), big int8, mood mood, ratio float8, seen timestamptz, on_sale bool, tags text[], doc jsonb, span interval
  );
  comment on table item is '@graphql({"totalCount": {"enabled": true}})';
  insert into item values
    (1, 'b', 0.10, 9007199254740993, 'glad', 0.1, '2024-01-01 00:00+00', true, '{a}', '{}', '1 day'),
    (2, 'a "ü" \\', 2.50, null, 'sad', 'NaN', null, false, null, null, null),
    (3, null, null, -1, null, 1e300, null, null, null, null, null),
    (4, 'b', 2.50, 0, null, null, null, null, null, null, null);
  create table owner (id int primary key);
  create table thing (id int primary key, owner_id int references owner(id));
  insert into owner values (1), (2);
  insert into thing select n, 1 from generate_series(1, 3) n;
  create table many (id int primary key);
  insert into many select generate_series(1, ${many});
  create table few (id int primary key);
  comment on table few is '@graphql({"max_rows": 2})';
  insert into few select generate_series(1, 5);
  create view few_view as select * from few;
  comment on view few_view is '@graphql({"primary_key_columns": ["id"]})';
  create view limited_view as select * from few;
  comment on view limited_view is '@graphql({"primary_key_columns": ["id"], "max_rows": 3})';
  create view holes as select * from (values (null::int, 'x'), (1, 'y'), (2, 'z')) v(id, name);
  comment on view holes is '@graphql({"primary_key_columns": ["id"], "totalCount": {"enabled": true}})';
  create table composite (b int, a int, c int, primary key (c, b));
  insert into composite values (1, 0, 2), (2, 0, 1);
  create table extreme (
    id int primary key, big int8, flag bool, day date, clock time, moment timestamptz, local timestamp, code uuid
  );
  insert into extreme values
    (-2147483648, -9223372036854775808, false, '5874897-12-31', '23:59:59.999999', '294276-12-31 23:59:59.999999+00',
      '294276-12-31 23:59:59.999999', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    (2147483647, 9223372036854775807, true, '4713-01-01 BC', '24:00', '4713-12-31 23:59:59.999999+00 BC',
      '4713-12-31 23:59:59.999999 BC', '00000000-0000-0000-0000-000000000000');
  create table one (id int primary key);
  insert into one values (1);
  create table "none" (id int primary key);
  create function things() returns setof thing stable language sql as 'select * from thing';
  grant all on all tables in schema public to anon;
`

const service = forSuite(createTestService, { sql: schema })

const ask = async (query: string, variables: Record<string, unknown> = {}) =>
  dataOf(await service.graphql(query, { variables }))
const refusal = async (query: string, variables: Record<string, unknown> = {}): Promise<readonly string[]> => {
  const { data, errors } = await service.graphql(query, { variables })
  expect(data).toBeNull()
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_ARGUMENT'])
  return (errors ?? []).map(({ message }) => message)
}
/** Ids of a page. */
const page = async (
  args: string,
  variables: Record<string, unknown> = {},
  table = 'many',
): Promise<readonly number[]> => {
  const names: Record<string, string> = {
    first: 'Int',
    last: 'Int',
    offset: 'Int',
    before: 'Cursor',
    after: 'Cursor',
    order: `[${table}OrderBy!]`,
  }
  const declared = Object.keys(names)
    .filter((name) => args.includes(`$${name}`))
    .map((name) => `$${name}: ${names[name]}`)
  const head = declared.length === 0 ? '' : `query (${declared.join(', ')}) `
  const data = await ask(
    `${head}{ ${table}Collection${args === '' ? '' : `(${args})`} { edges { node { id } } } }`,
    variables,
  )
  return data[`${table}Collection`].edges.map(({ node }: any) => node.id)
}
const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
const cursor = (...values: unknown[]): string =>
  Buffer.from(`[${values.map((value) => JSON.stringify(value)).join(', ')}]`).toString('base64')

describe('5.1 shape', () => {
  test('has fields and arguments in their order', async () => {
    const schema = buildView((await service.revision()).manifest, 'anon').complete()
    const shape = (name: string) =>
      Object.values((schema.getType(name) as any).getFields()).map((field: any) => [field.name, String(field.type)])
    expect(shape('itemConnection')).toEqual([
      ['edges', '[itemEdge!]!'],
      ['pageInfo', 'PageInfo!'],
      ['totalCount', 'Int!'],
    ])
    expect(shape('oneConnection')).toEqual([
      ['edges', '[oneEdge!]!'],
      ['pageInfo', 'PageInfo!'],
    ])
    expect(shape('itemEdge')).toEqual([
      ['cursor', 'String!'],
      ['node', 'item!'],
    ])
    expect(shape('PageInfo')).toEqual([
      ['endCursor', 'String'],
      ['hasNextPage', 'Boolean!'],
      ['hasPreviousPage', 'Boolean!'],
      ['startCursor', 'String'],
    ])
    const query = schema.getQueryType()?.getFields() ?? {}
    expect(String(query['thingCollection']?.type)).toBe('thingConnection!')
    expect(String(query['things']?.type)).toBe('thingConnection')
    const owner = (schema.getType('owner') as any).getFields()
    expect(String(owner.thingCollection.type)).toBe('thingConnection')
    for (const field of [query['thingCollection'], query['things'], owner.thingCollection]) {
      expect(field.args.map((argument: any) => [argument.name, String(argument.type)])).toEqual([
        ['first', 'Int'],
        ['last', 'Int'],
        ['before', 'Cursor'],
        ['after', 'Cursor'],
        ['offset', 'Int'],
        ['filter', 'thingFilter'],
        ['orderBy', '[thingOrderBy!]'],
      ])
    }
  })
})

describe('5.2 argument checks, in evaluation order', () => {
  const first = '`first` must be an unsigned integer'
  const last = '`last` must be an unsigned integer'
  const offset = '`offset` must be an unsigned integer'
  const decoding = (step: number): string => `Failed to decode cursor, error ${step}`
  const bothSizes = 'only one of "first" and "last" may be provided'
  const bothCursors = 'only one of "before" and "after" may be provided'
  const firstBefore = '"first" may only be used with "after"'
  const lastAfter = '"last" may only be used with "before"'
  const offsetWith = '"offset" may only be used with "first" and "after"'
  const tooLong = 'orderBy clause incompatible with pagination cursor'
  const ok = cursor(1)
  const long = cursor(1, 2)
  const bad = {
    notBase64: 'x',
    unpadded: 'WzFd'.slice(0, 3),
    urlSafe: Buffer.from('["?>?>"]').toString('base64url'),
    spaced: 'WzFd ',
    notUtf8: Buffer.from([0x5b, 0xff, 0x5d]).toString('base64'),
    notJson: Buffer.from('[1').toString('base64'),
    empty: '',
    notArray: Buffer.from('{"a": 1}').toString('base64'),
  }
  type Arguments = Record<string, number | string | null>
  const cases: readonly (readonly [Arguments, string])[] = [
    [{ first: -1 }, first],
    [{ last: -1 }, last],
    [{ offset: -1 }, offset],
    [{ first: -1, last: -1, offset: -1 }, first],
    [{ last: -1, offset: -1 }, last],
    [{ first: -1, after: bad.notBase64 }, first],
    [{ offset: -1, last: 1, before: bad.notBase64 }, offset],
    [{ after: bad.notBase64 }, decoding(1)],
    [{ after: bad.unpadded }, decoding(1)],
    [{ after: bad.urlSafe }, decoding(1)],
    [{ after: bad.spaced }, decoding(1)],
    [{ before: bad.notUtf8 }, decoding(2)],
    [{ after: bad.notJson }, decoding(3)],
    [{ after: bad.empty }, decoding(3)],
    [{ after: bad.notArray }, decoding(4)],
    [{ before: bad.notUtf8, after: bad.notArray }, decoding(2)],
    [{ first: 1, last: 1, before: bad.notJson }, decoding(3)],
    [{ first: 1, last: 1 }, bothSizes],
    [{ first: 1, last: 1, before: ok, after: ok }, bothSizes],
    [{ before: ok, after: ok }, bothCursors],
    [{ first: 1, before: ok, after: ok }, bothCursors],
    [{ first: 1, before: ok }, firstBefore],
    [{ first: 1, before: ok, offset: 1 }, firstBefore],
    [{ last: 1, after: ok }, lastAfter],
    [{ last: 1, after: ok, offset: 1 }, lastAfter],
    [{ last: 1, offset: 1 }, offsetWith],
    [{ before: ok, offset: 1 }, offsetWith],
    [{ last: 1, offset: 1, before: long }, offsetWith],
    [{ after: long }, tooLong],
    [{ first: 1, after: long }, tooLong],
    [{ last: 1, before: long }, tooLong],
  ]

  test.each(cases)('are made in order: %j', async (args, message) => {
    const literal = Object.entries(args)
      .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
      .join(', ')
    expect(await refusal(`{ manyCollection(${literal}) { edges { cursor } } }`)).toEqual([message])
    const query = `query ($first: Int, $last: Int, $before: Cursor, $after: Cursor, $offset: Int) {
      manyCollection(first: $first, last: $last, before: $before, after: $after, offset: $offset) { edges { cursor } }
    }`
    expect(await refusal(query, args)).toEqual([message])
  })

  test('a known statement does not avoid the check', async () => {
    const query =
      'query ($first: Int, $after: Cursor, $offset: Int) { manyCollection(first: $first, after: $after, offset: $offset) { edges { cursor } } }'
    await ask(query, { first: 1, after: ok, offset: 1 })
    expect(await refusal(query, { first: 1, after: ok, offset: -1 })).toEqual([offset])
    expect(await refusal(query, { first: 1, after: bad.notJson, offset: 1 })).toEqual([decoding(3)])
  })

  test('a skipped field does not look at its arguments', async () => {
    const query = `query ($after: Cursor, $skip: Boolean!) { oneCollection { edges { node { id } } } manyCollection(after: $after) @skip(if: $skip) { edges { cursor } } }`
    expect(await ask(query, { after: 'x', skip: true })).toEqual({ oneCollection: { edges: [{ node: { id: 1 } }] } })
    expect(await refusal(query, { after: 'x', skip: false })).toEqual([decoding(1)])
  })

  test('null equals absent: all may be declared and one pair sent', async () => {
    const args = 'first: $first, last: $last, before: $before, after: $after, offset: $offset'
    const nothing = { first: null, last: null, before: null, after: null, offset: null }
    expect(await page(args, nothing)).toEqual(range(1, 30))
    expect(await page(args)).toEqual(range(1, 30))
    expect(await page(args, { ...nothing, first: 2, after: cursor(5) })).toEqual([6, 7])
    expect(await page(args, { ...nothing, last: 2, before: cursor(5) })).toEqual([3, 4])
    expect(await page(args, { ...nothing, first: 2, after: cursor(5), offset: 3 })).toEqual([9, 10])
    expect(await page('first: null, last: 1, before: null, after: null, offset: null')).toEqual([40])
  })
})

describe('5.3 page size', () => {
  test('is what is asked for, up to max_rows', async () => {
    expect(await page('')).toEqual(range(1, 30))
    expect(await page('first: 3')).toEqual([1, 2, 3])
    expect(await page('first: 1000')).toEqual(range(1, 30))
    expect(await page('first: 2147483647')).toEqual(range(1, 30))
    expect(await page('last: 3')).toEqual([38, 39, 40])
    expect(await page('last: 1000')).toEqual(range(11, 40))
    expect(await page('first: 0')).toEqual([])
    expect(await page('last: 0')).toEqual([])
    expect(await page(`before: "${cursor(35)}"`)).toEqual(range(5, 34))
    expect(await page('offset: 35')).toEqual(range(36, 40))
    expect(await page('first: 2, offset: 100')).toEqual([])
  })

  test('the setting of the table or view, never that of what lies below', async () => {
    expect(await page('first: 9', {}, 'few')).toEqual([1, 2])
    expect(await page('last: 9', {}, 'few')).toEqual([4, 5])
    expect(await page('first: 9', {}, 'few_view')).toEqual([1, 2, 3, 4, 5])
    expect(await page('', {}, 'limited_view')).toEqual([1, 2, 3])
  })
})

describe('5.4 order', () => {
  const order = (orderBy: string): Promise<readonly number[]> => page(`orderBy: ${orderBy}`, {}, 'item')
  test.each<[string, readonly number[]]>([
    ['[{ price: AscNullsFirst }]', [3, 1, 2, 4]],
    ['[{ price: AscNullsLast }]', [1, 2, 4, 3]],
    ['[{ price: DescNullsFirst }]', [3, 2, 4, 1]],
    ['[{ price: DescNullsLast }]', [2, 4, 1, 3]],
    ['[{ price: DescNullsLast }, { id: DescNullsLast }]', [4, 2, 1, 3]],
    ['[{ name: AscNullsLast }, { price: DescNullsLast }]', [2, 4, 1, 3]],
    ['{ id: DescNullsLast }', [4, 3, 2, 1]],
    ['[{ name: AscNullsLast, price: DescNullsLast }]', [2, 4, 1, 3]],
    ['[{ price: DescNullsLast, name: AscNullsLast }]', [2, 4, 1, 3]],
    ['[{ name: null }, { id: DescNullsLast }]', [4, 3, 2, 1]],
    ['[{ id: DescNullsLast }, { id: AscNullsLast }]', [4, 3, 2, 1]],
    ['[]', [1, 2, 3, 4]],
    ['[{}]', [1, 2, 3, 4]],
    ['null', [1, 2, 3, 4]],
    ['[{ mood: DescNullsLast }]', [1, 2, 3, 4]],
    ['[{ span: AscNullsFirst }]', [2, 3, 4, 1]],
  ])('has as its result: %s', async (orderBy, expected) => {
    expect(await order(orderBy)).toEqual(expected)
  })

  test('a null element is an error', async () => {
    const { errors } = await service.graphql('{ itemCollection(orderBy: [null]) { edges { cursor } } }')
    expect(errors?.map(({ message }) => message)).toEqual(['Expected value of type "itemOrderBy!", found null.'])
  })

  test('is offered for columns that can be sorted', async () => {
    const type = buildView((await service.revision()).manifest, 'anon')
      .complete()
      .getType('itemOrderBy') as any
    expect(Object.entries(type.getFields()).map(([name, { type: of }]: any) => [name, String(of)])).toEqual(
      ['id', 'name', 'price', 'big', 'mood', 'ratio', 'seen', 'on_sale', 'span'].map((name) => [
        name,
        'OrderByDirection',
      ]),
    )
  })
})

describe('5.5 cursor bytes', () => {
  const cursors = async (args: string, table = 'item'): Promise<readonly string[]> => {
    const data = await ask(`{ ${table}Collection${args} { edges { cursor } } }`)
    return data[`${table}Collection`].edges.map((edge: any) => edge.cursor)
  }
  const decoded = async (args: string): Promise<readonly string[]> =>
    (await cursors(args)).map((text) => Buffer.from(text, 'base64').toString())

  test('are those of the examples', async () => {
    expect(await cursors('(first: 1)')).toEqual(['WzFd'])
    expect((await cursors('(orderBy: { id: DescNullsLast })')).at(-1)).toBe('WzEsIDFd')
    expect(cursor(1, 4)).toBe('WzEsIDRd')
    expect((await cursors('(orderBy: { id: AscNullsLast }, first: 1, filter: { id: { eq: 4 } })'))[0]).toBe(
      cursor(4, 4),
    )
  })

  test.each<[string, readonly string[]]>([
    ['price', ['[0.10, 1]', '[2.50, 2]', '[2.50, 4]', '[null, 3]']],
    ['big', ['[-1, 3]', '[0, 4]', '[9007199254740993, 1]', '[null, 2]']],
    ['mood', ['["sad", 2]', '["glad", 1]', '[null, 3]', '[null, 4]']],
    ['name', ['["a \\"ü\\" \\\\", 2]', '["b", 1]', '["b", 4]', '[null, 3]']],
    ['on_sale', ['[false, 2]', '[true, 1]', '[null, 3]', '[null, 4]']],
    ['seen', ['["2024-01-01T00:00:00+00:00", 1]', '[null, 2]', '[null, 3]', '[null, 4]']],
    ['ratio', ['[0.1, 1]', `[1${'0'.repeat(300)}, 3]`, '["NaN", 2]', '[null, 4]']],
    ['span', ['["1 day", 1]', '[null, 2]', '[null, 3]', '[null, 4]']],
  ])('show the text of %s', async (column, expected) => {
    expect(await decoded(`(orderBy: { ${column}: AscNullsLast })`)).toEqual(expected)
  })

  test('no line breaks, with padding', async () => {
    const all = await cursors('(orderBy: [{ ratio: AscNullsLast }])')
    expect(all.every((text) => /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0)).toBe(true)
    expect(all[1]?.length).toBeGreaterThan(400)
  })

  test('no line breaks, however long the values of two columns are', async () => {
    const columns = ['big', 'flag', 'day', 'clock', 'moment', 'local', 'code']
    for (const [first, second] of columns.flatMap((column) => columns.map((other) => [column, other]))) {
      const all = await cursors(`(orderBy: [{ ${first}: AscNullsLast }, { ${second}: AscNullsLast }])`, 'extreme')
      expect([first, second, ...all.map((text) => /^[A-Za-z0-9+/]+={0,2}$/.test(text))]).toEqual([
        first,
        second,
        true,
        true,
      ])
    }
  })

  test('elements may be written as texts', async () => {
    expect(await page(`orderBy: { price: AscNullsLast }, after: "${cursor('2.50', '2')}"`, {}, 'item')).toEqual([4, 3])
  })

  test('are refused in the words of Postgres where it cannot read them', async () => {
    const { data, errors } = await service.graphql(`{ itemCollection(after: "${cursor('x')}") { edges { cursor } } }`)
    expect([data, errors?.[0]?.message]).toEqual([null, 'invalid input syntax for type integer: "x"'])
  })
})

describe('5.7 page info', () => {
  const info = 'pageInfo { startCursor endCursor hasNextPage hasPreviousPage }'
  const pageInfo = async (args: string, table = 'many', beside = ''): Promise<unknown> => {
    const data = await ask(`{ ${table}Collection(${args}) { ${beside} ${info} } }`)
    return data[`${table}Collection`].pageInfo
  }
  const told = (start: number | null, end: number | null, hasNextPage: boolean, hasPreviousPage: boolean) => ({
    startCursor: start === null ? null : cursor(start),
    endCursor: end === null ? null : cursor(end),
    hasNextPage,
    hasPreviousPage,
  })
  const after = (id: number): string => `after: "${cursor(id)}"`
  const before = (id: number): string => `before: "${cursor(id)}"`

  const cases: readonly (readonly [string, ReturnType<typeof told>])[] = [
    ['first: 3', told(1, 3, true, false)],
    ['first: 30', told(1, 30, true, false)],
    [`first: 3, ${after(3)}`, told(4, 6, true, true)],
    [`first: 3, ${after(37)}`, told(38, 40, false, true)],
    [`first: 3, ${after(36)}`, told(37, 39, true, true)],
    [`first: 3, ${after(38)}`, told(39, 40, false, true)],
    [`first: 3, ${after(40)}`, told(null, null, false, false)],
    [`first: 3, ${after(99)}`, told(null, null, false, false)],
    [`first: 3, ${after(0)}`, told(1, 3, true, false)],
    [`first: 3, ${after(-5)}`, told(1, 3, true, false)],
    [`${after(20)}`, told(21, 40, false, true)],
    ['first: 3, offset: 0', told(1, 3, true, false)],
    ['first: 3, offset: 2', told(3, 5, true, true)],
    ['first: 3, offset: 37', told(38, 40, false, true)],
    ['first: 3, offset: 40', told(null, null, false, false)],
    [`first: 3, ${after(3)}, offset: 2`, told(6, 8, true, true)],
    ['first: 0', told(null, null, true, false)],
    [`first: 0, ${after(3)}`, told(null, null, true, false)],
    [`first: 0, ${after(40)}`, told(null, null, false, false)],
    ['first: 0, offset: 40', told(null, null, false, false)],
    ['last: 3', told(38, 40, false, true)],
    [`last: 3, ${before(38)}`, told(35, 37, true, true)],
    [`last: 3, ${before(4)}`, told(1, 3, true, false)],
    [`last: 3, ${before(5)}`, told(2, 4, true, true)],
    [`last: 3, ${before(3)}`, told(1, 2, true, false)],
    [`last: 3, ${before(1)}`, told(null, null, false, false)],
    [`last: 3, ${before(99)}`, told(38, 40, false, true)],
    [`${before(20)}`, told(1, 19, true, false)],
    [`${before(35)}`, told(5, 34, true, true)],
    ['last: 0', told(null, null, false, true)],
    [`last: 0, ${before(1)}`, told(null, null, false, false)],
    ['first: 3, filter: { id: { gt: 38 } }', told(39, 40, false, false)],
    ['first: 3, filter: { id: { gt: 99 } }', told(null, null, false, false)],
    ['last: 3, filter: { id: { lt: 0 } }', told(null, null, false, false)],
    [`first: 2, ${after(5)}, filter: { id: { gte: 5 } }`, told(6, 7, true, true)],
    [`first: 2, ${after(5)}, filter: { id: { gt: 5 } }`, told(6, 7, true, false)],
    [`last: 2, ${before(9)}, filter: { id: { lt: 9 } }`, told(7, 8, false, true)],
  ]
  test.each(cases)('has as its result: %s', async (args, expected) => {
    expect(await pageInfo(args)).toEqual(expected)
    for (const beside of [
      'edges { cursor }',
      'edges { node { id } }',
      'edges { node { id nodeId } } more: edges { cursor }',
    ]) {
      expect([beside, await pageInfo(args, 'many', beside)]).toEqual([beside, expected])
    }
    const { startCursor, endCursor } = expected
    const { manyCollection } = await ask(
      `{ manyCollection(${args}) { edges { cursor } pageInfo { startCursor endCursor } } }`,
    )
    expect(manyCollection.pageInfo).toEqual({ startCursor, endCursor })
  })
})

describe('5.8 other selections', () => {
  test('is unknown where it was not enabled', async () => {
    const { errors } = await service.graphql('{ manyCollection { totalCount } }')
    expect(errors?.map(({ message }) => message)).toEqual(['Cannot query field "totalCount" on type "manyConnection".'])
  })

  test('rows without a key are neither counted nor shown', async () => {
    expect(await ask('{ holesCollection { totalCount edges { node { id name } } pageInfo { hasNextPage } } }')).toEqual(
      {
        holesCollection: {
          totalCount: 2,
          edges: [{ node: { id: 1, name: 'y' } }, { node: { id: 2, name: 'z' } }],
          pageInfo: { hasNextPage: false },
        },
      },
    )
    expect(await ask('{ holesCollection(last: 1) { edges { node { name } } } }')).toEqual({
      holesCollection: { edges: [{ node: { name: 'z' } }] },
    })
  })

  test('selections that share a name are merged, and keys come in selection order', async () => {
    const query =
      '{ itemCollection(first: 1) { edges { node { name } } pageInfo { endCursor } edges { cursor node { id } } } }'
    const { body } = await service.serve(query)
    const inner = '"edges":[{"node":{"name":"b","id":1},"cursor":"WzFd"}],"pageInfo":{"endCursor":"WzFd"}'
    expect(body.replaceAll(' ', '')).toBe(`{"data":{"itemCollection":{${inner}}}}`)
  })
})
