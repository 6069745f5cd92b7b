import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { introspect, namesOf, signatureOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "groups": {"enabled": true}, "limits": {"rows": 1000}})';
  create table place (id int primary key, name text not null, country text, mayor text);
  create table sale (
    id int primary key, place_id int references place, kind text not null, price numeric(8,2), weight float8, cash money,
    at timestamptz not null, day date, secret int);
  insert into place values (1, 'Oslo', 'NO', 'a'), (2, 'Bergen', 'NO', 'b'), (3, 'Atlantis', null, 'c');
  insert into sale select n, nullif(n % 4, 0), 'kind ' || n % 50, n % 7 * 1.5, n / 3.0, n % 5, '2024-03-31T22:30:00Z'::timestamptz + n * interval '1 hour',
    '2024-12-30'::date + n, n from generate_series(1, 20000) n;
  create index on sale (kind);
  alter table place enable row level security;
  create policy those on place using (id < 3);
  grant select (id, name, country) on place to anon;
  grant select (id, place_id, kind, price, weight, cash, at, day) on sale to anon;
  create function cheap(most int) returns setof sale language sql stable security definer as
    'select * from sale where price < most';
  create table "GroupByValue" (id int primary key);
  grant select on "GroupByValue" to anon;
  analyze;
`

describe('groups', () => {
  const service = forSuite(createTestService, { sql })

  const groupsOf = async (args: string, select: string, options: object = {}): Promise<unknown> =>
    dataOf(await service.graphql(`{ c: saleCollection { groups(${args}) { ${select} } } }`, options)).c.groups

  it('are offered for what the role may read, under names that are free elsewhere', async () => {
    const schema = await introspect(service)
    expect(signatureOf(schema, 'saleConnection', 'groups')).toContain('by: [saleGroupBy!]!')
    expect(namesOf(schema, 'saleGroupBy')).toEqual([
      'id',
      'place_id',
      'kind',
      'price',
      'weight',
      'cash',
      'at',
      'day',
      'place',
    ])
    expect(namesOf(schema, 'placeGroupBy')).toEqual(['id', 'name', 'country'])
    expect(namesOf(schema, 'saleHavingSum')).toEqual(['id', 'place_id', 'price', 'weight'])
    expect(schema.getType('GroupByValue')).toMatchObject({ name: 'GroupByValue' })
    expect(namesOf(schema, 'Query')).not.toContain('groupByValueCollection')
  })

  it('take a hidden related row for none', async () => {
    expect(await groupsOf('by: [{ place: { country: VALUE } }]', 'key { place { country } } count')).toEqual([
      { key: { place: { country: 'NO' } }, count: 10_000 },
      { key: { place: { country: null } }, count: 10_000 },
    ])
  })

  it('decide the statement by their values: another variable groups by something else', async () => {
    const query = 'query Q($by: [saleGroupBy!]!) { c: saleCollection { groups(by: $by, first: 1) { cursor } } }'
    const cursor = async (by: unknown): Promise<string> =>
      Buffer.from(dataOf(await service.graphql(query, { variables: { by } })).c.groups[0].cursor, 'base64').toString()
    expect(await cursor([{ kind: 'VALUE' }, { day: 'YEAR' }])).toBe('["kind 0", "2025-01-01"]')
    expect(await cursor([{ day: 'YEAR', kind: 'VALUE' }])).toBe('["2024-01-01", "kind 1"]')
    expect(await cursor([{ kind: 'VALUE', day: 'YEAR' }])).toBe('["kind 0", "2025-01-01"]')
  })

  it('are sorted by sums of floats and of money, and go on behind such a cursor', async () => {
    for (const figure of ['weight', 'cash', 'price']) {
      const page = (more: string): Promise<unknown> =>
        groupsOf(
          `by: [{ place_id: VALUE }], orderBy: [{ sum: { ${figure}: DescNullsFirst } }], ${more}`,
          'key { place_id } cursor',
        )
      const all = (await page('first: 9')) as readonly { cursor: string }[]
      expect(all).toHaveLength(4)
      for (const [index, { cursor }] of all.entries())
        expect(await page(`after: "${cursor}"`)).toEqual(all.slice(index + 1))
    }
  })

  it('reach as far as a width says, whatever the digits of the column', async () => {
    const groups = (args: string): Promise<unknown> =>
      groupsOf(`by: [{ price: VALUE }], widths: { price: "0.625" }${args}`, 'key { price } count cursor')
    const all = (await groups('')) as readonly { key: { price: string }; cursor: string }[]
    expect(all.map(({ key }) => key.price)).toEqual(['0.000', '1.250', '2.500', '4.375', '5.625', '7.500', '8.750'])
    for (const [index, { cursor }] of all.entries())
      expect(await groups(`, after: "${cursor}"`)).toEqual(all.slice(index + 1))
    const refusal = async (widths: string): Promise<unknown> =>
      (
        await service.graphql(`{ saleCollection { groups(by: [{ id: VALUE }], widths: ${widths}) { count } } }`)
      ).errors?.map(({ message }) => message)
    for (const width of ['0', '-5', '"1e3"', '"x"'])
      expect(await refusal(`{ id: ${width} }`)).toEqual(['A width must be a number above 0'])
    expect(await refusal('{ place: { id: 2 } }')).toEqual(['Rows are not grouped by "place.id"'])
  })

  it('are chosen and sorted by percentiles, and go on behind such a cursor', async () => {
    const query = `query Q($at: Float!, $having: saleHaving, $after: Cursor) { c: saleCollection(filter: { id: { lte: 400 } }) {
      groups(by: [{ place_id: VALUE }], having: $having, orderBy: [{ percentile: { at: $at, of: { weight: DescNullsFirst, price: AscNullsLast } } }], after: $after) {
        key { place_id } percentile(at: $at) { price } cursor } } }`
    const page = async (variables: object): Promise<readonly any[]> =>
      dataOf(await service.graphql(query, { variables: { at: 0.5, ...variables } })).c.groups
    const all = await page({})
    expect(all.map(({ key }) => key.place_id)).toEqual([null, 3, 2, 1])
    for (const [index, { cursor }] of all.entries()) expect(await page({ after: cursor })).toEqual(all.slice(index + 1))
    const least = (weight: object): object => ({ having: { percentile: { at: 0, of: { weight } } } })
    expect((await page(least({ gt: 0.4, lt: 1.1 }))).map(({ key }) => key.place_id)).toEqual([3, 2])
    expect(await page({ having: { percentile: { at: 0, of: { weight: {} } } } })).toEqual(all)
    expect(await page({ having: { percentile: { at: 0, of: null } } })).toEqual(all)
    const refused = await service.graphql(query, {
      variables: { at: 0.5, having: { percentile: { at: 2, of: { id: { gt: 1 } } } } },
    })
    expect(refused.errors?.map(({ message }) => message)).toEqual(['`at` must be from 0 to 1'])
  })

  it('refuse a recurring time that rows are not grouped by', async () => {
    const refusal = async (args: string, select = 'count'): Promise<unknown> => {
      const { errors } = await service.graphql(`{ saleCollection { groups(${args}) { ${select} } } }`)
      return errors?.map(({ message }) => message)
    }
    expect(await refusal('by: [{ at: DAY_OF_WEEK }, { at: DAY_OF_WEEK }]')).toEqual([
      'Rows can be grouped by "dayOfWeek.at" once',
    ])
    expect(await refusal('by: [{ at: DAY_OF_WEEK }]', 'key { at }')).toEqual(['Rows are not grouped by "at"'])
    expect(await refusal('by: [{ at: DAY_OF_WEEK }]', 'hourOfDay { at }')).toEqual([
      'Rows are not grouped by "hourOfDay.at"',
    ])
    expect(await refusal('by: [{ at: DAY }], orderBy: [{ dayOfWeek: { at: AscNullsLast } }]')).toEqual([
      'Rows are not grouped by "dayOfWeek.at"',
    ])
  })

  it('list as many of the least values as a variable says, and as a page has', async () => {
    const query =
      'query Q($most: Int!) { c: saleCollection(filter: { id: { lte: 4 } }) { groups(by: [{ day: YEAR }]) { values(atMost: $most) { id } } } }'
    const listed = async (most: number) =>
      dataOf(await service.graphql(query, { variables: { most } })).c.groups.map(({ values }: any) => values.id)
    expect([await listed(0), await listed(2), await listed(2_147_483_647)]).toEqual([
      [[], []],
      [[1], [2, 3]],
      [[1], [2, 3, 4]],
    ])
    const refused = await service.graphql(query, { variables: { most: -1 } })
    expect(refused.errors?.map(({ message }) => message)).toEqual(['`atMost` must be an unsigned integer'])
  })

  it('check an argument where nothing but __typename is selected, also of a text that was asked before', async () => {
    const query = `query Q($most: Int!, $at: Float!) { saleCollection { groups(by: [{ day: YEAR }]) {
      values(atMost: $most) { __typename } percentile(at: $at) { __typename } } } }`
    const messagesOf = async (most: number, at: number) =>
      (await service.graphql(query, { variables: { most, at } })).errors?.map(({ message }) => message)
    expect(await messagesOf(1, 0.5)).toBeUndefined()
    expect(await messagesOf(-1, 0.5)).toEqual(['`atMost` must be an unsigned integer'])
    expect(await messagesOf(1, 2)).toEqual(['`at` must be from 0 to 1'])
  })

  it('count a page of theirs once as rows, beside the page of the collection', async () => {
    const query = (first: number): string =>
      `{ saleCollection(first: ${first}) { edges { node { id } } groups(by: [{ id: VALUE }], first: 30) { count } } }`
    expect((await service.graphql(query(0))).errors).toBeUndefined()
    await service.db.query(
      `comment on schema public is '@graphql({"groups": {"enabled": true}, "limits": {"rows": 50}})'`,
    )
    expect((await service.graphql(query(20))).errors).toBeUndefined()
    const message = (first: number, allowed: number): string =>
      `The document may select ${first + 30} rows; at most ${allowed} are allowed.`
    expect((await service.graphql(query(21))).errors?.map((error) => error.message)).toEqual([message(21, 50)])
    await service.db.query(
      `comment on schema public is '@graphql({"groups": {"enabled": true}, "limits": {"rows": 20}})'`,
    )
    expect((await service.graphql(query(0))).errors?.map((error) => error.message)).toEqual([message(0, 20)])
    await service.db.query(`comment on schema public is '@graphql({"groups": {"enabled": true}})'`)
  })

  it('count each list of values as rows, column by column', async () => {
    const allowed = (limit: number) =>
      `comment on schema public is '@graphql({"groups": {"enabled": true}, "limits": {"rows": ${limit}}})'`
    const message = (rows: number, limit: number) => [
      `The document may select ${rows} rows; at most ${limit} are allowed.`,
    ]
    const query = `query Q($n: Int!) { saleCollection(first: 0) {
      groups(by: [{ kind: VALUE }], first: 5) { values(atMost: $n) { day a: price ...F } } } }
      fragment F on saleValuesResult { __typename at }`
    const messagesAt = async (n: number) =>
      (await service.graphql(query, { variables: { n } })).errors?.map((error) => error.message)
    await service.db.query(allowed(100))
    // 5 groups, and 5 * 3 lists
    expect(await messagesAt(5)).toBeUndefined()
    await service.db.query(allowed(90))
    expect(await messagesAt(6)).toEqual(message(95, 90))
    // Never more than a page.
    expect(await messagesAt(1_000)).toEqual(message(5 + 5 * 3 * 30, 90))
    await service.db.query(`comment on schema public is '@graphql({"groups": {"enabled": true}})'`)
  })

  it('come from an index in the order of the key, and no more of them than are shown', async () => {
    await groupsOf('by: [{ kind: VALUE }], first: 2', 'key { kind } count')
    const plan = await lastPlan(service, { analyze: true })
    expect(plan).toContain('"Index Name":"sale_kind_idx"')
    const rows = [...plan.matchAll(/"Actual Rows":(\d+)/g)].map(([, count]) => Number(count))
    expect(Math.max(...rows)).toBeLessThan(2_000)
  })
})

describe('flags of groups', () => {
  const service = forSuite(createTestService, {
    sql: `comment on schema public is '@graphql({"groups": {"enabled": true}})';
        create table answer (id int generated always as identity primary key, topic text not null, agreed bool);
        insert into answer (topic, agreed) values ('all', true), ('all', true), ('mixed', true), ('mixed', false), ('none', false),
          ('some and unknown', true), ('some and unknown', null), ('none and unknown', false), ('none and unknown', null),
          ('unknown', null), ('unknown', null);
        grant select on answer to anon;`,
  })
  const flags = [
    ['all', true, true],
    ['mixed', false, true],
    ['none', false, false],
    ['none and unknown', false, false],
    ['some and unknown', true, true],
    ['unknown', null, null],
  ] as const

  it('say whether every and some value is true, of those that are known', async () => {
    const { found } = dataOf(
      await service.graphql(
        '{ found: answerCollection { groups(by: [{topic: VALUE}]) { key { topic } every { agreed } some { agreed } } } }',
      ),
    )
    expect(found.groups).toEqual(
      flags.map(([topic, every, some]) => ({ key: { topic }, every: { agreed: every }, some: { agreed: some } })),
    )
  })
})
