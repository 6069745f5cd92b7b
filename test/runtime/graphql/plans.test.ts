import { describe, expect, test } from 'vitest'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

const rows = 20_000
const schema = `
  create table post (id int primary key, created_at timestamptz not null, edited_at timestamptz, author int not null, title text);
  insert into post select i, '2024-01-01'::timestamptz + i % 5000 * interval '1 minute', case when i % 2 = 0 then '2024-01-01'::timestamptz + i * interval '1 minute' end, i % 100, 'x'
    from generate_series(1, ${rows}) i;
  create index on post (created_at, id);
  create index on post (created_at);
  create index on post (edited_at);
  create index on post (author, id);
  create table author (id int primary key);
  insert into author select generate_series(0, 99);
  alter table post add foreign key (author) references author (id);
  alter table post enable row level security;
  create policy everything on post for select using (true);
  create table mail (id int primary key, folder text not null, spam boolean not null);
  insert into mail select i, case when i % 2 = 0 then 'in' else 'out' end, i % 100 <> 0 from generate_series(1, ${rows}) i;
  create index mail_wanted on mail (id) where spam = false and folder in ('in', 'out');
  comment on table mail is '@graphql({"defaultFilter": {"spam": {"eq": false}, "folder": {"in": ["in", "out"]}}})';
  analyze post, mail;
  grant all on all tables in schema public to anon;
`

const service = forSuite(createTestService, { sql: schema })

interface Node {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Rows Removed by Filter'?: number
  readonly 'Actual Rows': number
  readonly Plans?: readonly Node[]
}

const flatten = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(flatten)]

/** Text, parameters and the nodes of the generic plan, as the caller's role has it under row-level security. */
async function run(query: string, variables: Record<string, unknown> = {}) {
  const { errors } = await service.graphql(query, { variables })
  expect(errors).toBeUndefined()
  const statement = service.exchanges.at(-1)?.statements[0]
  if (statement === undefined) throw new Error('nothing was sent')
  const { db } = service
  const values = statement.values.map((value) => (value === null ? 'null' : `'${value}'`)).join(', ')
  await db.queryAsLogin(
    `begin; set local plan_cache_mode = force_generic_plan; set local role anon; prepare plan_test as ${statement.text}`,
  )
  try {
    const call = statement.values.length === 0 ? 'plan_test' : `plan_test(${values})`
    const {
      rows: [explained],
    } = await db.queryAsLogin(`explain (analyze, format json) execute ${call}`)
    return { ...statement, nodes: flatten(explained['QUERY PLAN'][0].Plan) }
  } finally {
    await db.queryAsLogin('rollback; deallocate plan_test')
  }
}

const types = (nodes: readonly Node[]): readonly string[] => nodes.map((node) => node['Node Type'])
/** Nothing is read but what an index leads to; no step sees more than a few pages of rows. */
const expectFewRows = (nodes: readonly Node[]): void => {
  expect(types(nodes)).not.toContain('Seq Scan')
  expect(types(nodes).some((type) => /^Index (Only )?Scan/.test(type))).toBe(true)
  for (const node of nodes) {
    expect(node['Rows Removed by Filter'] ?? 0).toBeLessThan(100)
    expect(node['Actual Rows']).toBeLessThan(200)
  }
}
const page = '{ edges { cursor node { id createdAt: created_at title } } pageInfo { hasNextPage endCursor } }'
const cursor = (...values: unknown[]): string => Buffer.from(JSON.stringify(values)).toString('base64')
const at = (minute: number): string => new Date(Date.UTC(2024, 0, 1) + minute * 60_000).toISOString()

