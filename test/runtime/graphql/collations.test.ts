import { describe, expect, it } from 'vitest'
import { dataOf } from '../../support/answers.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

/** Keys whose two sides have different collations, both different from the database's. */
const additions = ['relationFilters', 'orderByRelated', 'manyToMany', 'nestedWrites', 'updates', 'groups', 'live']
  .map((name) => `"${name}": {"enabled": true}`)
  .join(', ')
const sql = `
  comment on schema public is '@graphql({${additions}})';
  create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create table parent (k text collate "C" primary key, v text);
  comment on table parent is '@graphql({"totalCount": {"enabled": true}, "relations": {"siblings": [{"through": "childCollection"}, {"through": "parent"}]}})';
  create table child (id int primary key, k text collate "en-x-icu" references parent);
  create table far (k text collate "POSIX" primary key);
  create table between (parent_k text collate "en-x-icu" references parent, far_k text collate "de-x-icu" references far,
    primary key (parent_k, far_k));
  create table two (a text collate "C", b text collate "POSIX", primary key (a, b));
  create table of_two (id int primary key, a text collate "en-x-icu", b text collate "de-x-icu", foreign key (a, b) references two);
  create view seen as select id, k from child;
  comment on view seen is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [{"local_name": "seens", "foreign_name": "parent",
    "local_columns": ["k"], "foreign_schema": "public", "foreign_table": "parent", "foreign_columns": ["k"]}]})';
  create function some_children() returns setof child language sql stable as 'select * from child';
  insert into parent values ('a', 'x'), ('b', 'w'), ('c', null);
  insert into child values (1, 'b'), (2, 'a'), (3, 'b'), (4, null);
  insert into far values ('f'), ('g');
  insert into between values ('a', 'f'), ('a', 'g'), ('b', 'g');
  insert into two values ('a', 'b'), ('a', 'c');
  insert into of_two values (1, 'a', 'c'), (2, null, 'c');
  grant all on all tables in schema public to anon;
`

describe('a relation between columns of different collations', () => {
  const service = forSuite(createTestService, { sql })

  const ask = async (query: string): Promise<any> => dataOf(await service.graphql(query))
  const ids = ({ edges }: any): readonly unknown[] => edges.map(({ node }: any) => node.id ?? node.k)

  it('is read in either direction, through tables, over several columns, from views and functions', async () => {
    const answer = await ask(`{
      child: childCollection { edges { node { id parent { v } } } }
      parent: parentCollection { edges { node { k childCollection { edges { node { id } } } farCollection { edges { node { k } } } seens { edges { node { id } } } } } }
      of: of_twoCollection { edges { node { id two { b } } } }
      two: twoCollection { edges { node { b of_twoCollection { edges { node { id } } } } } }
      seen: seenCollection { edges { node { id parent { k } } } }
      some: some_children { edges { node { id parent { k } } } }
    }`)
    expect(answer.child.edges.map(({ node }: any) => node.parent?.v ?? null)).toEqual(['w', 'x', 'w', null])
    expect(
      answer.parent.edges.map(({ node }: any) => [ids(node.childCollection), ids(node.farCollection), ids(node.seens)]),
    ).toEqual([
      [[2], ['f', 'g'], [2]],
      [[1, 3], ['g'], [1, 3]],
      [[], [], []],
    ])
    expect(answer.of.edges.map(({ node }: any) => node.two)).toEqual([{ b: 'c' }, null])
    expect(answer.two.edges.map(({ node }: any) => ids(node.of_twoCollection))).toEqual([[], [1]])
    for (const { edges } of [answer.seen, answer.some])
      expect(edges.map(({ node }: any) => node.parent?.k ?? null)).toEqual(['b', 'a', 'b', null])
  })

  it.each([
    ['child', '{ parent: { v: { eq: "w" } } }', [1, 3]],
    ['parent', '{ childCollection: { some: { id: { gt: 2 } } } }', ['b']],
    ['parent', '{ childCollection: { none: {} } }', ['c']],
    ['parent', '{ childCollection: { every: { id: { eq: 2 } } } }', ['a', 'c']],
    ['parent', '{ farCollection: { some: { k: { eq: "f" } } } }', ['a']],
  ])('is filtered by: %s where %s', async (table, filter, expected) => {
    expect(
      ids(
        (
          await ask(
            `{ c: ${table}Collection(filter: ${filter}) { edges { node { ${table === 'child' ? 'id' : 'k'} } } } }`,
          )
        ).c,
      ),
    ).toEqual(expected)
  })

  it('is sorted and grouped by, with pages', async () => {
    const pages = async (table: string, field: string, order: string, after = ''): Promise<readonly unknown[]> => {
      const { c } = await ask(
        `{ c: ${table}Collection(first: 1, orderBy: [${order}]${after}) { edges { cursor node { ${field} } } } }`,
      )
      return c.edges.length === 0
        ? []
        : [...ids(c), ...(await pages(table, field, order, `, after: "${c.edges[0].cursor}"`))]
    }
    expect(await pages('child', 'id', '{ parent: { v: AscNullsLast } }')).toEqual([1, 3, 2, 4])
    expect(await pages('parent', 'k', '{ childCollection: { count: DescNullsLast } }')).toEqual(['b', 'a', 'c'])
    expect(await pages('parent', 'k', '{ farCollection: { count: AscNullsLast } }')).toEqual(['c', 'b', 'a'])
    expect((await ask('{ c: childCollection { groups(by: [{ parent: { v: VALUE } }]) { count } } }')).c.groups).toEqual(
      [{ count: 2 }, { count: 1 }, { count: 1 }],
    )
  })

  it('is written', async () => {
    const written = await ask(`mutation {
      up: insertIntochildCollection(objects: [{ id: 10, parent: { insert: { k: "n", v: "new" } } }, { id: 11, parent: { connect: { k: "c" } } }]) { records { id parent { k } } }
      down: insertIntoparentCollection(objects: [{ k: "m", childCollection: { insert: [{ id: 12 }] } }]) { records { childCollection { edges { node { id } } } } }
    }`)
    expect(written.up.records).toEqual([
      { id: 10, parent: { k: 'n' } },
      { id: 11, parent: { k: 'c' } },
    ])
    expect(ids(written.down.records[0].childCollection)).toEqual([12])
    const moved = await ask(`mutation {
      c: updateparentByPk(k: "m", related: { childCollection: { connect: [{ id: 10 }], update: [{ id: 12, set: { id: 13 } }] } }) { childCollection { edges { node { id } } } }
      d: deleteFromchildCollection(filter: { parent: { k: { in: ["m", "c"] } } }, atMost: 9) { affectedCount }
    }`)
    expect(ids(moved.c.childCollection)).toEqual([10, 13])
    expect(moved.d.affectedCount).toBe(3)
  })
})
