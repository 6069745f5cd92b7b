import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { fieldsOf, introspect, namesOf, signatureOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "inflect_names": true, "schemaReport": {"enabled": true},
    "explain": {"enabled": true}, "limits": {"rows": 100}})';
  create table post (id int primary key, title text, hidden boolean not null default false);
  create table photo (id int primary key, size int);
  create table mark (id int primary key, post_id int references post, photo_id int references photo);
  create table vote (id int primary key, photo_id int references photo, mark_id int references mark);
  insert into post select n, 'post ' || n, n = 2 from generate_series(1, 3000) n;
  insert into photo select n, n from generate_series(1, 3000) n;
  insert into mark select n, case when n % 2 = 0 then n end, case when n % 2 = 1 then n end from generate_series(1, 3000) n;
  alter table post enable row level security;
  create policy seen on post using (not hidden);
  comment on table mark is '@graphql({"polymorphism": {"unions": {"target": ["post", "photo"], "lost": ["posts"]}}})';
  comment on table vote is '@graphql({"polymorphism": {"unions": {"about": ["mark", "photo"]}}})';
  grant all on post, photo, mark, vote to anon;
  analyze;
`

describe('unions', () => {
  const service = forSuite(createTestService, { sql })
  const ask = async (query: string, variables = {}) => dataOf(await service.graphql(query, { variables }))
  const targets = async (ids: string, selection: string) =>
    (
      await ask(
        `{ found: markCollection(filter: {id: {in: [${ids}]}}) { edges { node { target { ${selection} } } } } }`,
      )
    ).found.edges.map(({ node }: { node: { target: object | null } }) => node.target)

  it('are looked into by fragments on themselves, on Node and on unions that share a type, wherever rows are', async () => {
    const { mark } = await ask(`
      { mark: markByPk(id: 3) { target { ...Of ... on Node { nodeId } ... on VoteAbout { ... on Photo { size } } } } }
      fragment Of on MarkTarget { __typename ... on Photo { id again: id ... on MarkTarget { ... on Photo { size } } } }`)
    expect(mark.target).toEqual({ __typename: 'Photo', id: 3, again: 3, size: 3, nodeId: expect.any(String) })
    const { node } = await ask(
      'query N($id: ID!) { node(nodeId: $id) { ... on VoteAbout { ... on Photo { size } } ... on Photo { id } } }',
      { id: mark.target.nodeId },
    )
    expect(node).toEqual({ size: 3, id: 3 })
    const { added } = await ask(`mutation { added: insertIntoMarkCollection(objects: [{id: 4000, photoId: 5}]) {
      records { target { ... on Photo { size } } } } }`)
    expect(added.records).toEqual([{ target: { size: 5 } }])
    await ask('mutation { deleteFromMarkCollection(filter: {id: {eq: 4000}}) { affectedCount } }')
  })

  it('count as what is selected of all types together', async () => {
    const counted = await service.graphql(`{ markCollection(first: 4) { edges { node { target {
      ... on Post { markCollection(first: 14) { edges { node { id } } } } ... on Photo { markCollection(first: 14) { edges { node { id } } } } } } } } }`)
    expect(counted.errors?.map(({ message }) => message)).toEqual([
      'The document may select 116 rows; at most 100 are allowed.',
    ])
  })

  it('are explained under their field, whichever key leads there', async () => {
    const { extensions } = await service.graphql(
      '{ mark: markByPk(id: 3) { it: target { ... on Post { title } ... on Photo { size } } } }',
      { extensions: { explain: true } },
    )
    const text = JSON.stringify(extensions?.['explain'])
    expect(text).toMatch(/"Relation Name":"photo"[^}]*"GraphQL Path":\["mark","it"\]/)
    expect(text).toMatch(/"Relation Name":"post"[^}]*"GraphQL Path":\["mark","it"\]/)
  })

  it('that name what is not there have no field, which the report says', async () => {
    const { extensions } = await service.graphql('{ __typename }', { extensions: { schemaReport: true } })
    expect(JSON.stringify(extensions?.['schemaReport'])).toContain('there is no relation \\"posts\\"')
    expect(namesOf(await introspect(service), 'Mark')).not.toContain('lost')
  })

  it('share the columns of an interface that their types have, as far as the role may read them', async () => {
    for (const table of ['photo', 'post'])
      await service.db.query(`comment on table ${table} is '@graphql({"polymorphism": {"interfaces": ["Sized"]}})'`)
    await service.db.query('alter table post add column size int not null default 0')
    const shown = async () => fieldsOf(await introspect(service), 'Sized')
    expect(await shown()).toEqual(['nodeId: ID!', 'id: Int!', 'size: Int'])
    expect(await targets('3, 4', '... on Sized { id size }')).toEqual([
      { id: 3, size: 3 },
      { id: 4, size: 0 },
    ])
    await service.db.query('revoke select on photo from anon; grant select (id) on photo to anon')
    expect(await shown()).toEqual(['nodeId: ID!', 'id: Int!'])
    await service.db.query('revoke select on photo, post from anon')
    expect(await shown()).toEqual([])
    await service.db.query(
      'grant select on photo, post to anon; comment on table photo is null; comment on table post is null',
    )
    expect(await shown()).toEqual([])
  })

  it('have for each role the types that it has the keys to, and no field without one', async () => {
    const shown = async () => {
      const schema = await introspect(service)
      return [namesOf(schema, 'MarkTarget'), signatureOf(schema, 'Mark', 'target')]
    }
    expect(await shown()).toEqual([['Photo', 'Post'], 'target: MarkTarget'])
    await service.db.query('revoke select on mark from anon; grant select (id, photo_id) on mark to anon')
    expect(await shown()).toEqual([['Photo'], 'target: MarkTarget'])
    await service.db.query('revoke select on photo from anon')
    expect(await shown()).toEqual([[], undefined])
    const refused = await service.graphql('{ markCollection { edges { node { ... on MarkTarget { __typename } } } } }')
    expect(refused.errors?.[0]?.message).toBe('Unknown type "MarkTarget".')
    await service.db.query('grant select on mark, photo to anon')
    expect(await shown()).toEqual([['Photo', 'Post'], 'target: MarkTarget'])
  })
})
