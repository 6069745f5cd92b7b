import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../support/answers.ts'
import { introspect, namesOf } from '../../../support/api-schema.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { lastPlan } from '../../../support/last-plan.ts'
import { createTestService } from '../../../support/service.ts'

const sql = `
  comment on schema public is '@graphql({"introspection": true, "orderByRelated": {"enabled": true}})';
  create table author (id int primary key, name text not null, secret int);
  create table editor (id int primary key, name text);
  create table post (
    id int primary key, author_id int not null references author, editor_id int references editor, hidden bool not null
  );
  create table vault (id int primary key, post_id int references post);
  insert into author select n, 'Author ' || lpad(n::text, 4, '0'), 0 from generate_series(1, 2000) n;
  insert into editor select n, nullif('Editor ' || n, 'Editor 3') from generate_series(1, 9) n;
  insert into post select n, 1 + n % 2000, nullif(n % 10, 0), n % 7 = 0 from generate_series(1, 20000) n;
  create index on post (author_id, id);
  create index on author (name, id);
  alter table editor enable row level security;
  create policy shown on editor using (id <> 5);
  alter table post enable row level security;
  create policy shown on post using (not hidden);
  grant select (id, name) on author to anon;
  grant select on editor, post to anon;
  analyze;
`

describe('orderByRelated', () => {
  const service = forSuite(createTestService, { sql })

  it('offers what the role may read: fields of one related row, and the count of many', async () => {
    const schema = await introspect(service)
    expect(namesOf(schema, 'postOrderBy')).toEqual(['id', 'author_id', 'editor_id', 'hidden', 'author', 'editor'])
    expect(namesOf(schema, 'authorOrderBy')).toEqual(['id', 'name', 'postCollection'])
    expect(namesOf(schema, 'postRelationOrderBy')).toEqual(['count'])
  })

  const plan = async (orderBy: string): Promise<string> => {
    const query = `{ postCollection(orderBy: ${orderBy}, first: 20) { edges { node { id } } pageInfo { hasNextPage } } }`
    dataOf(await service.graphql(query))
    return lastPlan(service, { analyze: true })
  }

  it('begins at the index of the related rows where every row has one', async () => {
    const explained = await plan('[{author: {name: AscNullsLast}}]')
    expect(explained).toContain('"Index Name":"author_name_id_idx"')
    expect(explained).not.toContain('"Node Type":"Seq Scan"')
  })

  it('joins related rows once, however many of their fields decide', async () => {
    const explained = await plan('[{editor: {name: AscNullsLast}}, {editor: {id: DescNullsLast}}]')
    expect([...explained.matchAll(/"Relation Name":"editor"/g)]).toHaveLength(1)
  })
})
