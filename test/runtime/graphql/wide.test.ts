import { describe, expect, test } from 'vitest'
import { dataOf } from '../../support/answers.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

const columns = 1_590
const numbers = 500
const names = Array.from({ length: columns }, (_, index) => `c${index}`)
const schema = `
  create table item (id int primary key, name text);
  comment on table item is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
  insert into item values (1, 'x'), (2, 'y');
  create table wide (id int primary key, ${names.map((name) => `${name} int2`).join(', ')});
  insert into wide (id, c0, c${columns - 1}) values (1, 7, 8);
  create table figures (id int primary key, ${names
    .slice(0, numbers)
    .map((name) => `${name} int default 1`)
    .join(', ')});
  comment on table figures is '@graphql({"aggregate": {"enabled": true}})';
  insert into figures (id) values (1), (2);
  grant all on all tables in schema public to anon;
`

const service = forSuite(createTestService, { sql: schema })

const ask = async (query: string, variables: Record<string, unknown> = {}) =>
  dataOf(await service.graphql(query, { variables }))
const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ')
const same = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, value]))

/** Reading and paging: what breaks others where much is selected at once. */
describe('wide documents', () => {
  const long = (name: string): string => `${name}_${'x'.repeat(70)}`

  test('may have aliases longer than the names that Postgres allows, at every level', async () => {
    const [a, b, c, d, e, f, g, h] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `${'x'.repeat(64)}_${name}`)
    const query = `{ ${a}: itemCollection(first: 1) {
      ${b}: edges { ${c}: cursor ${d}: node { ${e}: id ${f}: name nodeId } } ${g}: pageInfo { ${h}: hasNextPage ${a}: endCursor }
      ${h}: totalCount ${a}: aggregate { ${b}: count ${c}: sum { ${d}: id } }
    } ${b}: itemByPk(id: 2) { ${a}: id ${b}: name } }`
    expect(await ask(query)).toEqual({
      [String(a)]: {
        [String(b)]: [
          {
            [String(c)]: 'WzFd',
            [String(d)]: { [String(e)]: 1, [String(f)]: 'x', nodeId: 'WyJwdWJsaWMiLCAiaXRlbSIsIDFd' },
          },
        ],
        [String(g)]: { [String(h)]: true, [String(a)]: 'WzFd' },
        [String(h)]: 2,
        [String(a)]: { [String(b)]: 2, [String(c)]: { [String(d)]: 3 } },
      },
      [String(b)]: { [String(a)]: 2, [String(b)]: 'y' },
    })
  })

  test('may have such an alias in a mutation, and for a row that is not there', async () => {
    const mutation = `mutation { ${long('m')}: insertIntoitemCollection(objects: { id: 3 }) { ${long('n')}: affectedCount ${long('r')}: records { ${long('i')}: id } } }`
    expect(await ask(mutation)).toEqual({ [long('m')]: { [long('n')]: 1, [long('r')]: [{ [long('i')]: 3 }] } })
    await ask('mutation { deleteFromitemCollection(filter: { id: { eq: 3 } }) { affectedCount } }')
    expect(await ask(`{ itemByPk(id: 99) { ${long('i')}: id } }`)).toEqual({ itemByPk: null })
  })

  test.each([51, 101, 1_601, 1_700, 10_000])('hold %i fields of one row', async (count) => {
    const expected = same(count, 1)
    expect(await ask(`{ itemByPk(id: 1) { ${aliases(count, 'id')} } }`)).toEqual({ itemByPk: expected })
    expect(await ask(`{ itemCollection(first: 1) { edges { node { ${aliases(count, 'id')} } } } }`)).toEqual({
      itemCollection: { edges: [{ node: expected }] },
    })
  })

  test('fields keep their order, however many there are', async () => {
    const { itemByPk } = await ask(`{ itemByPk(id: 1) { ${aliases(2_000, 'name')} id } }`)
    expect(Object.keys(itemByPk)).toEqual([...Object.keys(same(2_000, null)), 'id'])
  })

  test.each([101, 1_700])('hold %i members of a connection', async (count) => {
    expect(await ask(`{ itemCollection { ${aliases(count, 'totalCount')} } }`)).toEqual({
      itemCollection: same(count, 2),
    })
    expect(await ask(`{ itemCollection { pageInfo { ${aliases(count, 'hasNextPage')} } } }`)).toEqual({
      itemCollection: { pageInfo: same(count, false) },
    })
    expect(await ask(`{ itemCollection { ${aliases(count, 'aggregate { sum { id } }')} } }`)).toEqual({
      itemCollection: same(count, { sum: { id: 3 } }),
    })
  })

  test('hold many aliases of edges', async () => {
    expect(await ask(`{ itemCollection(first: 1) { ${aliases(200, 'edges { cursor }')} } }`)).toEqual({
      itemCollection: same(200, [{ cursor: 'WzFd' }]),
    })
  })

  test.each([1_001, 2_000])('hold %i root fields', async (count) => {
    expect(await ask(`{ ${aliases(count, 'itemByPk(id: 1) { id }')} }`)).toEqual(same(count, { id: 1 }))
  })

  test('may have an order of more terms than a function of Postgres takes arguments', async () => {
    const orderBy = Array.from({ length: 150 }, () => ({ name: 'DescNullsLast' }))
    const { itemCollection } = await ask(
      `query ($orderBy: [itemOrderBy!]) { itemCollection(orderBy: $orderBy) { edges { cursor } pageInfo { endCursor } } }`,
      { orderBy },
    )
    const values = [...orderBy.map(() => 'y'), 2]
    expect(JSON.parse(Buffer.from(itemCollection.edges[0].cursor, 'base64').toString())).toEqual(values)
    expect(itemCollection.pageInfo.endCursor).toBe(itemCollection.edges[1].cursor)
  })

  test('one alias is one member, and one statement answers all', async () => {
    await ask(
      '{ a: itemCollection(first: 1) { edges { cursor } } b: itemCollection(last: 1) { edges { cursor } } c: itemByPk(id: 1) { id } }',
    )
    expect(service.exchanges.at(-1)?.statements).toHaveLength(1)
  })

  test.each([
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'k',
    'v',
    'o',
    'select',
    'c1',
    'rn',
    'n',
    'e1',
    'f',
    'w3',
    't1',
  ])('hold the alias %s', async (name) => {
    const query = `{ ${name}: itemCollection(first: 1) { ${name}: edges { ${name}: node { ${name}: id } cursor } pageInfo { ${name}: hasNextPage } } }`
    const { body } = await service.serve(query)
    expect(body.replaceAll(' ', '')).toBe(
      `{"data":{"${name}":{"${name}":[{"${name}":{"${name}":1},"cursor":"WzFd"}],"pageInfo":{"${name}":true}}}}`,
    )
  })
})

