import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { counterExpression } from '../../runtime/db/check/version.ts'
import { asMaintenance, prepareFor } from '../support/database.ts'
import { citusMajor, noCitus, createDistributed } from '../support/distributed.ts'
import { titled } from '../support/programs.ts'
import { createTestService, type TestService } from '../support/service.ts'

/** Promise: how tables are distributed, and whom policies hold for, is known to the next request, as is any DDL. */

const major = citusMajor()
const tenant = `(current_setting('request.jwt.claims', true)::json ->> 'tenant')::bigint`

describe.skipIf(major === null)(titled('a service on Citus', noCitus()), () => {
  let service: TestService
  beforeAll(async () => {
    const database = await createDistributed(
      major ?? 15,
      `alter role authenticated login;
      alter role service_role login;
      create table task (tenant_id bigint not null, id bigint not null, other bigint not null, primary key (tenant_id, id));
      insert into task select t, i, t from generate_series(1, 4) t, generate_series(1, 3) i;
      alter table task enable row level security;
      create policy own on task using (tenant_id = ${tenant});
      grant usage on schema public to authenticated, service_role;
      grant select on task to authenticated, service_role;`,
    )
    service = await createTestService({ database })
  }, 120_000)
  afterAll(() => service?.close())

  const shown = async (role = 'authenticated'): Promise<unknown> => {
    const { data, errors } = await service.graphql('{ taskCollection { edges { node { id } } } }', {
      role,
      claims: { tenant: 2 },
    })
    return errors ?? data.taskCollection.edges.length
  }
  const counter = async (): Promise<unknown> =>
    (await service.db.query(`select ${counterExpression} as n`)).rows[0]?.['n']

  // In this order: each begins where the one before it ended.
  it.each([
    `select create_distributed_table('task', 'tenant_id')`,
    `select alter_distributed_table('task', shard_count => 8)`,
    `select undistribute_table('task')`,
    `select create_reference_table('task')`,
    `select undistribute_table('task')`,
    `select citus_add_local_table_to_metadata('task')`,
    `select create_distributed_table('task', 'tenant_id')`,
  ])('follows %s', async (command) => {
    expect(await shown()).toBe(3)
    const before = await counter()
    await service.db.query(command)
    expect(await counter()).not.toBe(before)
    expect(await shown()).toBe(3)
    expect((await service.revision()).manifest.distributed === undefined).toBe(command.includes('undistribute'))
  })

  it('follows the relations that functions read beside the served schemas', async () => {
    await service.db.query(`select undistribute_table('task')`)
    await service.db.query('create schema hidden')
    await service.db.query('create table hidden.fact (tenant_id bigint primary key)')
    await service.db.query(
      `create function facts() returns bigint language sql stable as 'select count(*) from hidden.fact'`,
    )
    await service.db.query('insert into hidden.fact select generate_series(1, 4)')
    await service.db.query('alter table hidden.fact enable row level security')
    await service.db.query(`create policy own on hidden.fact using (tenant_id = ${tenant})`)
    await service.db.query('grant usage on schema hidden to authenticated')
    await service.db.query('grant select on hidden.fact to authenticated')
    const facts = () => service.graphql('{ facts }', { role: 'authenticated', claims: { tenant: 2 } })
    expect(await facts()).toEqual({ data: { facts: '1' } })
    await service.db.query(`select create_distributed_table('hidden.fact', 'tenant_id')`)
    expect(await facts()).toEqual({ data: { facts: '1' } })
    await service.db.query('drop schema hidden cascade')
    await service.db.query(`select create_distributed_table('task', 'tenant_id')`)
  })

  it('follows the distribution within a transaction no sooner than its commit', async () => {
    await service.db.query(`select undistribute_table('task')`)
    expect(await shown()).toBe(3)
    await service.db.query('begin')
    await service.db.query(`select create_distributed_table('task', 'tenant_id')`)
    const compiled = service.compiled()
    await service.db.query('rollback')
    expect(await shown()).toBe(3)
    expect((await service.revision()).manifest.distributed).toBeUndefined()
    expect(service.compiled()).toBeLessThanOrEqual(compiled + 2)
    await service.db.query(`select create_distributed_table('task', 'tenant_id')`)
    expect(await shown()).toBe(3)
  })

  it('follows who bypasses row-level security', async () => {
    expect([await shown(), await shown('service_role')]).toEqual([3, 12])
    await service.db.query('alter role authenticated bypassrls')
    expect(await shown()).toBe(12)
    await service.db.query('alter role authenticated nobypassrls')
    expect(await shown()).toBe(3)
    await service.db.query('alter role service_role nobypassrls')
    expect(await shown('service_role')).toBe(3)
    await service.db.query('alter role service_role bypassrls')
    expect(await shown('service_role')).toBe(12)
  })

  it('keeps nothing of a write that Postgres accepts and the schema of its commit does not offer', async () => {
    await service.db.query(
      'grant update on task to authenticated, service_role; create policy may on task for update using (true)',
    )
    // It names no tenant, so that nothing is asked before it.
    const set = (from: string, to: string) =>
      service.graphql(
        `mutation { updatetaskCollection(atMost: 9, set: { other: "${to}" }, filter: { other: { eq: "${from}" } }) { affectedCount } }`,
        { role: 'service_role' },
      )
    const changed = { data: { updatetaskCollection: { affectedCount: 3 } } }
    expect(await set('2', '70')).toEqual(changed)
    await service.db.query(`comment on table task is '@graphql({"name": "Job"})'`)
    expect((await set('70', '71')).errors?.[0]?.message).toContain('updatetaskCollection')
    const { rows } = await service.db.query('select distinct other as n from task where tenant_id = 2')
    expect(rows).toEqual([{ n: '70' }])
    for (const command of ['comment on table task is null', 'drop policy may on task']) await service.db.query(command)
    expect(await set('70', '2')).toEqual(changed)
  })

  it('follows from the moment on in which the extension is created', async () => {
    const { port } = new URL(service.db.ownerUrl)
    await asMaintenance(Number(port), 'create database later')
    const url = `postgres://postgres@127.0.0.1:${port}/later`
    await prepareFor('api', () => url)
    const client = new pg.Client(url)
    await client.connect()
    onTestFinished(() => client.end())
    await client.query('create extension citus')
    const { rows } = await client.query(
      `select tgenabled from pg_trigger where tgrelid = 'pg_catalog.pg_dist_object'::regclass and tgname like 'catalograph%'`,
    )
    expect(rows).toEqual([{ tgenabled: 'A' }])
  })
})
