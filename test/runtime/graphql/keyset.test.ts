import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'
import { sized } from '../../support/whole.ts'

/** Ties, nulls and mixed kinds of columns; the key stands in neither the declared nor the alphabetical order. */
const schema = `
  create schema extensions;
  grant usage on schema extensions to anon;
  create extension citext schema extensions;
  create type mood as enum ('sad', 'ok', 'glad');
  create table item (
    b text not null, a int, n int not null, mood mood, word extensions.citext, amount numeric(4,1), span interval, k int not null,
    primary key (k, b)
  );
  insert into item (b, a, n, mood, word, amount, span, k)
  select 'b' || i % 3, nullif(i % 4, 0), i % 5, case i % 4 when 0 then null when 1 then 'sad' when 2 then 'ok' else 'glad' end::mood,
    case i % 5 when 0 then null when 1 then 'A' when 2 then 'a' when 3 then 'B' else 'b' end, nullif(i % 3, 1) / 2.0,
    nullif(i % 3, 2) * interval '1 month' + i % 2 * interval '30 days', i / 3
  from generate_series(1, 23) i;
  create view item_view as select * from item;
  comment on view item_view is '@graphql({"primary_key_columns": ["k", "b"]})';
  create table tagged (tags int[] primary key, label text);
  insert into tagged values ('{1,2}', 'x'), ('{1}', null), ('{}', 'x'), ('{2}', null), ('{1,3}', 'y');
  create type spot as (x int, y int);
  create table seat (spot spot primary key, label text not null);
  insert into seat values (row(1, 1), 'a'), (row(1, null), 'b'), (row(null, 2), 'c'), (row(null, null), 'd');
  create view seat_view as select * from seat;
  comment on view seat_view is '@graphql({"primary_key_columns": ["spot"]})';
  create table parent (id int primary key);
  create table child (id int primary key, parent_id int references parent, a int);
  insert into parent select generate_series(1, 3);
  insert into child select i, 1 + i % 2, nullif(i % 3, 0) from generate_series(1, 12) i;
  create function items() returns setof item stable language sql as 'select * from item';
  create table stamped (id int primary key, at timestamptz, ratio float8, big int8, tag bytea);
  insert into stamped select i, case when i % 4 > 0 then '2024-01-01'::timestamptz + (i % 4) * interval '1 microsecond' end,
    (array['NaN', 'Infinity', '-Infinity', '0.1', '0.30000000000000004', null])[1 + i % 6]::float8,
    9007199254740992 + i % 3, decode(lpad(to_hex(i % 5), 2, '0'), 'hex')
  from generate_series(1, 17) i;
  grant all on all tables in schema public to anon;
`

const service = forSuite(createTestService, { sql: schema })

const directions = ['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'] as const
type Direction = (typeof directions)[number]
type Order = readonly (readonly [column: string, direction: Direction])[]

const sqlDirection: Readonly<Record<Direction, string>> = {
  AscNullsFirst: 'asc nulls first',
  AscNullsLast: 'asc nulls last',
  DescNullsFirst: 'desc nulls first',
  DescNullsLast: 'desc nulls last',
}

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: Readonly<Record<string, unknown>> }[]
  readonly pageInfo: {
    readonly startCursor: string | null
    readonly endCursor: string | null
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
  }
}

const connection = (key: readonly string[]): string =>
  `{ edges { cursor node { ${key.join(' ')} } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } }`

/** Pages one after the other until the flag says that there is no more; the rows in forward order. */
async function walk(
  field: string,
  key: readonly string[],
  order: Order,
  size: number,
  backward: boolean,
): Promise<readonly unknown[]> {
  const type = field.replace('Collection', '').replace('items', 'item')
  const args = backward ? 'last: $size, before: $cursor' : 'first: $size, after: $cursor'
  const query = `query ($size: Int, $cursor: Cursor, $order: [${type}OrderBy!]) { ${field}(${args}, orderBy: $order) ${connection(key)} }`
  const orderBy = order.map(([column, direction]) => ({ [column]: direction }))
  const rows: unknown[][] = []
  let cursor: string | null = null
  for (let pages = 0; ; pages += 1) {
    expect(pages).toBeLessThan(100)
    const { data, errors } = await service.graphql(query, { variables: { size, cursor, order: orderBy } })
    expect(errors).toBeUndefined()
    const { edges, pageInfo }: Page = data[field]
    rows.push(edges.map(({ node }) => Object.values(node)))
    expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]?.cursor ?? null, edges.at(-1)?.cursor ?? null])
    const [more, less] = backward
      ? [pageInfo.hasPreviousPage, pageInfo.hasNextPage]
      : [pageInfo.hasNextPage, pageInfo.hasPreviousPage]
    expect(less).toBe(pages > 0)
    if (!more) break
    cursor = backward ? pageInfo.startCursor : pageInfo.endCursor
  }
  return (backward ? rows.reverse() : rows).flat()
}

