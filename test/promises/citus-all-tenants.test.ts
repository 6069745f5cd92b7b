import { describe, expect, it } from 'vitest'
import { citusMajor, noCitus, createDistributed } from '../support/distributed.ts'
import { forSuite } from '../support/for-suite.ts'
import { titled } from '../support/programs.ts'
import { createTestService, type Answer } from '../support/service.ts'

/** Promise: what asks of all tenants at once is answered as it is without Citus, or refused for a reason; never with less. */

const major = citusMajor()
const tenant = `(current_setting('request.jwt.claims', true)::json ->> 'tenant')::bigint`

const sql = `
  alter role authenticated login;
  alter role service_role login;
  create table country (code text primary key, name text not null);
  create table project (
    tenant_id bigint not null, id bigint not null, name text not null, country text references country,
    primary key (tenant_id, id)
  );
  create table task (
    tenant_id bigint not null, id bigint not null, project_id bigint not null, title text not null,
    primary key (tenant_id, id)
  );
  create table apart (tenant_id bigint not null, id bigint not null, primary key (tenant_id, id));
  create table note (id int primary key, body text not null, country text references country);
  create table barred (tenant_id bigint primary key, name text not null);
  create function tasks_of(t bigint) returns setof task language sql stable as $$ select * from task x where x.tenant_id = t $$;
  create function all_tasks() returns setof task language sql stable as $$ select * from task $$;
  create function some_task() returns task language sql stable as $$ select * from task order by tenant_id, id limit 1 $$;
  create function task_count() returns bigint language sql stable as $$ select count(*) from task $$;
  create function _siblings(t task) returns setof task language sql stable as $$ select * from task x where x.tenant_id = t.tenant_id $$;
  comment on function _siblings(task) is '@graphql({"name": "siblings"})';
  create view open_task with (security_invoker) as select tenant_id, id, title from task;
  comment on view open_task is '@graphql({"primary_key_columns": ["tenant_id", "id"]})';
  select create_reference_table('country');
  select create_distributed_table('project', 'tenant_id');
  select create_distributed_table('task', 'tenant_id', colocate_with => 'project');
  select create_distributed_table('apart', 'tenant_id', colocate_with => 'none');
  select create_distributed_table('barred', 'tenant_id');
  alter table barred enable row level security;
  alter table task add foreign key (tenant_id, project_id) references project (tenant_id, id);
  comment on table apart is '@graphql({"foreign_keys": [{"local_name": "aparts", "local_columns": ["tenant_id", "id"],
    "foreign_name": "project", "foreign_schema": "public", "foreign_table": "project", "foreign_columns": ["tenant_id", "id"]}]})';
  insert into country values ('ch', 'Switzerland'), ('fr', 'France');
  insert into project select t, p, 'project ' || p || ' of ' || t, case p when 2 then 'ch' else 'fr' end
    from generate_series(1, 4) t, generate_series(1, 2) p;
  insert into task select t, i, i % 2 + 1, 'task ' || i || ' of ' || t from generate_series(1, 4) t, generate_series(1, 3) i;
  insert into apart select t, 1 from generate_series(1, 4) t;
  insert into barred values (1, 'nobody sees it');
  insert into note values (1, 'here', 'ch');
  alter table task enable row level security;
  create policy own on task using (tenant_id = ${tenant});
  comment on schema public is '@graphql({"inflect_names": false, "schemaReport": {"enabled": true}, "relationFilters": {"enabled": true},
    "orderByRelated": {"enabled": true}, "distinctOn": {"enabled": true}, "upsert": {"enabled": true}})';
  comment on table note is '@graphql({"foreign_keys": [{"local_columns": ["id"], "foreign_schema": "public",
    "foreign_table": "project", "foreign_columns": ["id"]}]})';
  comment on table task is '@graphql({"foreign_keys": [{"local_name": "named", "local_columns": ["id"], "foreign_name": "namesake",
    "foreign_schema": "public", "foreign_table": "project", "foreign_columns": ["id"]}], "totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  comment on table project is '@graphql({"totalCount": {"enabled": true}})';
  grant usage on schema public to authenticated, service_role;
  grant all on all tables in schema public to authenticated, service_role;
`

