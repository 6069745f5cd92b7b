import { describe, expect, it } from 'vitest'
import { dataOf } from '../../support/answers.ts'
import { introspect, signatureOf } from '../../support/api-schema.ts'
import { majors } from '../../support/database.ts'
import { forSuite } from '../../support/for-suite.ts'
import { createTestService } from '../../support/service.ts'

/** A table that inherits and whose column may be null, below a table whose column may not. */
const sqlFor = (major: number): string => `
  comment on schema public is '@graphql({"introspection": true})';
  create table parent (id int primary key, v int not null${major < 18 ? '' : ' no inherit'});
  create table heir (x int) inherits (parent);
  ${major < 18 ? 'alter table heir alter v drop not null;' : ''}
  insert into parent select n, n % 3 from generate_series(1, 6) n;
  insert into heir select 100 + n, case when n % 2 = 0 then n end from generate_series(1, 6) n;
  grant select on parent to anon;
`

describe.each(majors().map((major) => [major] as const))(
  'a table from which others inherit on PostgreSQL %i',
  (major) => {
    const service = forSuite(createTestService, { sql: sqlFor(major), major })

    const typeOfV = async (): Promise<string> => {
      const { data } = await service.graphql('{ __type(name: "parent") { fields { name type { kind } } } }')
      const fields = data.__type.fields as readonly { name: string; type: { kind: string } }[]
      return fields.find(({ name }) => name === 'v')?.type.kind ?? ''
    }

    it('has a nullable field where an heir may hold a null, and reads it', async () => {
      expect(signatureOf(await introspect(service), 'parent', 'v')).toBe('v: Int')
      const found = await service.graphql(
        '{ c: parentCollection(filter: { v: { is: NULL } }) { edges { node { id v } } } }',
      )
      expect(dataOf(found).c.edges.map(({ node }: { node: unknown }) => node)).toEqual(
        [101, 103, 105].map((id) => ({ id, v: null })),
      )
    })

    it.each(['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'])(
      'loses no row of an heir on pages in the order %s, in both directions',
      async (direction) => {
        const query = `query Q($first: Int, $after: Cursor, $last: Int, $before: Cursor) {
        c: parentCollection(orderBy: [{ v: ${direction} }], first: $first, after: $after, last: $last, before: $before) {
          edges { node { id } } pageInfo { startCursor endCursor } } }`
        const page = async (variables: Readonly<Record<string, unknown>>) =>
          dataOf(await service.graphql(query, { variables })).c
        const ids = (edges: readonly { readonly node: { readonly id: number } }[]): readonly number[] =>
          edges.map(({ node }) => node.id)
        const forward: number[] = []
        for (let after: string | null = null; ;) {
          const { edges, pageInfo } = await page({ first: 1, after })
          if (edges.length === 0) break
          forward.push(...ids(edges))
          after = pageInfo.endCursor
        }
        const backward: number[] = []
        for (let before: string | null = null; ;) {
          const { edges, pageInfo } = await page({ last: 1, before })
          if (edges.length === 0) break
          backward.unshift(...ids(edges))
          before = pageInfo.startCursor
        }
        const { rows } = await service.db.query(
          `select id from parent order by v ${direction.startsWith('Desc') ? 'desc' : 'asc'} nulls ${direction.endsWith('First') ? 'first' : 'last'}, id`,
        )
        const all = rows.map(({ id }) => id)
        expect([forward, backward]).toEqual([all, all])
      },
    )

    it('follows what an heir says from the next request on', async () => {
      await service.db.query("comment on table heir is 'a note'")
      expect(await typeOfV()).toBe('SCALAR')
      await service.db.query('alter table heir no inherit parent')
      expect(await typeOfV()).toBe('NON_NULL')
      await service.db.query('create table strict () inherits (parent); alter table strict alter v set not null')
      expect(await typeOfV()).toBe('NON_NULL')
      await service.db.query('alter table strict alter v drop not null')
      expect(await typeOfV()).toBe('SCALAR')
      await service.db.query('drop table strict')
      expect(await typeOfV()).toBe('NON_NULL')
      const setNotNull = major < 18 ? 'alter v set not null' : 'add constraint there not null v no inherit'
      await service.db.query(`create table near () inherits (parent); alter table near ${setNotNull}`)
      expect(await typeOfV()).toBe('NON_NULL')
      await service.db.query('create table far () inherits (near); alter table far alter v drop not null')
      expect(await typeOfV()).toBe('SCALAR')
    })
  },
)
