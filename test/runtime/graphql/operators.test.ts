import { describe, expect, it } from 'vitest'
import { introspect, namesOf } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { lawMajors } from '../../support/whole.ts'
import { createTestService } from '../../support/service.ts'

/**
 * Orders and positions in them by the default btree operators of a type, wherever they lie (spec/graphql.md, decision
 * 20).
 */

const sql = `
  create schema ext;
  grant usage on schema ext to anon;
  create extension hstore schema ext;
  create extension citext schema ext;
  create domain tags as ext.hstore;
  create table item (
    id int primary key, tags ext.hstore, domained tags, word ext.citext not null, maybe ext.citext, title varchar(9), net cidr,
    at point, frame box, doc xml, settings json, version xid, span int4range, kind regclass, ids int2vector, grants aclitem);
  insert into item select i, case when i % 4 > 0 then ext.hstore('k' || i % 3, 'v' || i % 2) end, ext.hstore('k', (i % 5)::text),
      (array['a', 'B', 'A', 'b', 'c'])[1 + i % 5], (array['a', 'B', null, 'A', 'b'])[1 + i % 5], 't' || i % 3,
      ('10.0.' || i % 3 || '.0/24')::cidr, null, null, null, null, null, int4range(i % 3, 5), null, null, null
    from generate_series(1, 23) i;
  create table shop (word ext.citext primary key, n int);
  insert into shop select (array['d', 'B', 'A', 'b1', 'c', 'a2', 'E'])[i], i from generate_series(1, 7) i;
  create table visit (id int primary key, word ext.citext references shop);
  insert into visit values (1, 'D'), (2, 'b'), (3, 'B'), (4, null);
  create type labelled as (word ext.citext);
  create table labels (id int primary key, label labelled);
  insert into labels values (1, row('One')), (2, row('two'));
  create function shout(item) returns ext.citext language sql stable as 'select $1.word';
  grant all on all tables in schema public to anon;
  comment on schema public is '@graphql({"introspection": true, "distinctOn": {"enabled": true},
    "relationFilters": {"enabled": true}, "orderByRelated": {"enabled": true}, "composites": {"enabled": true},
    "functionShapes": {"enabled": true}, "DOMAINS"})';
`
const withDomains = (enabled: boolean): string => sql.replace('"DOMAINS"', `"domains": {"enabled": ${enabled}}`)

const cases = lawMajors().flatMap((major) => [true, false].map((domains) => [major, domains] as const))