/** The answers with it, for a role without policies. */
const answered: readonly (readonly [string, unknown])[] = [
  [
    '{ taskCollection(first: 1) { totalCount pageInfo { hasNextPage } edges { node { title } } } }',
    {
      taskCollection: { totalCount: 12, pageInfo: { hasNextPage: true }, edges: [{ node: { title: 'task 1 of 1' } }] },
    },
  ],
  [
    '{ taskCollection(first: 1, after: "WzEsIDNd") { edges { cursor node { title } } } }',
    {
      taskCollection: { edges: [{ cursor: 'WzIsIDFd', node: { title: 'task 1 of 2' } }] },
    },
  ],
  [
    '{ taskCollection(last: 1) { pageInfo { hasPreviousPage } edges { node { title } } } }',
    {
      taskCollection: { pageInfo: { hasPreviousPage: true }, edges: [{ node: { title: 'task 3 of 4' } }] },
    },
  ],
  [
    '{ taskCollection(filter: { tenant_id: { in: ["1", "4"] } }) { totalCount aggregate { count sum { id } max { title } } } }',
    {
      taskCollection: { totalCount: 6, aggregate: { count: 6, sum: { id: 12 }, max: { title: 'task 3 of 4' } } },
    },
  ],
  [
    '{ taskCollection(distinctOn: [id]) { edges { node { title } } } }',
    {
      taskCollection: { edges: [1, 2, 3].map((id) => ({ node: { title: `task ${id} of 1` } })) },
    },
  ],
  [
    '{ taskCollection(first: 1) { totalCount } noteCollection { edges { node { body country { name } } } } }',
    {
      taskCollection: { totalCount: 12 },
      noteCollection: { edges: [{ node: { body: 'here', country: { name: 'Switzerland' } } }] },
    },
  ],
  [
    '{ open_taskCollection(first: 1) { edges { node { title } } } }',
    {
      open_taskCollection: { edges: [{ node: { title: 'task 1 of 1' } }] },
    },
  ],
  [
    '{ projectCollection(filter: { taskCollection: { some: { id: { eq: "2" } } } }) { totalCount } }',
    {
      projectCollection: { totalCount: 4 },
    },
  ],
  [
    '{ all_tasks(first: 1) { totalCount edges { node { title } } } }',
    {
      all_tasks: { totalCount: 12, edges: [{ node: { title: 'task 1 of 1' } }] },
    },
  ],
  [
    '{ tasks_of(t: "2") { totalCount edges { node { title } } } }',
    {
      tasks_of: { totalCount: 3, edges: [1, 2, 3].map((id) => ({ node: { title: `task ${id} of 2` } })) },
    },
  ],
  ['{ some_task { title } task_count }', { some_task: { title: 'task 1 of 1' }, task_count: '12' }],
]

/** Limitations of Citus for all forms of the statement. */
const crossing: readonly string[] = [
  '{ projectCollection { edges { node { taskCollection { edges { node { id } } } } } } }',
  '{ taskCollection { edges { node { project { name } } } } }',
  '{ countryCollection { edges { node { projectCollection { edges { node { name } } } } } } }',
  '{ apartCollection { edges { node { project { name } } } } }',
  'mutation { updateprojectCollection(set: { name: "x" }, atMost: 100) { records { taskCollection { edges { node { id } } } } } }',
  'mutation { updateprojectCollection(set: { tenant_id: "2" }, filter: { tenant_id: { eq: "1" } }, atMost: 100) { affectedCount } }',
]

const none = { affectedCount: 0, records: [] }
const changed = 'affectedCount records { title project { name } }'

