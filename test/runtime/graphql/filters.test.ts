import { describe, expect, test } from 'vitest'
import { buildView } from '../../../compiler/additions/engine.ts'
import { scalarTable } from '../../../runtime/sql/scalars.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

const schema = `
  create schema other;
  create type mood as enum ('sad', 'ok', 'glad');
  create type other.mood as enum ('sad');
  create table item (
    id int primary key, name text, price numeric(6,2), mood mood, other_mood other.mood, tags text[], moods mood[], docs jsonb[],
    doc jsonb, bits bit(2)[], on_sale bool, code uuid, seen timestamptz
  );
  insert into item (id, name, price, mood, tags, on_sale, code) values
    (1, 'apple', 1.00, 'sad', '{a,b}', true, '00000000-0000-0000-0000-000000000001'),
    (2, 'Apricot', 2.50, 'ok', '{b,c}', false, '00000000-0000-0000-0000-000000000002'),
    (3, '50% off_', 3.00, 'glad', '{}', null, null),
    (4, null, null, null, null, null, null);
  create table logical ("and" int primary key, "or" text, "not" bool);
  insert into logical values (1, 'x', true), (2, 'y', false);
  create table other_table (id int primary key);
  create table pair (a int, b text, primary key (a, b));
  insert into pair values (1, 'x'), (1, 'y');
  grant usage on schema other to anon;
  grant all on all tables in schema public to anon;
`

const service = forSuite(createTestService, { sql: schema })

/** Ids of the rows that a filter keeps. */
const idsWith = async (query: string, variables: Record<string, unknown> = {}): Promise<readonly number[]> => {
  const { data, errors } = await service.graphql(query, { variables })
  expect(errors).toBeUndefined()
  return data.itemCollection.edges.map(({ node }: any) => node.id)
}
const ids = (filter: string): Promise<readonly number[]> =>
  idsWith(`{ itemCollection(filter: ${filter}) { edges { node { id } } } }`)
const messages = async (query: string, variables: Record<string, unknown> = {}): Promise<readonly string[]> => {
  const { data, errors } = await service.graphql(query, { variables })
  expect(data).toBeNull()
  return (errors ?? []).map(({ message }) => message)
}
const problems = (filter: string) => messages(`{ itemCollection(filter: ${filter}) { edges { node { id } } } }`)
const fieldsOf = async (name: string): Promise<Record<string, string>> => {
  const type = buildView((await service.revision()).manifest, 'anon')
    .complete()
    .getType(name) as any
  return Object.fromEntries(Object.entries(type.getFields()).map(([field, { type: of }]: any) => [field, String(of)]))
}

