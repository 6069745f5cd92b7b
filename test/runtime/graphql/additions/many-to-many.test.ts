import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "inflect_names": true, "relationFilters": {"enabled": true},
    "orderByRelated": {"enabled": true}, "manyToMany": {"enabled": true}})';
  create table post (id int primary key, title text);
  comment on table post is '@graphql({"totalCount": {"enabled": true}})';
  create table tag (id int primary key, name text);
  create table post_tag (post_id int references post, tag_id int references tag, weight int, hidden boolean default false,
    primary key (post_id, tag_id));
  create index on post_tag (tag_id);
  insert into post select n, 'post ' || n from generate_series(1, 3000) n;
  insert into tag select n, 'tag ' || n from generate_series(1, 300) n;
  insert into post_tag select p, 1 + (p * 7 + t) % 300, t, t = 2 from generate_series(1, 3000) p, generate_series(0, 2) t;
  alter table post_tag enable row level security;
  create policy seen on post_tag using (not hidden);
  grant select on post, tag, post_tag to anon;
  analyze;
`

describe('manyToMany', () => {
  const service = forSuite(createTestService, { sql })
  const ask = async (query: string, variables = {}) => dataOf(await service.graphql(query, { variables }))
  const offered = async (type: string): Promise<readonly string[]> => namesOf(await introspect(service), type)

  it('leads to what a visible row connects, with that row on the edge, by its index', async () => {
    const { tag } = await ask(
      '{ tag: tagByPk(id: 8) { postCollection(first: 2) { totalCount edges { postTag { weight } node { id } } } } }',
    )
    const seen = await service.db.query(
      'select post_id, weight from post_tag where tag_id = 8 and not hidden order by post_id',
    )
    expect(tag.postCollection.totalCount).toBe(seen.rows.length)
    expect(tag.postCollection.edges).toEqual(
      seen.rows.slice(0, 2).map(({ post_id: id, weight }) => ({ postTag: { weight }, node: { id } })),
    )
    expect(await lastPlan(service, { analyze: true })).toContain('"Index Name":"post_tag_tag_id_idx"')
  })

  it('is not there without the right on the table in between, nor where that has it off', async () => {
    expect(await offered('Tag')).toContain('postCollection')
    expect(await offered('PostEdge')).toContain('postTag')
    await service.db.query('revoke select on post_tag from anon; grant select (post_id, weight) on post_tag to anon')
    expect(await offered('Tag')).not.toContain('postCollection')
    expect(await offered('PostEdge')).toEqual(['cursor', 'node'])
    await service.db.query('grant select on post_tag to anon')
    expect(await offered('Tag')).toContain('postCollection')
    await service.db.query(`comment on table post_tag is '@graphql({"manyToMany": {"enabled": false}})'`)
    expect(await offered('Tag')).not.toContain('postCollection')
  })
})
