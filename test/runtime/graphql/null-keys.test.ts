import { beforeEach, describe, expect, it } from 'vitest'
import { dataOf } from '../../support/answers.ts'
import { introspect, signatureOf } from '../../support/api-schema.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

/** Keys by comment whose columns may be null, one column or two, and what leads to their rows. */
const additions = ['groups', 'uniqueKeys', 'updates', 'distinctOn', 'orderByRelated', 'relationFilters', 'manyToMany']
  .map((name) => `"${name}": {"enabled": true}`)
  .join(', ')
const totals = '"totalCount": {"enabled": true}, "aggregate": {"enabled": true}'
const sql = `
  comment on schema public is '@graphql({"introspection": true, ${additions}})';
  create table owner (id int primary key);
  comment on table owner is '@graphql({${totals}})';
  create table part (a int, b int, code text unique not null, owner_id int references owner, n int, unique (a, b));
  comment on table part is '@graphql({"primary_key_columns": ["a", "b"], ${totals}})';
  create table use (id int primary key, code text not null references part (code));
  create view seen as select a, b, code, n from part;
  comment on view seen is '@graphql({"primary_key_columns": ["a"], ${totals}})';
  create table tag (id int primary key, name text);
  comment on table tag is '@graphql({${totals}})';
  create table tagged (owner_id int references owner, tag_id int references tag, note text, unique (owner_id, tag_id));
  comment on table tagged is '@graphql({"primary_key_columns": ["note"]})';
  create function made() returns setof owner language sql stable as 'values (1), (null), (3)';
  create table strict (id int primary key, name text not null);
  create function holed() returns setof strict language sql stable as
    $$ values (1, null), (null, 'x'), (2, 'y'), (3, null) $$;
  grant all on all tables in schema public to anon;
`

const fill = `
  truncate owner, part, use, tag, tagged;
  insert into owner values (1), (2), (3);
  insert into part values (1, 1, 'whole', 1, 1), (2, 2, 'other', 1, 2), (3, null, 'half', 1, 4), (null, 3, 'second', 2, 8), (null, null, 'none', 2, 16);
  insert into use values (1, 'whole'), (2, 'half'), (3, 'none');
  insert into tag values (1, 'a'), (2, 'b');
  insert into tagged values (1, 1, 'x'), (1, 2, null), (2, 2, null);
`

