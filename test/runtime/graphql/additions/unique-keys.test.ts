import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { introspect, namesOf, signatureOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const on = (more = ''): string =>
  `comment on schema public is '@graphql({"introspection": true, "inflect_names": true, "uniqueKeys": {"enabled": true}${more}})'`
const sql = `
  ${on()};
  create table post (id int primary key, slug text unique, pk int unique, owner text, hidden boolean not null default false);
  create table "Post" (id int primary key);
  insert into post select n, 'slug-' || n, n, null, n = 3 from generate_series(1, 5000) n;
  alter table post enable row level security;
  create policy seen on post using (not hidden);
  grant select on post to anon;
  analyze;
`

describe('uniqueKeys', () => {
  const service = forSuite(createTestService, { sql })
  const names = async (): Promise<readonly string[]> =>
    namesOf(await introspect(service), 'Query').filter((name) => name.startsWith('postBy'))

  it('finds the row by its key through the index, and no row that a policy hides', async () => {
    const query = 'query Q($slug: String!) { p: postBySlug(slug: $slug) { id } }'
    const find = async (slug: string) => dataOf(await service.graphql(query, { variables: { slug } })).p
    expect(await find('slug-3')).toBeNull()
    expect(await find('slug-4')).toEqual({ id: 4 })
    expect(await lastPlan(service, { analyze: true })).toContain('"Index Name":"post_slug_key"')
    expect(signatureOf(await introspect(service), 'Query', 'postBySlug')).toContain('slug: String!')
  })

  it('compares as the key does, where the type is not on the search path', async () => {
    await service.db.query(`create schema ext; grant usage on schema ext to anon; create extension citext schema ext;
      create table account (id int primary key, email ext.citext unique); grant select on account to anon;
      insert into account values (1, 'Ada@example.com')`)
    const query = '{ accountByEmail(email: "ada@EXAMPLE.com") { id email } }'
    expect(dataOf(await service.graphql(query)).accountByEmail).toEqual({ id: 1, email: 'Ada@example.com' })
  })

  it('takes no name from a key, and none from a function, no matter who may call that', async () => {
    expect(await names()).toEqual(['postByPk', 'postBySlug'])
    await service.db.query(`create function post_by_slug(slug text) returns post language sql stable as
      'select * from post where slug = $1 limit 1'`)
    expect(signatureOf(await introspect(service), 'Query', 'postBySlug')).toContain('slug: String')
    await service.db.query('revoke execute on function post_by_slug from public')
    expect(await names()).toEqual(['postByPk'])
    await service.db.query('drop function post_by_slug')
    expect(await names()).toEqual(['postByPk', 'postBySlug'])
  })

  it('refuses a null and a missing column, and is gone with its table’s root fields', async () => {
    const refusal = async (query: string) =>
      (await service.graphql(query)).errors?.map(({ extensions }) => extensions.code)
    expect(await refusal('{ postBySlug(slug: null) { id } }')).toEqual(['GRAPHQL_VALIDATION_FAILED'])
    expect(await refusal('{ postBySlug { id } }')).toEqual(['GRAPHQL_VALIDATION_FAILED'])
    await service.db.query(`comment on table post is '@graphql({"root": {"enabled": false}})'`)
    expect(await names()).toEqual([])
    await service.db.query('comment on table post is null')
  })
})