describe.each(cases)('orders on PostgreSQL %i, with domains served as what they are of: %s', (major, domains) => {
  const service = forSuite(createTestService, { major, sql: withDomains(domains) })

  const walk = async (
    collection: string,
    key: string,
    order: string,
    backward: boolean,
  ): Promise<readonly unknown[]> => {
    const rows: unknown[] = []
    let cursor: string | null = null
    for (let pages = 0; pages < 30; pages += 1) {
      const args: string = backward ? 'last: 4, before: $at' : 'first: 4, after: $at'
      const answer = await service.graphql(
        `query ($at: Cursor) { page: ${collection}(${args}, orderBy: [${order}]) {
          pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { node { ${key} } } } }`,
        { variables: { at: cursor } },
      )
      expect(answer.errors).toBeUndefined()
      const { edges, pageInfo } = answer.data.page
      const found = edges.map(({ node }: { node: Record<string, unknown> }) => node[key])
      rows.splice(backward ? 0 : rows.length, 0, ...found)
      if (!(backward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage)) break
      cursor = backward ? pageInfo.startCursor : pageInfo.endCursor
    }
    return rows
  }
  const sorted = async (table: string, key: string, order: string): Promise<readonly unknown[]> =>
    (await service.db.query(`select ${key} as k from ${table} order by ${order}, ${key}`)).rows.map(({ k }) => k)

  const directions = [
    ['AscNullsFirst', 'asc nulls first'],
    ['AscNullsLast', 'asc nulls last'],
    ['DescNullsFirst', 'desc nulls first'],
    ['DescNullsLast', 'desc nulls last'],
  ] as const
  it.each(['tags', 'domained', 'word', 'maybe', 'title', 'net', 'span'])(
    '%s: pages put together are the whole',
    async (column) => {
      for (const [direction, text] of directions) {
        const whole = await sorted('item', 'id', `${column} ${text}`)
        expect(await walk('itemCollection', 'id', `{${column}: ${direction}}`, false)).toEqual(whole)
        expect(await walk('itemCollection', 'id', `{${column}: ${direction}}`, true)).toEqual(whole)
      }
    },
  )

  it('a key whose operators lie elsewhere', async () => {
    const whole = await sorted('shop', 'word', 'word')
    expect(await walk('shopCollection', 'word', '{word: AscNullsLast}', false)).toEqual(whole)
    expect(await walk('shopCollection', 'word', '', true)).toEqual(whole)
  })

  it.each([
    ['{ word: { eq: "a" } }', "word = 'a'"],
    ['{ word: { neq: "a" } }', "word <> 'a'"],
    ['{ word: { in: ["a", "c"] } }', "word in ('a', 'c')"],
    ['{ word: { gt: "a", lte: "B" } }', "word > 'a' and word <= 'B'"],
    ['{ maybe: { neq: "B" } }', "maybe <> 'b'"],
    ['{ word: { like: "A%" } }', "word like 'a%'"],
    ['{ maybe: { ilike: "A%" } }', "maybe ilike 'a%'"],
    ['{ word: { regex: "^[AC]$" } }', "word ~ '^[AC]$'"],
    ['{ maybe: { iregex: "^b$" } }', "maybe ~* '^b$'"],
    ['{ not: { shout: { like: "A" } } }', "word not like 'a'"],
    ['{ shout: { eq: "a" } }', "word = 'a'"],
    ['{ tags: { eq: "k1=>v1" } }', "tags = 'k1=>v1'"],
    ['{ domained: { eq: "k=>1" } }', "domained = 'k=>1'"],
  ])('%s compares as the type does', async (filter, condition) => {
    const { data } = await service.graphql(`{ itemCollection(filter: ${filter}) { edges { node { id } } } }`)
    const { rows } = await service.db
      .query(`set search_path = public, ext; select id from item where ${condition} order by id`)
      .then((results) => [results].flat().at(-1) ?? { rows: [] })
    expect(rows).not.toEqual([])
    expect(data.itemCollection.edges.map(({ node }: { node: { id: number } }) => node)).toEqual(rows)
  })

  it('attributes compare as their type does, and rows are related as their keys are', async () => {
    const { data } = await service.graphql(`{
      labelsCollection(filter: { label: { word: { eq: "ONE" } } }) { edges { node { id } } }
      visitCollection { edges { node { id shop { n } } } }
      shopCollection(filter: { visitCollection: { some: { word: { in: ["b", "d"] } } } }, orderBy: [{ visitCollection: { count: DescNullsLast } }]) {
        edges { node { word visitCollection { edges { node { id } } } } }
      }
      shopByPk(word: "D") { n }
    }`)
    expect(data).toEqual({
      labelsCollection: { edges: [{ node: { id: 1 } }] },
      visitCollection: {
        edges: [1, 2, 2, null].map((n, index) => ({ node: { id: index + 1, shop: n === null ? null : { n } } })),
      },
      shopCollection: {
        edges: [
          { node: { word: 'B', visitCollection: { edges: [{ node: { id: 2 } }, { node: { id: 3 } }] } } },
          { node: { word: 'd', visitCollection: { edges: [{ node: { id: 1 } }] } } },
        ],
      },
      shopByPk: { n: 1 },
    })
  })

  it('a type without an order is offered none', async () => {
    const schema = await introspect(service)
    const orders = ['id', 'tags', 'domained', 'word', 'maybe', 'title', 'net', 'span', 'kind', 'ids']
    expect(namesOf(schema, 'itemOrderBy')).toEqual(orders)
    expect([...namesOf(schema, 'itemDistinctField')].sort()).toEqual([...orders].sort())
    for (const name of orders) {
      const answer = await service.graphql(
        `{ itemCollection(first: 1, orderBy: [{${name}: DescNullsLast}]) { edges { cursor } } }`,
      )
      expect(answer.errors).toBeUndefined()
    }
  })
})