async function whole(relation: string, key: readonly string[], order: Order): Promise<readonly unknown[]> {
  const terms = [...order.map(([column, direction]) => `"${column}" ${sqlDirection[direction]}`), ...key]
  const { rows } = await service.db.query(`select ${key.join(', ')} from ${relation} order by ${terms.join(', ')}`)
  return rows.map((row) => key.map((name) => row[name]))
}

async function expectWhole(
  field: string,
  relation: string,
  key: readonly string[],
  order: Order,
  size: number,
): Promise<void> {
  const expected = await whole(relation, key, order)
  expect(expected.length).toBeGreaterThan(0)
  expect(await walk(field, key, order, size, false)).toEqual(expected)
  expect(await walk(field, key, order, size, true)).toEqual(expected)
}

describe('5.6 the keyset predicate', () => {
  const key = ['b', 'k']

  test('holds over times, floats, big integers and bytes', async () => {
    for (const column of ['at', 'ratio', 'big', 'tag']) {
      for (const direction of directions)
        await expectWhole('stampedCollection', 'stamped', ['id'], [[column, direction]], 4)
    }
  })

  test('holds over a key that is an array', async () => {
    const ids = await service.db.query('select tags from tagged order by label desc nulls last, tags')
    const query = (args: string) =>
      `{ taggedCollection(${args}, orderBy: { label: DescNullsLast }) ${connection(['tags'])} }`
    const found: unknown[] = []
    let after = ''
    for (let more = true; more;) {
      const { data, errors } = await service.graphql(query(`first: 2${after}`))
      expect(errors).toBeUndefined()
      const page: Page = data.taggedCollection
      found.push(...page.edges.map(({ node }) => node['tags']))
      more = page.pageInfo.hasNextPage
      after = `, after: "${page.pageInfo.endCursor}"`
    }
    expect(found).toEqual(ids.rows.map(({ tags }) => tags))
  })

  // Postgres says of such a value that it `is null`, or denies that it `is not null` (manual 9.2).
  test.each(['seat', 'seat_view'])(
    'holds over a key of %s that is a composite value with null attributes',
    async (relation) => {
      const labels: unknown[][] = []
      let after = ''
      for (let more = true; more;) {
        const { data, errors } = await service.graphql(
          `{ ${relation}Collection(first: 1${after}) { edges { node { label } } pageInfo { endCursor hasNextPage } } }`,
        )
        expect(errors).toBeUndefined()
        const { edges, pageInfo }: Page = data[`${relation}Collection`]
        labels.push(edges.map(({ node }) => node['label']))
        more = pageInfo.hasNextPage
        after = `, after: "${pageInfo.endCursor}"`
      }
      expect(labels).toEqual([['a'], ['b'], ['c'], ['d']])
      const beforeNull = Buffer.from('[null]').toString('base64')
      const { data } = await service.graphql(
        `{ ${relation}Collection(before: "${beforeNull}") { edges { node { label } } } }`,
      )
      expect(data[`${relation}Collection`].edges).toHaveLength(4)
    },
  )

  test('a cursor with a null stands where the nulls stand', async () => {
    const cursor = Buffer.from('[null]').toString('base64')
    const count = async (args: string): Promise<number> =>
      (await service.graphql(`{ itemCollection(${args}) { edges { cursor } } }`)).data.itemCollection.edges.length
    const present = (await service.db.query('select count(a)::int as n from item')).rows[0].n
    expect(present).toBe(18)
    expect(await count(`orderBy: { a: AscNullsFirst }, after: "${cursor}"`)).toBe(present)
    expect(await count(`orderBy: { a: DescNullsFirst }, after: "${cursor}"`)).toBe(present)
    expect(await count(`orderBy: { a: AscNullsLast }, after: "${cursor}"`)).toBe(0)
    expect(await count(`orderBy: { a: AscNullsLast }, before: "${cursor}"`)).toBe(present)
    expect(await count(`orderBy: { a: DescNullsLast }, before: "${cursor}"`)).toBe(present)
    expect(await count(`orderBy: { a: AscNullsFirst }, before: "${cursor}"`)).toBe(0)
  })

  test('nulls last are reached from a value (the defect of three-valued logic)', async () => {
    const last = Buffer.from('[3]').toString('base64')
    const { data } = await service.graphql(
      `{ itemCollection(orderBy: { a: AscNullsLast }, after: "${last}") { edges { node { a } } } }`,
    )
    expect(data.itemCollection.edges).toEqual(Array.from({ length: 5 }, () => ({ node: { a: null } })))
  })

  const seed = 20_240_229
  test(`law: holds for any order and any page size (seed ${seed})`, async () => {
    const term = fc.tuple(
      fc.constantFrom('a', 'b', 'n', 'k', 'mood', 'word', 'amount', 'span'),
      fc.constantFrom(...directions),
    )
    const law = fc.asyncProperty(fc.array(term, { maxLength: 4 }), fc.integer({ min: 1, max: 9 }), (order, size) =>
      expectWhole('itemCollection', 'item', key, order, size),
    )
    await fc.assert(law, { seed, numRuns: sized(20, 10) })
  })
})