describe('wide tables', () => {
  test('answer every column at once', async () => {
    const { wideCollection } = await ask(
      `{ wideCollection { edges { cursor node { id nodeId ${names.join(' ')} } } pageInfo { endCursor } } }`,
    )
    const [{ node }] = wideCollection.edges
    expect(Object.keys(node)).toEqual(['id', 'nodeId', ...names])
    expect([node.c0, node.c1, node[`c${columns - 1}`]]).toEqual([7, null, 8])
    expect(
      (
        await ask(
          `{ wideCollection(last: 1) { edges { node { ${names.join(' ')} } } pageInfo { startCursor hasPreviousPage } } }`,
        )
      ).wideCollection.edges,
    ).toHaveLength(1)
  })

  test('are written and read in one mutation', async () => {
    const row = Object.fromEntries(names.map((name, index) => [name, index % 100]))
    const query = `mutation ($o: [wideInsertInput!]!) { insertIntowideCollection(objects: $o) { records { ${names.join(' ')} } } }`
    expect(await ask(query, { o: [{ id: 2, ...row }] })).toEqual({ insertIntowideCollection: { records: [row] } })
    const update = `mutation ($s: wideUpdateInput!) { updatewideCollection(set: $s, filter: { id: { eq: 2 } }) { affectedCount } }`
    expect(await ask(update, { s: row })).toEqual({ updatewideCollection: { affectedCount: 1 } })
    const filter = `query ($f: wideFilter) { wideCollection(filter: $f) { edges { node { id } } } }`
    const all = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, { eq: value }]))
    expect(await ask(filter, { f: all })).toEqual({ wideCollection: { edges: [{ node: { id: 2 } }] } })
  })

  test('answer every figure of many columns', async () => {
    const list = names.slice(0, numbers)
    const selection = ['sum', 'avg', 'min', 'max'].map((name) => `${name} { ${list.join(' ')} }`).join(' ')
    const expected = (value: number) => Object.fromEntries(list.map((name) => [name, value]))
    expect(await ask(`{ figuresCollection { aggregate { ${selection} } } }`)).toEqual({
      figuresCollection: { aggregate: { sum: expected(2), avg: expected(1), min: expected(1), max: expected(1) } },
    })
  })
})
