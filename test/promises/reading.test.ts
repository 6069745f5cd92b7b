import { describe, expect, test } from 'vitest'
import { dataOf } from '../support/answers.ts'
import { forSuite } from '../support/for-suite.ts'
import { createTestService } from '../support/service.ts'

/** Known faults of reading and paging elsewhere; each test promises that one does not occur here. */
const schema = `
  create type mood as enum ('sad', 'glad');
  create table team (id int primary key, name text);
  alter table team enable row level security;
  create policy shown on team for select using (id > 1);
  create table member (id int primary key, team_id int not null references team, nick text, seen timestamptz not null default '2024-01-01', score int);
  insert into team values (1, 'hidden'), (2, 'shown');
  insert into member (id, team_id, nick, score) select i, 1 + i % 2, 'n' || i % 2, nullif(i % 3, 0) from generate_series(1, 9) i;
  create table badge (member_id int references member, kind text);
  create unique index on badge (member_id) where kind = 'gold';
  create unique index on badge (lower(kind), member_id);
  alter table badge add column id int generated always as identity primary key;
  insert into badge (member_id, kind) values (1, 'gold'), (1, 'tin');
  create table loose (id int primary key, note text, list text[], moods mood[]);
  insert into loose values (1, null, '{}', '{}'), (2, null, null, null);
  create function nothing() returns loose stable language sql as 'select null::loose';
  create function nulls() returns loose stable language sql as 'select row(null, null, null, null)::loose';
  create function partly() returns loose stable language sql as $$ select row(null, 'x', null, null)::loose $$;
  create table log (at timestamptz not null default clock_timestamp(), id int primary key);
  create function counted() returns setof loose volatile language sql as
    $$ insert into log (id) select coalesce(max(id), 0) + 1 from log; select * from loose $$;
  grant all on all tables in schema public to anon;
`

const service = forSuite(createTestService, { sql: schema })

const ask = async (query: string, variables: Record<string, unknown> = {}) =>
  dataOf(await service.graphql(query, { variables }))

describe('reading shows every row once', () => {
  test('rows that arrive or go between two pages shift no page', async () => {
    const page = (after: string | null) =>
      ask(
        'query ($after: Cursor) { memberCollection(first: 3, after: $after) { edges { node { id } } pageInfo { endCursor hasNextPage } } }',
        { after },
      )
    const ids = (data: any) => data.memberCollection.edges.map(({ node }: any) => node.id)
    const first = await page(null)
    expect(ids(first)).toEqual([1, 2, 3])
    await service.db.query(
      'insert into member (id, team_id) values (0, 2); update member set nick = nick where id = 2; delete from member where id = 9',
    )
    const second = await page(first.memberCollection.pageInfo.endCursor)
    expect(ids(second)).toEqual([4, 5, 6])
    await service.db.query('update member set score = null where id = 6')
    const third = await page(second.memberCollection.pageInfo.endCursor)
    expect(ids(third)).toEqual([7, 8])
    expect(third.memberCollection.pageInfo.hasNextPage).toBe(false)
    await service.db.query('delete from member where id = 0; insert into member (id, team_id) values (9, 2)')
  })

  test('the row that a cursor names may be gone', async () => {
    await service.db.query('insert into member (id, team_id, score) values (100, 2, 50)')
    const { memberCollection } = await ask(
      '{ memberCollection(orderBy: { score: DescNullsLast }, first: 1) { edges { cursor node { id } } } }',
    )
    expect(memberCollection.edges[0].node.id).toBe(100)
    await service.db.query('delete from member where id = 100')
    const query = `{ memberCollection(orderBy: { score: DescNullsLast }, first: 1, after: "${memberCollection.edges[0].cursor}") { edges { node { score } } pageInfo { hasPreviousPage } } }`
    expect(await ask(query)).toEqual({
      memberCollection: { edges: [{ node: { score: 2 } }], pageInfo: { hasPreviousPage: false } },
    })
  })

  test('a cursor taken from times keeps their microseconds, in whatever zone it was written', async () => {
    await service.db.query(
      `update member set seen = '2024-03-31 01:30:00.000001+01'::timestamptz + id % 3 * interval '1 microsecond'`,
    )
    const walk = async (): Promise<readonly number[]> => {
      const found: number[] = []
      let after: string | null = null
      do {
        const query =
          'query ($after: Cursor) { memberCollection(first: 2, after: $after, orderBy: { seen: DescNullsLast }) { edges { node { id } } pageInfo { endCursor hasNextPage } } }'
        const { edges, pageInfo }: any = (await ask(query, { after })).memberCollection
        found.push(...edges.map(({ node }: any) => node.id))
        after = pageInfo.hasNextPage ? pageInfo.endCursor : null
      } while (after !== null)
      return found
    }
    const { rows } = await service.db.query('select id from member order by seen desc, id')
    expect(await walk()).toEqual(rows.map(({ id }) => id))
  })
})

describe('null is null, empty is empty', () => {
  test('a parent that a policy hides is null, although the key to it is never null', async () => {
    expect(
      await ask('{ memberCollection(filter: { id: { in: [2, 3] } }) { edges { node { id team { name } } } } }'),
    ).toEqual({
      memberCollection: { edges: [{ node: { id: 2, team: null } }, { node: { id: 3, team: { name: 'shown' } } }] },
    })
  })

  test('a partial or computed unique index makes no relation one-to-one', async () => {
    expect(await ask('{ memberByPk(id: 1) { badgeCollection { edges { node { kind } } } } }')).toEqual({
      memberByPk: { badgeCollection: { edges: [{ node: { kind: 'gold' } }, { node: { kind: 'tin' } }] } },
    })
  })
})
