import { describe, expect, test } from 'vitest'
import { buildView } from '../../../compiler/additions/engine.ts'
import { dataOf } from '../../support/answers.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

const enabled = `'@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})'`
const schema = `
  create schema extensions;
  grant usage on schema extensions to anon;
  create extension citext schema extensions;
  create type mood as enum ('sad');
  create domain positive as int;
  create table item (
    id int primary key, small int2, big int8, ratio4 float4, ratio8 float8, price numeric(8,2), cost money, label text, code varchar(4),
    fixed char(3), internal name, word extensions.citext, day date, at time, at_zone timetz, seen timestamp, seen_zone timestamptz, on_sale bool,
    uuid uuid, mood mood, tags int[], doc jsonb, positive positive, span interval
  );
  comment on table item is ${enabled};
  insert into item values
    (1, 1, 9223372036854775807, 1.5, 0.5, 10.00, 1.5, 'b', 'x', 'f', 'n1', 'B', '2024-01-01', '10:00', '10:00+01', '2024-01-01', '2024-01-01 00:00+00', true, null, 'sad', '{1}', '{}', 1, '1 day'),
    (2, 3, 9223372036854775807, 2.5, null, 9.99, 2.5, 'a', 'y', 'g', 'n2', 'a', '2024-01-03', '09:00', '11:00+01', '2024-01-02', '2024-01-02 00:00+00', false, null, null, null, null, 2, null),
    (3, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null),
    (4, 2, 1, 0, 1, 0.01, 0, 'c', 'z', 'h', 'n3', 'c', '2023-01-01', '11:00', '09:00+01', '2022-01-01', '2022-01-01 00:00+00', true, null, null, null, null, 3, null);
  create table plain (id int primary key);
  create table words (id uuid primary key, word text);
  comment on table words is ${enabled};
  create table flags (id uuid primary key, flag bool);
  comment on table flags is ${enabled};
  create table parent (id int primary key);
  create table child (id int primary key, parent_id int references parent, amount int);
  comment on table child is ${enabled};
  insert into parent values (1), (2);
  insert into child values (1, 1, 10), (2, 1, 20), (3, 1, 30);
  create view item_view as select id, price from item;
  comment on view item_view is '@graphql({"primary_key_columns": ["id"], "aggregate": {"enabled": true}})';
  create function items() returns setof item stable language sql as 'select * from item';
  create table hidden_column (id int primary key, secret int);
  comment on table hidden_column is ${enabled};
  grant all on all tables in schema public to anon;
  revoke select on hidden_column from anon;
  grant select (id) on hidden_column to anon;
`

const service = forSuite(createTestService, { sql: schema })

const ask = async (query: string, variables: Record<string, unknown> = {}) =>
  dataOf(await service.graphql(query, { variables }))
const aggregate = async (selection: string, args = ''): Promise<any> =>
  (await ask(`{ itemCollection${args} { aggregate { ${selection} } } }`)).itemCollection.aggregate
const messages = async (query: string): Promise<readonly string[]> =>
  ((await service.graphql(query)).errors ?? []).map(({ message }) => message)
const shape = async (name: string): Promise<Record<string, string> | null> => {
  const type = buildView((await service.revision()).manifest, 'anon')
    .complete()
    .getType(name) as any
  if (type === undefined) return null
  return Object.fromEntries(Object.entries(type.getFields()).map(([field, { type: of }]: any) => [field, String(of)]))
}

describe('6 aggregate', () => {
  test('has one type for each figure', async () => {
    expect(await shape('itemAggregate')).toEqual({
      count: 'Int!',
      sum: 'itemSumAggregateResult',
      avg: 'itemAvgAggregateResult',
      min: 'itemMinAggregateResult',
      max: 'itemMaxAggregateResult',
    })
    const numbers = ['id', 'small', 'big', 'ratio4', 'ratio8', 'price', 'cost']
    expect(await shape('itemSumAggregateResult')).toEqual({
      id: 'BigInt',
      small: 'BigInt',
      big: 'BigInt',
      ratio4: 'BigFloat',
      ratio8: 'BigFloat',
      price: 'BigFloat',
      cost: 'BigFloat',
    })
    expect(await shape('itemAvgAggregateResult')).toEqual(Object.fromEntries(numbers.map((name) => [name, 'BigFloat'])))
    const extremes = {
      id: 'Int',
      small: 'Int',
      big: 'BigInt',
      ratio4: 'BigFloat',
      ratio8: 'BigFloat',
      price: 'BigFloat',
      cost: 'Opaque',
      label: 'String',
      code: 'String',
      fixed: 'String',
      internal: 'String',
      word: 'String',
      day: 'Date',
      at: 'Time',
      at_zone: 'Time',
      seen: 'Datetime',
      seen_zone: 'Datetime',
    }
    expect(await shape('itemMinAggregateResult')).toEqual(extremes)
    expect(await shape('itemMaxAggregateResult')).toEqual(extremes)
  })

  test('has members only where some column has them', async () => {
    expect(await shape('wordsAggregate')).toEqual({
      count: 'Int!',
      min: 'wordsMinAggregateResult',
      max: 'wordsMaxAggregateResult',
    })
    expect(await shape('flagsAggregate')).toEqual({ count: 'Int!' })
    expect(await shape('plainAggregate')).toBeNull()
    expect(await shape('hidden_columnSumAggregateResult')).toEqual({ id: 'BigInt' })
  })

  test('is nullable on the connection', async () => {
    expect((await shape('itemConnection'))?.['aggregate']).toBe('itemAggregate')
  })

  test('numbers are JSON numbers; money, strings and dates are strings', async () => {
    expect(
      await aggregate(
        'count sum { id small ratio8 price cost } avg { id small price } min { id price cost label fixed word day at at_zone seen } max { label code internal seen_zone ratio4 big }',
      ),
    ).toEqual({
      count: 4,
      sum: { id: 10, small: 6, ratio8: 1.5, price: 20, cost: '$4.00' },
      avg: { id: 2.5, small: 2, price: 20 / 3 },
      min: {
        id: 1,
        price: 0.01,
        cost: '$0.00',
        label: 'a',
        fixed: 'f  ',
        word: 'a',
        day: '2023-01-01',
        at: '09:00:00',
        at_zone: '09:00:00+01',
        seen: '2022-01-01T00:00:00',
      },
      max: {
        label: 'c',
        code: 'z',
        internal: 'n3',
        seen_zone: '2024-01-02T00:00:00+00:00',
        ratio4: 2.5,
        big: 9223372036854775807,
      },
    })
  })

  test('numbers keep their digits', async () => {
    const { body } = await service.serve(
      '{ itemCollection(filter: { id: { in: [1, 4] } }) { aggregate { sum { big price } max { big } } } }',
    )
    expect(body).toContain('"sum":{"big":9223372036854775808,"price":10.01}')
    expect(body).toContain('"max":{"big":9223372036854775807}')
  })

  test('is unknown where it was not enabled', async () => {
    expect(await messages('{ plainCollection { aggregate { count } } }')).toEqual([
      'Cannot query field "aggregate" on type "plainConnection".',
    ])
  })

  test('columns that may not be selected have no figures', async () => {
    expect(await messages('{ hidden_columnCollection { aggregate { sum { secret } } } }')).toEqual([
      'Cannot query field "secret" on type "hidden_columnSumAggregateResult".',
    ])
    expect(await ask('{ hidden_columnCollection { aggregate { count sum { id } } } }')).toEqual({
      hidden_columnCollection: { aggregate: { count: 0, sum: { id: null } } },
    })
  })
})
