import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { introspect, namesOf } from '../../support/api-schema.ts'
import { majors } from '../../support/database.ts'
import { createTestService, type TestService } from '../../support/service.ts'

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
  grant all on all tables in schema public to anon;
  comment on schema public is '@graphql({"introspection": true, "distinctOn": {"enabled": true}, "DOMAINS"})';
`
const withDomains = (enabled: boolean): string => sql.replace('"DOMAINS"', `"domains": {"enabled": ${enabled}}`)

const cases = majors().flatMap((major) => [true, false].map((domains) => [major, domains] as const))

describe.each(cases)('orders on PostgreSQL %i, with domains served as what they are of: %s', (major, domains) => {
  let service: TestService
  beforeAll(async () => {
    service = await createTestService({ major, sql: withDomains(domains) })
  })
  afterAll(() => service?.close())

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

  it('what has no order is offered none', async () => {
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