describe('4.1 operator sets', () => {
  const ordered = (type: string) => ({
    eq: type,
    gt: type,
    gte: type,
    in: `[${type}!]`,
    is: 'FilterIs',
    lt: type,
    lte: type,
    neq: type,
  })
  const list = (type: string) => ({
    containedBy: `[${type}!]`,
    contains: `[${type}!]`,
    eq: `[${type}!]`,
    is: 'FilterIs',
    overlaps: `[${type}!]`,
  })
  const families: readonly (readonly [string, Record<string, string>])[] = [
    ...['Int', 'Float', 'BigInt', 'BigFloat', 'Date', 'Time', 'Datetime'].map(
      (name) => [`${name}Filter`, ordered(name)] as const,
    ),
    [
      'StringFilter',
      {
        eq: 'String',
        gt: 'String',
        gte: 'String',
        ilike: 'String',
        in: '[String!]',
        iregex: 'String',
        is: 'FilterIs',
        like: 'String',
        lt: 'String',
        lte: 'String',
        neq: 'String',
        regex: 'String',
        startsWith: 'String',
      },
    ],
    ['UUIDFilter', { eq: 'UUID', in: '[UUID!]', is: 'FilterIs', neq: 'UUID' }],
    ['BooleanFilter', { eq: 'Boolean', is: 'FilterIs' }],
    ['OpaqueFilter', { eq: 'Opaque', is: 'FilterIs' }],
    ['IDFilter', { eq: 'ID' }],
    ['moodFilter', { eq: 'mood', in: '[mood!]', is: 'FilterIs', neq: 'mood' }],
    ...['Int', 'Float', 'String', 'Boolean', 'UUID', 'BigInt', 'BigFloat', 'Time', 'Date', 'Datetime'].map(
      (name) => [`${name}ListFilter`, list(name)] as const,
    ),
  ]
  test.each(families)('%s lists its operators in name order', async (name, fields) => {
    const found = await fieldsOf(name)
    expect(found).toEqual(fields)
    expect(Object.keys(found)).toEqual(Object.keys(fields).sort())
  })

  test('FilterIs has two values', async () => {
    const type = buildView((await service.revision()).manifest, 'anon')
      .complete()
      .getType('FilterIs') as any
    expect(type.getValues().map(({ name }: any) => name)).toEqual(['NULL', 'NOT_NULL'])
  })

  test('the filter of a table has its columns in their order', async () => {
    const fields = await fieldsOf('itemFilter')
    expect(fields).toEqual({
      id: 'IntFilter',
      name: 'StringFilter',
      price: 'BigFloatFilter',
      mood: 'moodFilter',
      other_mood: 'OpaqueFilter',
      tags: 'StringListFilter',
      on_sale: 'BooleanFilter',
      code: 'UUIDFilter',
      seen: 'DatetimeFilter',
      nodeId: 'IDFilter',
      and: '[itemFilter!]',
      or: '[itemFilter!]',
      not: 'itemFilter',
    })
    expect(Object.keys(fields)).toEqual([
      'id',
      'name',
      'price',
      'mood',
      'other_mood',
      'tags',
      'on_sale',
      'code',
      'seen',
      'nodeId',
      'and',
      'or',
      'not',
    ])
  })

  test('a column named and, or, not keeps its filter', async () => {
    expect(await fieldsOf('logicalFilter')).toEqual({
      and: 'IntFilter',
      or: 'StringFilter',
      not: 'BooleanFilter',
      nodeId: 'IDFilter',
    })
    const query =
      '{ logicalCollection(filter: { and: { gt: 0 }, or: { eq: "y" }, not: { eq: false } }) { edges { node { and } } } }'
    expect((await service.graphql(query)).data).toEqual({ logicalCollection: { edges: [{ node: { and: 2 } }] } })
  })

  test.each<[string, readonly number[]]>([
    ['{ id: { eq: 2 } }', [2]],
    ['{ id: { neq: 2 } }', [1, 3, 4]],
    ['{ price: { lt: "2.5" } }', [1]],
    ['{ price: { lte: "2.5" } }', [1, 2]],
    ['{ price: { gt: "2.5" } }', [3]],
    ['{ price: { gte: "2.5" } }', [2, 3]],
    ['{ id: { in: [1, 3, 9] } }', [1, 3]],
    ['{ id: { in: 3 } }', [3]],
    ['{ mood: { in: [sad, glad], neq: glad } }', [1]],
    ['{ name: { startsWith: "50%" } }', [3]],
    ['{ name: { startsWith: "_" } }', []],
    ['{ name: { like: "a%" } }', [1]],
    ['{ name: { like: "50\\\\%%" } }', [3]],
    ['{ name: { ilike: "A%" } }', [1, 2]],
    ['{ name: { regex: "^[a-z]+$" } }', [1]],
    ['{ name: { iregex: "^AP" } }', [1, 2]],
    ['{ tags: { contains: ["b"] } }', [1, 2]],
    ['{ tags: { contains: "a" } }', [1]],
    ['{ tags: { containedBy: ["a", "b"] } }', [1, 3]],
    ['{ tags: { overlaps: ["a", "c"] } }', [1, 2]],
    ['{ tags: { eq: ["b", "c"] } }', [2]],
    ['{ tags: { eq: [] } }', [3]],
    ['{ tags: { is: NULL } }', [4]],
    ['{ name: { is: NULL } }', [4]],
    ['{ name: { is: NOT_NULL } }', [1, 2, 3]],
    ['{ on_sale: { eq: false } }', [2]],
    ['{ code: { neq: "00000000-0000-0000-0000-000000000001" } }', [2]],
  ])('find the rows of %s', async (filter, expected) => {
    expect(await ids(filter)).toEqual(expected)
  })
})

