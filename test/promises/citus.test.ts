import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { splitSql } from '../../compiler/commands/advise/diff/script.ts'
import { citusMajor, noCitus, createDistributed } from '../support/distributed.ts'
import { titled } from '../support/programs.ts'
import { createTestService, type Answer, type AskOptions, type TestService } from '../support/service.ts'

/** Tables are distributed by tenant, and policies show a caller those of the tenant in the token. */
const tenant = `(current_setting('request.jwt.claims', true)::json ->> 'tenant')::bigint`
const sql = `
  alter role anon login;
  alter role authenticated login;
  alter role service_role login;
  create table country (code text primary key, name text not null);
  create table project (
    tenant_id bigint not null, id bigint not null, name text not null, country text references country,
    primary key (tenant_id, id)
  );
  create table task (
    tenant_id bigint not null, id bigint not null, project_id bigint not null, title text not null, due timestamptz,
    primary key (tenant_id, id)
  );
  create table photo (tenant_id bigint not null, task_id bigint not null, url text not null, primary key (tenant_id, task_id));
  create table note (id int primary key, body text);
  create table shift (tenant_id bigint primary key, begins time check (date_part('dow', begins) > 0));
  create function oddity() returns float8 stable language sql as $$ select date_part('dow', time '10:00') $$;
  select create_reference_table('country');
  select create_distributed_table('project', 'tenant_id');
  select create_distributed_table('shift', 'tenant_id', colocate_with => 'project');
  select create_distributed_table('task', 'tenant_id', colocate_with => 'project');
  select create_distributed_table('photo', 'tenant_id', colocate_with => 'project');
  alter table task add foreign key (tenant_id, project_id) references project (tenant_id, id);
  alter table photo add foreign key (tenant_id, task_id) references task (tenant_id, id);
  insert into country values ('ch', 'Switzerland'), ('fr', 'France');
  insert into project select t, p, 'project ' || p || ' of ' || t, case p when 2 then 'ch' else 'fr' end
    from generate_series(1, 6) t, generate_series(1, 3) p;
  insert into task select t, i, i % 3 + 1, 'task ' || i || ' of ' || t, '2026-01-01 12:00Z'
    from generate_series(1, 6) t, generate_series(1, 9) i;
  insert into photo select t, i, 'photo ' || i || ' of ' || t from generate_series(1, 6) t, generate_series(1, 3) i;
  insert into note values (1, 'here');
  alter table project enable row level security;
  alter table task enable row level security;
  create policy own on project using (tenant_id = ${tenant});
  create policy own on task using (tenant_id = ${tenant});
  comment on schema public is '@graphql({"inflect_names": false, "explain": {"enabled": true},
    "schemaReport": {"enabled": true}})';
  comment on table task is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true},
    "relationFilters": {"enabled": true}, "orderByRelated": {"enabled": true}, "links": {"country": ["project", "country"]},
    "polymorphism": {"unions": {"shown": ["photo", "country"]}, "interfaces": ["Item"]}})';
  comment on table country is '@graphql({"links": {"tasks": ["projectCollection", "taskCollection"]}})';
  comment on table project is '@graphql({"totalCount": {"enabled": true}, "relationFilters": {"enabled": true},
    "orderByRelated": {"enabled": true}, "upsert": {"enabled": true}, "links": {"photos": ["taskCollection", "photo"]}})';
  grant usage on schema public to anon, authenticated, service_role;
  grant select on country, note to anon;
  grant select, insert, update, delete on country, project, task, photo, note, shift to authenticated, service_role;
`

/** The members of Citus in a plan, at any depth. */
const taskCounts = (plan: unknown): readonly unknown[] =>
  typeof plan !== 'object' || plan === null
    ? []
    : Object.entries(plan).flatMap(([key, value]) => (key === 'Task Count' ? [value] : taskCounts(value)))

const major = citusMajor()