describe('rules of the planner (engine.md 1)', () => {
  test.each(['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'])(
    'a column that is never null is ordered without a NULLS clause: %s',
    async (direction) => {
      const { text, nodes } = await run(`{ postCollection(orderBy: { created_at: ${direction} }) ${page} }`)
      expect(text).not.toMatch(/nulls (first|last)/)
      expect(types(nodes)).not.toContain('Sort')
      expectFewRows(nodes)
    },
  )

  test('a plain index has its nulls last', async () => {
    const { text, nodes } = await run(`{ postCollection(orderBy: { edited_at: AscNullsLast }) ${page} }`)
    expect(text).not.toMatch(/nulls (first|last)|union/)
    expectFewRows(nodes)
  })

  test.each(['AscNullsFirst', 'DescNullsFirst', 'DescNullsLast'])(
    'in every other order of a nullable column rows with a value and rows without are read by themselves: %s',
    async (direction) => {
      const { text, nodes } = await run(`{ postCollection(orderBy: { edited_at: ${direction} }) ${page} }`)
      expect(text).toContain(' union all ')
      expectFewRows(nodes)
    },
  )

  test.each([
    ['AscNullsLast', 'first: 30, after', [at(9_000), 1]],
    ['DescNullsLast', 'first: 30, after', [at(9_000), 1]],
    ['DescNullsLast', 'first: 30, after', [null, 9_000]],
    ['AscNullsFirst', 'first: 30, after', [null, 9_000]],
    ['AscNullsFirst', 'first: 30, after', [at(9_000), 1]],
    ['DescNullsLast', 'last: 30, before', [at(9_000), 1]],
    ['AscNullsFirst', 'last: 30, before', [null, 9_000]],
  ] as const)('a page deep in a nullable column is read from the index: %s, %s', async (direction, args, key) => {
    const { nodes } = await run(
      `{ postCollection(${args}: "${cursor(...key)}", orderBy: { edited_at: ${direction} }) ${page} }`,
    )
    expectFewRows(nodes)
  })

  test('a deep page in one direction is one descent of the index', async () => {
    for (const [direction, args] of [
      ['AscNullsLast', 'first: 30, after'],
      ['DescNullsLast', 'last: 30, before'],
    ] as const) {
      const order = `[{ created_at: ${direction} }, { id: ${direction} }]`
      const key = cursor(at(4_000), 10_000, 10_000)
      const { text, nodes } = await run(`{ postCollection(${args}: "${key}", orderBy: ${order}) ${page} }`)
      expect(text).toMatch(/\(t\d+\."created_at", t\d+\."id"\) > \(/)
      expectFewRows(nodes)
    }
  })

  test('a deep page in mixed directions enters the index by the leading bound', async () => {
    const key = cursor(at(1_000), 6_000)
    const { nodes } = await run(
      `{ postCollection(first: 30, after: "${key}", orderBy: { created_at: DescNullsLast }) ${page} }`,
    )
    expect(nodes.some((node) => node['Index Cond']?.includes('created_at <= ') === true)).toBe(true)
    expectFewRows(nodes)
  })

  test('a deep page backwards enters the index by the leading bound as well', async () => {
    const key = cursor(at(1_000), 6_000)
    const { nodes } = await run(
      `{ postCollection(last: 30, before: "${key}", orderBy: { created_at: DescNullsLast }) ${page} }`,
    )
    expect(nodes.some((node) => node['Index Cond']?.includes('created_at >= ') === true)).toBe(true)
    expectFewRows(nodes)
  })

  test('page sizes are literals, values are parameters', async () => {
    const query = `query ($first: Int, $after: Cursor, $author: Int) { postCollection(first: $first, after: $after, filter: { author: { eq: $author } }) ${page} }`
    const small = await run(query, { first: 7, after: cursor(5), author: 3 })
    expect(small.text).toMatch(/ limit 8\)/)
    expect([...small.values].sort()).toEqual(['3', '5'])
    const large = await run(query, { first: 1_000, after: cursor(5), author: 3 })
    expect(large.text).toMatch(/ limit 31\)/)
    expect(large.name).not.toBe(small.name)
    const other = await run(query, { first: 7, after: cursor(99), author: 4 })
    expect([other.name, other.text]).toEqual([small.name, small.text])
    expectFewRows(other.nodes)
  })

  test('rows that only the look-ahead reads cost no nested reads', async () => {
    const nested =
      '{ edges { node { id post: postCollection(first: 1) { edges { node { id } } } } } pageInfo { hasNextPage } }'
    const { nodes } = await run(`{ authorCollection(first: 3) ${nested} }`)
    const scans = nodes.filter(
      (node) => /Index (Only )?Scan/.test(node['Node Type']) && JSON.stringify(node).includes('post'),
    )
    expect(scans.length).toBeGreaterThan(0)
    for (const scan of scans) expect((scan as unknown as { 'Actual Loops': number })['Actual Loops']).toBe(3)
  })
})

test('a partial index with the condition of a comment serves the generic plan', async () => {
  const { values, nodes } = await run('{ mailCollection(first: 30) { edges { node { id } } } }')
  expect(nodes.flatMap((node) => node['Index Name'] ?? [])).toEqual(['mail_wanted'])
  expect(values).toEqual([])
})