describe('4.3 null, empty, absent', () => {
  const all = [1, 2, 3, 4]
  test.each([
    'null',
    '{}',
    '{ id: null }',
    '{ id: {} }',
    '{ and: null }',
    '{ or: null }',
    '{ not: null }',
    '{ and: [] }',
    '{ or: [] }',
    '{ not: {} }',
    '{ not: { not: {} } }',
    '{ or: [{}] }',
    '{ and: [{}] }',
    '{ or: {} }',
    '{ not: { id: {} } }',
    '{ or: [{ id: null }] }',
    '{ not: { or: [{}] } }',
    '{ nodeId: null }',
    '{ nodeId: {} }',
  ])('%s is no condition', async (filter) => {
    expect(await ids(filter)).toEqual(all)
    const query = 'query ($f: itemFilter) { itemCollection(filter: $f) { edges { node { id } } } }'
    const json = JSON.parse(filter.replace(/(\w+):/g, '"$1":'))
    expect(await idsWith(query, { f: json })).toEqual(all)
    expect(await idsWith(query)).toEqual(all)
  })

  const operands = scalarTable.String.operators.filter((operator) => operator !== 'is')
  test.each(operands)('%s: null matches no row, and neither does its opposite', async (operator) => {
    for (const condition of [`name: { ${operator}: null }`, `not: { name: { ${operator}: null } }`])
      expect(await ids(`{ ${condition} }`)).toEqual([])
    const type = operator === 'in' ? '[String!]' : 'String'
    const query = `query ($x: ${type}) { itemCollection(filter: { name: { ${operator}: $x } }) { edges { node { id } } } }`
    expect(await idsWith(query, { x: null })).toEqual([])
    expect(await idsWith(query)).toEqual(all)
  })

  test('in: [1, null] is an error', async () => {
    expect(await problems('{ id: { in: [1, null] } }')).toEqual(['Expected value of type "Int!", found null.'])
    const query = 'query ($x: [Int!]) { itemCollection(filter: { id: { in: $x } }) { edges { node { id } } } }'
    expect(await messages(query, { x: [1, null] })).toEqual([
      'Variable "$x" got invalid value null at "x[1]"; Expected non-nullable type "Int!" not to be null.',
    ])
  })

  test('is: null is an error, an absent variable is not', async () => {
    expect(await problems('{ id: { is: null } }')).toEqual(['Error transpiling Is filter value type'])
    const query = 'query ($x: FilterIs) { itemCollection(filter: { name: { is: $x } }) { edges { node { id } } } }'
    expect(await messages(query, { x: null })).toEqual(['Error transpiling Is filter value type'])
    expect(await idsWith(query)).toEqual(all)
    expect(await idsWith(query, { x: 'NULL' })).toEqual([4])
    expect(await idsWith(query, { x: 'NOT_NULL' })).toEqual([1, 2, 3])
  })

  test('an absent variable as an element of a list that may not hold null is refused', async () => {
    const query = 'query ($x: Int = 1) { itemCollection(filter: { id: { in: [2, $x] } }) { edges { node { id } } } }'
    expect(await idsWith(query)).toEqual([1, 2])
    expect(await idsWith(query, { x: 3 })).toEqual([2, 3])
    expect(await messages(query, { x: null })).toEqual(['Invalid input for NonNull type'])
  })

  test('nodeId is compared as the key that it holds', async () => {
    const token = (...parts: unknown[]): string =>
      Buffer.from(`[${parts.map((part) => JSON.stringify(part)).join(', ')}]`).toString('base64')
    expect(await ids(`{ nodeId: { eq: "${token('public', 'item', 3)}" } }`)).toEqual([3])
    expect(await ids(`{ not: { nodeId: { eq: "${token('public', 'item', 3)}" } } }`)).toEqual([1, 2, 4])
    expect(await problems('{ nodeId: { eq: null } }')).toEqual(['Invalid value passed to nodeId argument, Error 1'])
    expect(await problems(`{ nodeId: { eq: "${token('public', 'other_table', 3)}" } }`)).toEqual([
      'nodeId belongs to a different collection',
    ])
    expect(await problems(`{ nodeId: { eq: "${token('public', 'item', 3, 4)}" } }`)).toEqual([
      'Primary key column count mismatch. Expected 1, provided 2',
    ])
    expect(await problems('{ nodeId: { eq: "?" } }')).toEqual(['Invalid value passed to nodeId argument. Error 2'])
    const query = 'query ($n: ID) { itemCollection(filter: { nodeId: { eq: $n } }) { edges { node { id } } } }'
    expect(await idsWith(query, { n: token('public', 'item', 2) })).toEqual([2])
    expect(await idsWith(query)).toEqual(all)
    expect(await messages(query, { n: null })).toEqual(['Invalid value passed to nodeId argument, Error 1'])
    // The statement is known by now; the value is looked at all the same.
    expect(await messages(query, { n: token('public', 'other_table', 2) })).toEqual([
      'nodeId belongs to a different collection',
    ])
    const pair = `{ pairCollection(filter: { nodeId: { eq: "${token('public', 'pair', 1, 'y')}" } }) { edges { node { a b } } } }`
    expect((await service.graphql(pair)).data).toEqual({ pairCollection: { edges: [{ node: { a: 1, b: 'y' } }] } })
  })

  test('duplicate keys are refused', async () => {
    expect(await problems('{ id: { eq: 1, eq: 2 } }')).toEqual(['There can be only one input field named "eq".'])
  })
})