describe.skipIf(major === null)(titled('a database of Citus', noCitus()), () => {
  let service: TestService
  beforeAll(async () => {
    const database = await createDistributed(major ?? 15, sql)
    service = await createTestService({ database })
  }, 120_000)
  afterAll(() => service?.close())

  const ask = (query: string, options: AskOptions = {}): Promise<Answer> =>
    service.graphql(query, { role: 'authenticated', claims: { tenant: 2 }, ...options })
  const dataOf = async (query: string, options?: AskOptions): Promise<any> => {
    const { data, errors } = await ask(query, options)
    expect(errors).toBeUndefined()
    return data
  }

  it('answers from reference and local tables', async () => {
    expect(
      await dataOf('{ countryCollection { edges { node { name } } } noteCollection { edges { node { body } } } }'),
    ).toEqual({
      countryCollection: { edges: [{ node: { name: 'Switzerland' } }, { node: { name: 'France' } }] },
      noteCollection: { edges: [{ node: { body: 'here' } }] },
    })
  })

  /** How many shards each statement of a document goes to. */
  const tasks = async (query: string, options?: AskOptions): Promise<readonly unknown[]> => {
    const { extensions } = await ask(query, { extensions: { explain: true }, ...options })
    const all = (extensions?.['explain'] ?? []) as readonly { readonly plan: unknown }[]
    return all.flatMap(({ plan }) => taskCounts(plan))
  }

  const nested = `{ projectCollection(orderBy: [{ id: AscNullsLast }]) { totalCount pageInfo { hasNextPage } edges { cursor node {
    nodeId name taskCollection(first: 1, orderBy: [{ id: DescNullsLast }]) { totalCount edges { node { title due project { name } } } }
  } } } }`

  it('nests the rows of a tenant', async () => {
    const { projectCollection } = await dataOf(nested)
    expect(projectCollection.totalCount).toBe(3)
    expect(projectCollection.edges.map(({ node }: any) => node.taskCollection)).toEqual(
      [9, 7, 8].map((task, index) => ({
        totalCount: 3,
        edges: [
          {
            node: {
              title: `task ${task} of 2`,
              due: '2026-01-01T12:00:00+00:00',
              project: { name: `project ${index + 1} of 2` },
            },
          },
        ],
      })),
    )
  })

  it('asks one server for it, and that for one shard', async () => {
    expect(await tasks(nested)).toEqual([1])
  })

  const insertShift = 'mutation { insertIntoshiftCollection(objects: [{ tenant_id: "9" }]) { affectedCount } }'

  it('says what a shard refuses where statements are explained, too', async () => {
    const onShards = (command: string) =>
      service.db.query('select * from run_command_on_shards($1, $2)', ['shift', command])
    await onShards('revoke insert on %s from authenticated')
    for (const extensions of [{}, { explain: true }])
      expect((await ask(insertShift, { extensions })).errors).toMatchObject([
        { message: 'permission denied for table shift', extensions: { sqlstate: '42501' } },
      ])
    await onShards('grant insert on %s to authenticated')
  })

  it('offers an insert of single columns where the role may insert the defaults that Citus sends along, too', async () => {
    const inserted = { data: { insertIntoshiftCollection: { affectedCount: 1 } } }
    const remarks = async () => {
      const { extensions } = await ask('{ __typename }', { extensions: { schemaReport: true } })
      const report: any = extensions?.['schemaReport']
      return report.remarks.filter(({ code }: any) => code === 'defaults-sent')
    }
    await service.db.query('revoke insert on shift from authenticated')
    await service.db.query('grant insert (tenant_id) on shift to authenticated')
    expect(await ask(insertShift)).toEqual(inserted)
    await service.db.query('delete from shift')
    await service.db.query('alter table shift add column more int default 1')
    expect((await ask(insertShift)).errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
    const fix = 'grant insert ("more") on "public"."shift" to "authenticated";'
    expect(await remarks()).toEqual([
      expect.objectContaining({ object: 'table public.shift', severity: 'warning', fix }),
    ])
    await service.db.query(fix)
    expect(await ask(insertShift)).toEqual(inserted)
    expect(await remarks()).toEqual([])
    await service.db.query('delete from shift')
    await service.db.query('alter table shift drop column more')
    await service.db.query('grant insert on shift to authenticated')
  })

  it('finds a row by its key, in one tenant', async () => {
    const byKey = (tenantId: number, id: number): string =>
      `{ __typename found: taskByPk(tenant_id: "${tenantId}", id: "${id}") { __typename nodeId title due } }`
    expect(await dataOf(byKey(2, 4))).toEqual({
      __typename: 'Query',
      found: { __typename: 'task', nodeId: expect.any(String), title: 'task 4 of 2', due: '2026-01-01T12:00:00+00:00' },
    })
    expect((await dataOf(byKey(2, 44))).found).toBeNull()
    expect((await dataOf(byKey(3, 4))).found).toBeNull()
  })

  it('has a row by its key planned once for all values', async () => {
    await dataOf('{ taskByPk(tenant_id: "2", id: "4") { nodeId title } }')
    const text = service.exchanges.at(-1)?.statements[0]?.text ?? ''
    const client = new pg.Client(service.db.ownerUrl)
    const said: unknown[] = []
    client.on('notice', ({ message }) => said.push(message))
    await client.connect()
    await client.query('set plan_cache_mode = force_generic_plan')
    await client.query(`prepare row as ${text}`)
    await client.query('set client_min_messages = debug2')
    const { rows } = await client.query('execute row (2, 4)')
    await client.end()
    expect(said).toContain('Deferred pruning for a fast-path router query')
    expect(Object.values(rows[0] ?? {})).toMatchObject([{ title: 'task 4 of 2' }])
  })

  it('shows a tenant nothing of another, and no tenant nothing', async () => {
    const query = '{ taskCollection { totalCount edges { node { title } } } }'
    const foreign = '{ taskCollection(filter: { tenant_id: { eq: "3" } }) { totalCount edges { node { title } } } }'
    expect((await dataOf(query, { claims: { tenant: 5 } })).taskCollection.totalCount).toBe(9)
    expect((await dataOf(foreign)).taskCollection).toEqual({ totalCount: 0, edges: [] })
    expect((await dataOf(query, { claims: {} })).taskCollection).toEqual({ totalCount: 0, edges: [] })
  })

  it('says what the policy says where a claim is not a tenant', async () => {
    const { errors } = await ask('{ taskCollection { edges { node { title } } } }', { claims: { tenant: "it's" } })
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'DATABASE_REFUSED', sqlstate: '22P02' })
  })

  it('hands on claims as they are', async () => {
    const claims = { tenant: 4, name: `it's "quoted" \\ and \u{1f600}` }
    expect((await dataOf('{ taskCollection { totalCount } }', { claims })).taskCollection.totalCount).toBe(9)
  })

  it('writes in one transaction', async () => {
    const record = { title: 'new', project: { name: 'project 1 of 2' } }
    const insert = (id: number, tenantId = 2): string =>
      `insertIntotaskCollection(objects: [{ tenant_id: "${tenantId}", id: "${id}", project_id: "1", title: "new" }])`
    const made = await dataOf(`mutation {
      ${insert(100)} { affectedCount records { title project { name } } }
      updatetaskCollection(set: { title: "changed" }, filter: { id: { eq: "100" } }) { affectedCount records { title } }
      deleteFromtaskCollection(filter: { id: { eq: "100" } }) { affectedCount records { title } }
    }`)
    expect(made).toEqual({
      insertIntotaskCollection: { affectedCount: 1, records: [record] },
      updatetaskCollection: { affectedCount: 1, records: [{ title: 'changed' }] },
      deleteFromtaskCollection: { affectedCount: 1, records: [{ title: 'changed' }] },
    })
    const { errors } = await ask(`mutation { ${insert(200)} { affectedCount } b: ${insert(201, 3)} { affectedCount } }`)
    expect(errors?.[0]).toMatchObject({ path: ['b'], extensions: { sqlstate: '42501' } })
    const count = '{ taskCollection { totalCount } }'
    expect((await dataOf(count)).taskCollection.totalCount).toBe(9)
    const tooMany = await ask('mutation { deleteFromtaskCollection { affectedCount } }')
    expect(tooMany.errors?.[0]?.message).toBe('delete impacts too many records')
    expect((await dataOf(count)).taskCollection.totalCount).toBe(9)
  })

  it('counts what it changes', async () => {
    const update = (ids: string): string =>
      `updatetaskCollection(set: { due: null }, filter: { id: { in: [${ids}] } }, atMost: 2) { affectedCount __typename }`
    expect(await dataOf(`mutation { some: ${update('"1", "2"')} none: ${update('"999"')} }`)).toEqual({
      some: { affectedCount: 2, __typename: 'taskUpdateResponse' },
      none: { affectedCount: 0, __typename: 'taskUpdateResponse' },
    })
    const { errors } = await ask(`mutation { ${update('"1", "2", "3"')} }`)
    expect(errors?.[0]?.message).toBe('update impacts too many records')
  })

  it('inserts several rows', async () => {
    const objects = [301, 302].map((id) => `{ tenant_id: "6", id: "${id}", project_id: "1", title: "new ${id}" }`)
    const query = `mutation { insertIntotaskCollection(objects: [${objects}]) { affectedCount records { title } } }`
    expect((await dataOf(query, { claims: { tenant: 6 } })).insertIntotaskCollection).toEqual({
      affectedCount: 2,
      records: [{ title: 'new 301' }, { title: 'new 302' }],
    })
  })

  it('sees a change of the schema with the next request', async () => {
    await service.db.query('alter table task add column done boolean not null default true')
    expect((await dataOf('{ taskCollection(first: 1) { edges { node { done } } } }')).taskCollection.edges).toEqual([
      { node: { done: true } },
    ])
  })

  it('obeys a changed policy with the next request', async () => {
    const count = '{ taskCollection { totalCount } }'
    await service.db.query('create policy shared on task using (tenant_id = 1)')
    expect((await dataOf(count)).taskCollection.totalCount).toBe(18)
    await service.db.query('drop policy shared on task')
    expect((await dataOf(count)).taskCollection.totalCount).toBe(9)
    expect(await tasks(count)).toEqual([1])
  })

  /** The report about a table: whether it is served, and the statement that fixes it. */
  const reported = async (table: string): Promise<any> => {
    const { extensions } = await ask('{ __typename }', { extensions: { schemaReport: true } })
    const report: any = extensions?.['schemaReport']
    return report.relations.find(({ object }: any) => object === `table public.${table}`)
  }

  it('serves no table whose restrictive policies the shards do not restrict by, until they are folded', async () => {
    const count = '{ taskCollection { totalCount } }'
    await service.db.query('create policy narrow on task as restrictive using (id <= 4)')
    await service.db.query('begin')
    await service.db.query(`set local citus.propagate_set_commands = 'local'`)
    await service.db.query('set local role authenticated')
    await service.db.query(`set local "request.jwt.claims" = '{"tenant": 2}'`)
    const { rows } = await service.db.query('select count(*)::int as shown from task')
    await service.db.query('rollback')
    // The day Citus restricts by them, the table can be served again.
    expect(rows[0]?.['shown']).toBeGreaterThan(4)
    expect((await ask(count)).errors?.[0]?.message).toContain('taskCollection')
    expect(
      (await ask('{ projectCollection { edges { node { taskCollection { totalCount } } } } }')).errors,
    ).toBeDefined()
    const { inSchema, reason, fix } = await reported('task')
    expect({ inSchema, reason }).toEqual({ inSchema: false, reason: 'not served' })
    for (const { text } of splitSql(fix)) await service.db.query(text)
    expect((await dataOf(count)).taskCollection.totalCount).toBe(4)
    expect(await tasks(count)).toEqual([1])
    await service.db.query(`alter policy own on task using (tenant_id = ${tenant})`)
    expect((await dataOf(count)).taskCollection.totalCount).toBe(9)
  })

  it('asks again for the tenant where what reads the claims has changed', async () => {
    const readBy = (claim: string): string => `create or replace function auth.jwt() returns jsonb stable language sql
      as $$ select jsonb_build_object('tenant', current_setting('request.jwt.claims', true)::jsonb -> '${claim}') $$`
    await service.db.query('create schema if not exists auth; grant usage on schema auth to authenticated')
    await service.db.query(readBy('tenant'))
    await service.db.query(`alter policy own on task using (tenant_id = (auth.jwt() ->> 'tenant')::bigint)`)
    const titles = async (): Promise<unknown> =>
      (await dataOf('{ taskCollection(first: 1) { edges { node { title } } } }', { claims: { tenant: 4, other: 5 } }))
        .taskCollection.edges
    expect(await titles()).toEqual([{ node: { title: expect.stringMatching(/ of 4$/) } }])
    await service.db.query(readBy('other'))
    expect(await titles()).toEqual([{ node: { title: expect.stringMatching(/ of 5$/) } }])
    await service.db.query(`alter policy own on task using (tenant_id = ${tenant})`)
  })

  /** The rows of tenant 4 along links and unions (spec/graphql.md 17.8, 17.9); task 4 has no photo. */
  const shown = 'shown { __typename ... on photo { url } ... on country { name } }'
  const shownOfFour = [
    { country: { name: 'Switzerland' }, shown: { __typename: 'photo', url: 'photo 1 of 4' } },
    { country: { name: 'Switzerland' }, shown: { __typename: 'country', name: 'Switzerland' } },
  ]

  it.each([
    ['policies name', '', { claims: { tenant: 4 } }],
    ['documents name', 'tenant_id: { eq: "4" }', { role: 'service_role' }],
  ])('follows links and unions in the tenant that %s', async (_, named, options) => {
    const reading = `{
      all: taskCollection(filter: { ${named} id: { in: ["1", "4"] } }) { edges { node { ... on Item { id } country { name } ${shown} } } }
      filtered: taskCollection(filter: { ${named} country: { code: { eq: "fr" } } }, first: 1,
        orderBy: [{ country: { name: DescNullsLast } }, { id: DescNullsLast }]) { totalCount edges { node { title } } }
      projectCollection(filter: { ${named} id: { eq: "2" } }) { edges { node { photos { edges { node { url } } } } } }
      countryCollection { edges { node { tasks(filter: { ${named} id: { lt: "3" } }) { totalCount edges { node { title } } } } } }
    }`
    const found = (title: string, totalCount: number) => ({ totalCount, edges: [{ node: { title } }] })
    const data = await dataOf(reading, options)
    expect(data.all.edges.map(({ node }: any) => node)).toEqual([
      { id: '1', ...shownOfFour[0] },
      { id: '4', ...shownOfFour[1] },
    ])
    expect(data.filtered).toEqual(found('task 9 of 4', 6))
    expect(data.projectCollection.edges).toEqual([{ node: { photos: { edges: [{ node: { url: 'photo 1 of 4' } }] } } }])
    expect(data.countryCollection.edges.map(({ node }: any) => node.tasks)).toEqual([
      found('task 1 of 4', 1),
      found('task 2 of 4', 1),
    ])
    expect(await tasks(reading, options)).toEqual([1])
    const { updatetaskCollection } = await dataOf(
      `mutation { updatetaskCollection(set: { due: null }, filter: { ${named} id: { in: ["1", "4"] } }, atMost: 2) {
        records { country { name } ${shown} } } }`,
      options,
    )
    expect(updatetaskCollection.records).toEqual(expect.arrayContaining(shownOfFour))
  })

  describe('a role that no policy holds for', () => {
    const asService = { role: 'service_role' }
    const tasksOf = `taskCollection(first: 1, orderBy: [{ id: AscNullsLast }]) { totalCount edges { node {
      title project { name } } } }`
    const first = {
      totalCount: 3,
      edges: [{ node: { title: 'task 3 of 4', project: { name: 'project 1 of 4' } } }],
    }
    const inFour = `{ tenant_id: { eq: "4" }, id: { lt: "2" } }`

    it.each([
      ['a filter', `{ found: projectCollection(filter: ${inFour}) { edges { node { ${tasksOf} } } } }`],
      [
        'a filter within and',
        `{ found: projectCollection(filter: { and: [${inFour}] }) { edges { node { ${tasksOf} } } } }`,
      ],
      [
        'a filter on what a reference table leads to',
        `{ countryCollection(filter: { code: { eq: "fr" } }) { edges { node { found: projectCollection(filter: ${inFour}) {
          edges { node { ${tasksOf} } } } } } } }`,
      ],
      [
        'a filter beside one on related rows',
        `{ found: projectCollection(filter: { tenant_id: { eq: "4" }, taskCollection: { some: { id: { eq: "3" } } } },
          orderBy: [{ taskCollection: { count: DescNullsLast } }, { id: AscNullsLast }]) { edges { node { ${tasksOf} } } } }`,
      ],
      [
        'a filter on related rows',
        `{ found: projectCollection(filter: { taskCollection: { some: { tenant_id: { eq: "4" }, id: { eq: "3" } } } }) {
          edges { node { ${tasksOf} } } } }`,
      ],
    ])('asks one shard where %s names the tenant', async (_, query) => {
      const data = await dataOf(query, asService)
      const { edges } = data.found ?? data.countryCollection.edges[0].node.found
      expect(edges.map(({ node }: any) => node.taskCollection)).toEqual([first])
      expect(await tasks(query, asService)).toEqual([1])
    })

    it('asks one shard for a row by its key or node id', async () => {
      const byKey = `{ projectByPk(tenant_id: "4", id: "1") { nodeId ${tasksOf} } }`
      const { projectByPk } = await dataOf(byKey, asService)
      expect(projectByPk.taskCollection).toEqual(first)
      const byNodeId = `{ projectCollection(filter: { nodeId: { eq: "${projectByPk.nodeId}" } }) { edges { node { ${tasksOf} } } } }`
      expect((await dataOf(byNodeId, asService)).projectCollection.edges).toEqual([{ node: { taskCollection: first } }])
      expect(await tasks(byKey, asService)).toEqual([1])
      expect(await tasks(byNodeId, asService)).toEqual([1])
    })

    it('takes the tenant from a variable', async () => {
      const query = `query($t: BigInt) { projectCollection(filter: { tenant_id: { eq: $t } }) { edges { node { ${tasksOf} } } } }`
      const of = async (t: string | null) =>
        (await dataOf(query, { ...asService, variables: { t } })).projectCollection.edges.length
      expect([await of('4'), await of('5'), await of('7'), await of(null)]).toEqual([3, 3, 0, 0])
    })

    it('writes where a filter on related rows names the tenant', async () => {
      const { updateprojectCollection } = await dataOf(
        `mutation { updateprojectCollection(set: { country: "ch" },
          filter: { taskCollection: { some: { tenant_id: { eq: "6" }, id: { eq: "3" } } } }) { records { name taskCollection(filter: { id: { eq: "3" } }) { totalCount } } } }`,
        asService,
      )
      expect(updateprojectCollection.records).toEqual([{ name: 'project 1 of 6', taskCollection: { totalCount: 1 } }])
    })

    it('changes nothing where two tenants are named', async () => {
      const { updateprojectCollection } = await dataOf(
        `mutation { updateprojectCollection(set: { country: "ch" },
          filter: { tenant_id: { eq: "5" }, taskCollection: { some: { tenant_id: { eq: "6" }, id: { eq: "3" } } } }) {
          affectedCount records { name taskCollection(filter: { id: { eq: "3" } }) { totalCount } } } }`,
        asService,
      )
      expect(updateprojectCollection).toEqual({ affectedCount: 0, records: [] })
    })

    it('changes rows of which records ask for another tenant', async () => {
      const { updateprojectCollection } = await dataOf(
        `mutation { updateprojectCollection(set: { country: "ch" }, filter: { tenant_id: { eq: "5" }, id: { eq: "1" } }) {
          affectedCount records { name taskCollection(filter: { tenant_id: { eq: "6" } }) { totalCount } } } }`,
        asService,
      )
      expect(updateprojectCollection).toEqual({
        affectedCount: 1,
        records: [{ name: 'project 1 of 5', taskCollection: { totalCount: 0 } }],
      })
    })

    it('writes and shows what is related', async () => {
      const record = (id: number): string => `{ tenant_id: "4", id: "${id}", project_id: "1", title: "new" }`
      const records = 'affectedCount records { title project { name } }'
      const wanted = (title: string, count = 1) => ({
        affectedCount: count,
        records: Array.from({ length: count }, () => ({ title, project: { name: 'project 1 of 4' } })),
      })
      expect(
        await dataOf(
          `mutation {
            one: insertIntotaskCollection(objects: [${record(400)}]) { ${records} }
            more: insertIntotaskCollection(objects: [${record(401)}, ${record(402)}]) { ${records} }
            updatetaskCollection(set: { title: "changed" }, filter: { tenant_id: { eq: "4" }, id: { gte: "400" } }, atMost: 3) { ${records} }
            deleteFromtaskCollection(filter: { tenant_id: { eq: "4" }, id: { gte: "400" } }, atMost: 3) { ${records} }
          }`,
          asService,
        ),
      ).toEqual({
        one: wanted('new'),
        more: wanted('new', 2),
        updatetaskCollection: wanted('changed', 3),
        deleteFromtaskCollection: wanted('changed', 3),
      })
    })
  })

  it.each([
    '{ projectCollection { edges { node { taskCollection { edges { node { id } } } } } } }',
    '{ taskCollection { edges { node { country { name } } } } }',
    '{ countryCollection { edges { node { tasks { edges { node { id } } } } } } }',
    `{ taskCollection { edges { node { ${shown} } } } }`,
  ])('refuses in plain words what crosses shards: %s', async (query) => {
    const { errors } = await ask(query, { role: 'service_role' })
    expect(errors).toEqual([
      {
        message: expect.stringMatching(/^The request relates rows that lie on different servers/),
        extensions: { code: 'DATABASE_SHARDS_CROSSED', sqlstate: '0A000' },
      },
    ])
  })

  it('filters the rows of all tenants by a link', async () => {
    const query = '{ taskCollection(filter: { country: { code: { eq: "ch" } }, id: { lt: "3" } }) { totalCount } }'
    expect((await dataOf(query, { role: 'service_role' })).taskCollection.totalCount).toBe(6)
  })

  it.each([
    ['the coordinator', '{ oddity }'],
    [
      'a worker',
      'mutation { insertIntoshiftCollection(objects: [{ tenant_id: "1", begins: "10:00" }]) { affectedCount } }',
    ],
  ])('gives what Postgres does not support on %s no such code', async (_, query) => {
    const { errors } = await ask(query)
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'DATABASE_REFUSED', sqlstate: '0A000' } })
  })

  it('answers service_role from all tenants at once', async () => {
    const query = `{ taskCollection(first: 2, orderBy: [{ tenant_id: DescNullsLast }, { id: AscNullsLast }]) {
      aggregate { count max { id } } edges { node { title } } } }`
    const { taskCollection } = await dataOf(query, { role: 'service_role' })
    expect(taskCollection.aggregate.count).toBeGreaterThanOrEqual(54)
    expect(taskCollection.edges.map(({ node }: any) => node.title)).toEqual(['task 1 of 6', 'task 2 of 6'])
  })
})
