import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "inflect_names": true, "relationFilters": {"enabled": true},
    "orderByRelated": {"enabled": true}, "schemaReport": {"enabled": true}, "explain": {"enabled": true}})';
  create table firm (id int primary key, name text);
  create table author (id int primary key, firm_id int references firm, hidden boolean not null default false);
  create table post (id int primary key, author_id int references author, status text);
  create table post_tag (post_id int references post, tag_id int, primary key (post_id, tag_id));
  create table tag (id int primary key, name text);
  alter table post_tag add foreign key (tag_id) references tag;
  create index on author (firm_id);
  create index on post (author_id);
  create index on post_tag (tag_id);
  create index drafts on post (author_id, id) where status is null;
  insert into firm select n, 'firm ' || n from generate_series(1, 20) n;
  insert into author select n, nullif(1 + n % 21, 21), n % 10 = 0 from generate_series(1, 400) n;
  insert into post select n, 1 + n % 400, case when n % 7 > 0 then 'open' end from generate_series(1, 6000) n;
  insert into tag select n, 'tag ' || n from generate_series(1, 90) n;
  insert into post_tag select p, 1 + (p * 7 + t) % 90 from generate_series(1, 6000) p, generate_series(0, 2) t;
  alter table author enable row level security;
  create policy seen on author using (not hidden);
  comment on table firm is '@graphql({"totalCount": {"enabled": true}, "links": {
    "posts": ["authorCollection", "postCollection"],
    "drafts": ["authorCollection", {"postCollection": {"status": {"is": "NULL"}}}],
    "tags": ["authorCollection", "postCollection", "postTagCollection", "tag"]}})';
  comment on table post is '@graphql({"totalCount": {"enabled": true}, "links": {
    "firm": ["author", "firm"], "heirs": ["author", "nobody"]}})';
  comment on table author is '@graphql({"links": {"drafts": [{"postCollection": {"status": {"is": "NULL"}}}]}})';
  comment on table tag is '@graphql({"totalCount": {"enabled": true}})';
  grant select on firm, author, post, post_tag, tag to anon;
  analyze;
`

const way = `author a join post p on p.author_id = a.id`

describe('links', () => {
  const service = forSuite(createTestService, { sql })
  const ask = async (query: string, variables = {}) => dataOf(await service.graphql(query, { variables }))
  const offered = async (type: string): Promise<readonly string[]> => namesOf(await introspect(service), type)
  const idsOf = async (text: string): Promise<readonly number[]> =>
    (await service.db.query(text)).rows.map(({ id }) => id)

  it('lead to rows that are visible all the way, each once, by the indexes of keys and conditions', async () => {
    const { firm } = await ask(`{ firm: firmByPk(id: 3) {
      posts { edges { node { id firm { id } } } }
      drafts { edges { node { id } } }
      tags(first: 9) { totalCount edges { node { id } } } } }`)
    const nodes = (name: string) => firm[name].edges.map(({ node }: { node: { id: number } }) => node.id)
    const on = 'where a.firm_id = 3 and not a.hidden'
    expect(nodes('posts')).toEqual(await idsOf(`select p.id from ${way} ${on} order by p.id limit 30`))
    expect(new Set(firm.posts.edges.map(({ node }: { node: { firm: object } }) => node.firm))).toEqual(
      new Set(firm.posts.edges.map(() => ({ id: 3 }))),
    )
    expect(nodes('drafts')).toEqual(
      await idsOf(`select p.id from ${way} ${on} and status is null order by p.id limit 30`),
    )
    const tags = await idsOf(
      `select distinct t.tag_id as id from ${way} join post_tag t on t.post_id = p.id ${on} order by id`,
    )
    expect(firm.tags.totalCount).toBe(tags.length)
    expect(nodes('tags')).toEqual(tags.slice(0, 9))
    await ask('{ author: authorByPk(id: 3) { drafts(first: 2) { edges { node { id } } } } }')
    expect(await lastPlan(service, { analyze: true })).toContain('"Index Name":"drafts"')
  })

  it('that lead nowhere have no field, which the report says', async () => {
    const { extensions } = await service.graphql('{ __typename }', { extensions: { schemaReport: true } })
    expect(JSON.stringify(extensions?.['schemaReport'])).toContain('table public.author has no relation \\"nobody\\"')
    expect(await offered('Post')).not.toContain('heirs')
  })

  it('are not there without a right on the way, nor on the column of a condition', async () => {
    expect(await offered('Firm')).toEqual(expect.arrayContaining(['posts', 'drafts', 'tags']))
    await service.db.query('revoke select on post_tag from anon; grant select (post_id) on post_tag to anon')
    expect(await offered('Firm')).not.toContain('tags')
    await service.db.query('revoke select on post from anon; grant select (id, author_id) on post to anon')
    const firm = await offered('Firm')
    expect([firm.includes('posts'), firm.includes('drafts')]).toEqual([true, false])
    expect(await offered('Author')).not.toContain('drafts')
    await service.db.query('revoke select on author from anon; grant select (id) on author to anon')
    expect(await offered('Firm')).not.toContain('posts')
    await service.db.query('grant select on author, post, post_tag to anon')
    expect(await offered('Firm')).toEqual(expect.arrayContaining(['posts', 'drafts', 'tags']))
  })
})
