import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BoundStatement, Exchange } from '../runtime/contract/execution.ts'
import { openDatabase, type Database } from '../runtime/db/pool/pool.ts'
import { createConnection, runStatements, type Connection } from '../runtime/db/wire/exchange.ts'
import { writeRun, type SentStatement } from '../runtime/db/wire/wire.ts'
import { citusMajor, createDistributed } from '../test/support/distributed.ts'
import { createTestService, type TestService } from '../test/support/service.ts'
import { withCpu } from './support/cpu.ts'
import { median } from './support/statistics.ts'

/**
 * The cost of a tenant's request on the three servers of Citus, against the best SQL for it that a person would write: the same role
 * and claims for the policies, the tenant as a condition of every relation, one pipelined transaction. By turns in one run; of
 * rounds the median and the least. BENCH_ROUNDS (40), BENCH_REQUESTS of a round (50).
 */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 40)
const requests = Number(process.env['BENCH_REQUESTS'] ?? 50)

const tenant = `(current_setting('request.jwt.claims', true)::json ->> 'tenant')::bigint`
const sql = `
  alter role authenticated login;
  create table project (tenant_id bigint, id bigint, name text not null, primary key (tenant_id, id));
  create table task (tenant_id bigint, id bigint, project_id bigint not null, title text not null, primary key (tenant_id, id));
  create index on task (tenant_id, project_id);
  select create_distributed_table('project', 'tenant_id');
  select create_distributed_table('task', 'tenant_id');
  alter table task add foreign key (tenant_id, project_id) references project (tenant_id, id);
  insert into project select t, p, 'project ' || p from generate_series(1, 50) t, generate_series(1, 20) p;
  insert into task select t, i, i % 20 + 1, 'task ' || i from generate_series(1, 50) t, generate_series(1, 200) i;
  alter table project enable row level security;
  alter table task enable row level security;
  create policy own on project using (tenant_id = ${tenant});
  create policy own on task using (tenant_id = ${tenant});
  grant usage on schema public to authenticated;
  grant select, insert, update, delete on project, task to authenticated;
  analyze project; analyze task;
`

interface Operation {
  readonly name: string
  readonly document: string
  /** $1: the tenant. */
  readonly byHand: string
}

const operations: readonly Operation[] = [
  {
    name: 'by key',
    document: '{ taskByPk(tenantId: "7", id: "3") { title } }',
    byHand: `select json_build_object('title', title) from task where tenant_id = $1 and id = 3`,
  },
  {
    name: 'a page',
    document: '{ taskCollection(first: 10) { edges { node { id title } } } }',
    byHand: `select json_agg(json_build_object('id', id::text, 'title', title)) from (
      select id, title from task where tenant_id = $1 order by id limit 10) t`,
  },
  {
    name: 'two levels',
    document:
      '{ projectCollection(first: 5) { edges { node { name taskCollection(first: 3) { edges { node { title } } } } } } }',
    byHand: `select json_agg(json_build_object('name', name, 'tasks', (
        select json_agg(json_build_object('title', title)) from (
          select title from task where tenant_id = $1 and project_id = p.id order by id limit 3) t)))
      from (select id, name from project where tenant_id = $1 order by id limit 5) p`,
  },
  {
    name: 'an update',
    document: 'mutation { updateTaskCollection(set: { title: "x" }, filter: { id: { eq: "3" } }) { affectedCount } }',
    byHand: `with changed as (update task set title = 'x' where tenant_id = $1 and id = 3 returning 1)
      select count(*) from changed`,
  },
]

const claims = { tenant: 7 }
const plain = (text: string): SentStatement => writeRun({ name: '', text, values: [] })
const named = (name: string, text: string): SentStatement => writeRun({ name, text, values: [] })

const major = citusMajor()
let service: TestService
let database: Database
let connection: Connection
let servers: readonly number[]

beforeAll(async () => {
  if (major === null) throw new Error('Citus is installed for none of these servers.')
  const db = await createDistributed(major, sql)
  await db.query(`comment on schema public is '@graphql({"inflect_names": true})'`)
  service = await createTestService({ database: db })
  database = openDatabase({ url: db.url, schemas: ['public'], poolSize: 1 })
  const client = new pg.Client(db.url)
  await client.connect()
  connection = createConnection(client, null)
  const setting = `select setting from pg_settings where name = 'data_directory'`
  const { rows } = await db.query(
    `select result as folder from run_command_on_workers($1) union all select (${setting})`,
    [setting],
  )
  servers = await Promise.all(
    rows.map(async ({ folder }) => Number.parseInt(await readFile(`${folder}/postmaster.pid`, 'utf8'), 10)),
  )
}, 120_000)
afterAll(async () => {
  await connection?.client.end()
  await database?.close()
  await service?.close()
})

/** The service's exchange for it, after its first requests. */
async function exchangeFor({ document }: Operation): Promise<Exchange> {
  const { errors } = await service.graphql(document, { role: 'authenticated', claims })
  expect(errors).toBeUndefined()
  const exchange = service.exchanges.at(-1)
  if (exchange === undefined) throw new Error('nothing was sent')
  return exchange
}

const handwritten = (statement: BoundStatement): readonly SentStatement[] => [
  named('begin', 'begin'),
  plain(`set local citus.propagate_set_commands = 'local'`),
  plain('set local role authenticated'),
  plain(`set local "request.jwt.claims" = '${JSON.stringify({ role: 'authenticated', ...claims })}'`),
  writeRun(statement),
  named('commit', 'commit'),
]

const must = async (statements: readonly SentStatement[]): Promise<void> => {
  const result = await runStatements(connection, statements)
  if (result.kind === 'failed') throw result.error
}

test.each(operations)('$name', { timeout: 300_000 }, async (operation) => {
  const exchange = await exchangeFor(operation)
  const statement = { name: `hand ${operation.name}`, text: operation.byHand, values: ['7'] }
  const subjects = {
    ours: async () => void (await database.run(exchange)),
    'by hand': () => must(handwritten(statement)),
  }
  const names = ['ours', 'by hand'] as const
  const series: Record<(typeof names)[number], number[]> = { ours: [], 'by hand': [] }
  for (let round = -8; round < rounds; round += 1)
    for (const name of round % 2 === 0 ? names : [...names].reverse()) {
      const { cpu } = await withCpu({ servers }, async () => {
        for (let index = 0; index < requests; index += 1) await subjects[name]()
      })
      if (round >= 0) series[name].push(cpu.servers / requests)
    }
  const ratios = series.ours.map((cost, index) => cost / (series['by hand'][index] ?? Number.NaN))
  const rows = names.map(
    (name) => `${name} ${median(series[name]).toFixed(0)} µs (least ${Math.min(...series[name]).toFixed(0)})`,
  )
  const least = Math.min(...series.ours) / Math.min(...series['by hand'])
  console.info(
    `${operation.name}: ${rows.join(', ')}; ratio ${median(ratios).toFixed(2)}, of the least ${least.toFixed(2)}`,
  )
})
