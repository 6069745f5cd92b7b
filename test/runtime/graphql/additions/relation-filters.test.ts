import { describe, expect, it } from 'vitest'
import { dataOf, messagesOf } from '../../../support/answers.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const rows = 20_000
const sql = `
  comment on schema public is '@graphql({"introspection": true, "relationFilters": {"enabled": true}})';
  create table author (id int primary key, name text not null, secret text);
  create table post (id int primary key, author_id int not null references author, title text, hidden bool not null);
  create table note (id int primary key, post_id int references post, text text);
  create table vault (id int primary key, post_id int references post);
  insert into author select n, 'Author ' || n, 'x' from generate_series(1, 2000) n;
  insert into post select n, 1 + n % 2000, 'Post ' || n, n % 10 = 0 from generate_series(1, ${rows}) n;
  insert into note select n, n * 10, 'Note' from generate_series(1, 1000) n;
  create index on post (author_id); create index on note (post_id); create index on author (name);
  alter table post enable row level security;
  create policy shown on post using (not hidden);
  grant select (id, name) on author to anon;
  grant select on post, note to anon;
  grant delete on author to anon;
  analyze;
`

describe('relationFilters', () => {
  const service = forSuite(createTestService, { sql })

  it('offers what the role may read, and nothing else', async () => {
    const shown = await introspect(service)
    expect(namesOf(shown, 'postFilter')).toEqual(expect.arrayContaining(['author', 'noteCollection']))
    expect(namesOf(shown, 'postFilter')).not.toContain('vaultCollection')
    expect(namesOf(shown, 'authorFilter')).not.toContain('secret')
    expect(namesOf(shown, 'noteRelationFilter')).toEqual(['some', 'every', 'none'])
    const [message] = messagesOf(
      await service.graphql('{ postCollection(filter: {author: {secret: {eq: "x"}}}) { edges { cursor } } }'),
    )
    expect(message).toMatch(/Field "secret" is not defined by type "authorFilter"/)
  })

  it('refuses more conditions than Postgres can plan in time, however they came together', async () => {
    const many = Array.from({ length: 41 }, (_, index) => `c${index}: postCollection(filter: $f) { __typename }`)
    const document = `query Q($f: postFilter) { ${many.join(' ')} }`
    const f = { or: Array.from({ length: 5 }, () => ({ author: { name: { eq: 'x' } } })) }
    const { errors } = await service.graphql(document, { variables: { f } })
    expect(errors?.[0]?.extensions.code).toBe('DOCUMENT_TOO_LARGE')
  })

  it('is answered by indexes, from the related rows to the rows', async () => {
    const query =
      'query Q($n: String) { found: postCollection(filter: {author: {name: {eq: $n}}}) { edges { node { id } } } }'
    expect(dataOf(await service.graphql(query, { variables: { n: 'Author 7' } })).found.edges).toHaveLength(10)
    const plan = await lastPlan(service)
    expect(plan).not.toContain('Seq Scan')
    expect(plan).toContain('author_name_idx')
    expect(plan).toContain('post_author_id_idx')
  })
})

describe('quantifiers of relationFilters', () => {
  const service = forSuite(createTestService, {
    sql: `comment on schema public is '@graphql({"relationFilters": {"enabled": true}})';
        create table "order" (id int primary key);
        create table line (id int generated always as identity primary key, order_id int references "order", amount int);
        insert into "order" select generate_series(1, 6);
        insert into line (order_id, amount) values (1, 1), (1, 1), (2, 1), (2, null), (3, null), (5, 1), (5, 2), (6, 2);
        grant select on "order", line to anon;`,
  })

  it.each([
    ['some', 'eq: 1', [1, 2, 5]],
    ['every', 'eq: 1', [1, 4]],
    ['none', 'eq: 1', [3, 4, 6]],
    ['some', 'lte: 1', [1, 2, 5]],
    ['every', 'lte: 1', [1, 4]],
    ['every', 'neq: 1', [4, 6]],
    ['every', 'is: NOT_NULL', [1, 4, 5, 6]],
    ['every', 'is: NULL', [3, 4]],
  ])(
    '%s of {amount: {%s}} takes a row for which the condition is unknown as one that fails it',
    async (name, condition, expected) => {
      const filter = `{lineCollection: {${name}: {amount: {${condition}}}}}`
      const { found } = dataOf(
        await service.graphql(`{ found: orderCollection(filter: ${filter}) { edges { node { id } } } }`),
      ) as { found: { edges: { node: { id: number } }[] } }
      expect(found.edges.map(({ node }) => node.id)).toEqual(expected)
    },
  )
})