describe.skipIf(major === null)(titled('questions over all tenants of Citus', noCitus()), () => {
  const service = forSuite(async () => createTestService({ database: await createDistributed(major ?? 15, sql) }))

  const ask = (query: string, role = 'service_role', claims = {}): Promise<Answer> =>
    service.graphql(query, { role, claims })

  it.each(answered)('answers %s', async (query, data) => {
    expect(await ask(query)).toEqual({ data })
  })

  it.each(crossing)('refuses %s', async (query) => {
    const { errors } = await ask(query)
    expect(errors).toMatchObject([
      { message: expect.stringMatching(/different servers/), extensions: { code: 'DATABASE_SHARDS_CROSSED' } },
    ])
  })

  it('name relations that cross shards, why, and what to do', async () => {
    const { extensions } = await service.graphql('{ __typename }', {
      role: 'service_role',
      extensions: { schemaReport: true },
    })
    const report: any = extensions?.['schemaReport']
    const told = report.remarks.filter(({ code }: any) => code.startsWith('relation-'))
    const saying = (object: string, why: string, fix: string) => ({
      code: 'relation-crosses-shards',
      severity: 'warning',
      object,
      message: expect.stringContaining(why),
      fix: expect.stringContaining(fix),
    })
    const within = (object: string) => expect.objectContaining({ code: 'relation-within-tenant', object })
    expect(told).toHaveLength(5)
    expect(told).toEqual(
      expect.arrayContaining([
        saying('table public.apart', 'are not co-located', `select alter_distributed_table('"public"."apart"',`),
        saying(
          'table public.note',
          'lies on the coordinator alone',
          `select create_reference_table('"public"."note"');`,
        ),
        saying('table public.task', 'its columns are not those', '"tenant_id"'),
        within('constraint task_tenant_id_project_id_fkey on public.task'),
        within('constraint project_country_fkey on public.project'),
      ]),
    )
  })

  it('shows no rows that a function of a row reads on a shard as if there were none', async () => {
    const query = '{ taskCollection(first: 1) { edges { node { siblings { edges { node { id } } } } } } }'
    for (const [role, claims] of [
      ['service_role', {}],
      ['authenticated', { tenant: 2 }],
    ] as const)
      expect((await ask(query, role, claims)).errors).toBeDefined()
  })

  // Citus fails where planning shows that a change within a statement concerns no row.
  it.each([
    ['no tenant', {}, ''],
    ['a contradiction', { tenant: 2 }, 'filter: { tenant_id: { eq: "3" } },'],
    ['an empty list', { tenant: 2 }, 'filter: { id: { in: [] } },'],
  ])('changes nothing where there is %s', async (_, claims, filter) => {
    const id = 100
    const query = `mutation {
      insertIntonoteCollection(objects: [{ id: ${id}, body: "x" }]) { affectedCount }
      updatetaskCollection(set: { title: "x" }, ${filter} atMost: 5) { ${changed} }
      deleteFromtaskCollection(${filter} atMost: 5) { ${changed} }
      deleteFromnoteCollection(filter: { id: { eq: ${id} } }) { affectedCount }
    }`
    expect(await ask(query, 'authenticated', claims)).toEqual({
      data: {
        insertIntonoteCollection: { affectedCount: 1 },
        updatetaskCollection: none,
        deleteFromtaskCollection: none,
        deleteFromnoteCollection: { affectedCount: 1 },
      },
    })
  })

  it('changes nothing of a table without policies', async () => {
    const query = 'mutation { deleteFrombarredCollection(atMost: 5) { affectedCount records { name } } }'
    expect(await ask(query, 'authenticated')).toEqual({ data: { deleteFrombarredCollection: none } })
    expect((await ask('{ barredCollection { edges { node { name } } } }')).data.barredCollection.edges).toHaveLength(1)
  })

  it('names a table as it is called, not its shard', async () => {
    const query = `mutation { insertIntotaskCollection(objects: [{ tenant_id: "3", id: "1", project_id: "1", title: "x" }]) { affectedCount } }`
    const [own, foreign] = [await ask(query), await ask(query, 'authenticated', { tenant: 2 })]
    expect(own.errors?.[0]?.message).toBe('duplicate key value violates unique constraint "task_pkey"')
    expect(foreign.errors?.[0]?.message).toBe('new row violates row-level security policy for table "task"')
  })
})