describe('a row whose key has a null', () => {
  const service = forSuite(createTestService, { sql })
  beforeEach(() => service.db.query(fill))

  const ask = async (query: string): Promise<any> => dataOf(await service.graphql(query))

  it('is in no collection, total, aggregate and group', async () => {
    const { part, seen } = await ask(`{
      part: partCollection { totalCount aggregate { count sum { n } } edges { node { code } } groups(by: [{ owner_id: VALUE }]) { key { owner_id } count } }
      seen: seenCollection { totalCount aggregate { sum { n } } edges { node { code } } }
    }`)
    expect(part).toEqual({
      totalCount: 2,
      aggregate: { count: 2, sum: { n: 3 } },
      edges: ['whole', 'other'].map((code) => ({ node: { code } })),
      groups: [{ key: { owner_id: 1 }, count: 2 }],
    })
    expect(seen).toEqual({
      totalCount: 3,
      aggregate: { sum: { n: 7 } },
      edges: ['whole', 'other', 'half'].map((code) => ({ node: { code } })),
    })
  })

  it.each([
    '',
    'orderBy: [{ b: AscNullsFirst }]',
    'orderBy: [{ a: DescNullsLast }]',
    'distinctOn: [owner_id, code], orderBy: [{ owner_id: AscNullsLast }, { code: AscNullsLast }]',
  ])('takes no place on pages (%s)', async (args) => {
    const page = async (more: string) =>
      (
        await ask(
          `{ c: partCollection(${more} ${args}) { totalCount edges { cursor node { a } } pageInfo { hasNextPage hasPreviousPage } } }`,
        )
      ).c
    const all = (await page('first: 9')).edges.map(({ node }: any) => node.a)
    expect(all.toSorted()).toEqual([1, 2])
    const first = await page('first: 1')
    expect(first).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: true, hasPreviousPage: false } })
    const second = await page(`first: 1, after: "${first.edges[0].cursor}"`)
    expect(second).toMatchObject({ pageInfo: { hasNextPage: false, hasPreviousPage: true } })
    expect([...first.edges, ...second.edges].map(({ node }: any) => node.a)).toEqual(all)
    expect((await page('last: 1')).edges.map(({ node }: any) => node.a)).toEqual(all.slice(-1))
  })

  it('is related to no row, in either direction, and counts for none', async () => {
    expect(signatureOf(await introspect(service), 'use', 'part')).toBe('part: part')
    const answer = await ask(`{
      use: useCollection { edges { node { id part { code } } } }
      owner: ownerCollection { edges { node { id partCollection { totalCount edges { node { code } } } } } }
      some: ownerCollection(filter: { partCollection: { some: { n: { gte: 4 } } } }) { edges { node { id } } }
      none: ownerCollection(filter: { partCollection: { none: {} } }) { edges { node { id } } }
      every: ownerCollection(filter: { partCollection: { every: { n: { lt: 4 } } } }) { edges { node { id } } }
      one: useCollection(filter: { part: { n: { gte: 1 } } }) { edges { node { id } } }
      sorted: useCollection(orderBy: [{ part: { n: DescNullsLast } }]) { edges { node { id } } }
      counted: ownerCollection(orderBy: [{ partCollection: { count: DescNullsLast } }]) { edges { node { id } } }
      grouped: useCollection { groups(by: [{ part: { code: VALUE } }]) { key { part { code } } count } }
      tags: ownerCollection { edges { node { tagCollection { totalCount edges { node { name } } } } } }
    }`)
    const ids = ({ edges }: any): readonly number[] => edges.map(({ node }: any) => node.id)
    expect(answer.use.edges.map(({ node }: any) => node.part)).toEqual([{ code: 'whole' }, null, null])
    expect(answer.owner.edges.map(({ node }: any) => node.partCollection.totalCount)).toEqual([2, 0, 0])
    expect([answer.some, answer.none, answer.every, answer.one].map(ids)).toEqual([[], [2, 3], [1, 2, 3], [1]])
    expect([answer.sorted, answer.counted].map(ids)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
    expect(answer.grouped.groups).toEqual([
      { key: { part: { code: 'whole' } }, count: 1 },
      { key: { part: { code: null } }, count: 2 },
    ])
    expect(answer.tags.edges.map(({ node }: any) => node.tagCollection.totalCount)).toEqual([1, 0, 0])
  })

  it('is found by no other key, and neither updated nor deleted', async () => {
    expect(await ask('{ half: partByCode(code: "half") { a } whole: partByCode(code: "whole") { a } }')).toEqual({
      half: null,
      whole: { a: 1 },
    })
    const changed = await ask(`mutation {
      update: updatepartCollection(set: { n: 0 }, atMost: 9) { affectedCount }
      one: updatepartByCode(code: "half", set: { n: 0 }) { a }
      delete: deleteFrompartCollection(filter: { n: { gte: 4 } }, atMost: 9) { affectedCount }
    }`)
    expect(changed).toEqual({ update: { affectedCount: 2 }, one: null, delete: { affectedCount: 0 } })
    const { rows } = await service.db.query('select n from part order by n')
    expect(rows.map(({ n }) => n)).toEqual([0, 0, 4, 8, 16])
  })

  it('is left out of what a function answers, whose other rows may have nulls that the table has not', async () => {
    const { made } = await ask('{ made { totalCount edges { node { id } } } }')
    expect(made).toEqual({ totalCount: 2, edges: [{ node: { id: 1 } }, { node: { id: 3 } }] })
    for (const [direction, expected] of [
      ['AscNullsFirst', [1, 3, 2]],
      ['DescNullsLast', [2, 1, 3]],
    ] as const) {
      const page = async (more: string) =>
        (await ask(`{ c: holed(orderBy: [{ name: ${direction} }]${more}) { edges { cursor node { id } } } }`)).c.edges
      const all = await page('')
      expect(all.map(({ node }: any) => node.id)).toEqual(expected)
      for (const [index, { cursor }] of all.entries())
        expect(await page(`, after: "${cursor}"`)).toEqual(all.slice(index + 1))
    }
  })
})
