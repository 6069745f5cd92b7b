import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { citusMajor, noCitus, createDistributed } from '../support/distributed.ts'
import { forSuite } from '../support/for-suite.ts'
import { titled } from '../support/programs.ts'
import { serveBuilt, type Served } from '../support/served.ts'

/** Promise: the operator of a database of Citus learns which role or node keeps rows from being read, and when that is over. */

const major = citusMajor()

describe.skipIf(major === null)(titled('a service of a database of Citus', noCitus()), () => {
  let served: Served
  const db = forSuite(
    createDistributed,
    major ?? 15,
    `alter role anon login;
      alter role authenticated login;
      create table task (tenant_id bigint primary key);
      select create_distributed_table('task', 'tenant_id');
      grant usage on schema public to anon;
      grant select on task to anon;`,
  )
  beforeAll(async () => {
    served = await serveBuilt(db, { LOG_LEVEL: 'info' })
  }, 120_000)
  afterAll(() => served?.stop())

  const faultNow = async (): Promise<unknown> => {
    const health: any = await (await fetch(`${served.url}/readyz`)).json()
    return health.fault
  }
  const becomes = (fault: string | RegExp | null) => {
    const polled = expect.poll(faultNow, { timeout: 25_000, interval: 200 })
    return typeof fault === 'string' || fault === null ? polled.toBe(fault) : polled.toMatch(fault)
  }
  const logged = (event: string): readonly string[] => served.said().filter((line) => line.includes(`"${event}"`))

  it('names at its start a role that may not log in, with the statement, and is silent once that was run', async () => {
    const fault = 'service_role may not log in, and so reaches no worker node: alter role "service_role" login;'
    await becomes(fault)
    expect(logged('shard-fault').map((line) => JSON.parse(line).fault)).toEqual([fault])
    await db.query(fault.slice(fault.indexOf(': ') + 2))
    await becomes(null)
    expect(logged('shards-back')).toHaveLength(1)
  }, 60_000)

  it('names a node that is away by its number, and none once it is back', async () => {
    const { rows } = await db.query('select nodeid, nodeport from pg_dist_node where groupid = 2')
    const { nodeid: id, nodeport: port } = rows[0] ?? {}
    await db.query('update pg_dist_node set nodeport = 1 where groupid = 2')
    await becomes(new RegExp(`^the worker node ${id} of pg_dist_node cannot be reached: .*citus_update_node\\(${id}, `))
    expect(await faultNow()).not.toContain('127.0.0.1')
    await db.query('update pg_dist_node set nodeport = $1 where groupid = 2', [port])
    await becomes(null)
  }, 60_000)

  it('names a node that is not active, with the statement that activates it', async () => {
    await db.query('update pg_dist_node set isactive = false where groupid = 2')
    await becomes(/^the worker node \d+ of pg_dist_node is not active: select citus_activate_node/)
    const fault = String(await faultNow())
    await db.query(fault.slice(fault.indexOf(': ') + 2))
    await becomes(null)
  }, 60_000)

  it('names a node that is away before there is a schema, too, and serves once it is back', async () => {
    await served.stop()
    await db.query('drop schema catalograph cascade')
    const { rows } = await db.query('select nodeport from pg_dist_node where groupid = 2')
    await db.query('update pg_dist_node set nodeport = 1 where groupid = 2')
    let isTold = false
    const starting = serveBuilt(db, { LOG_LEVEL: 'info' }, null, [], (notes) => (isTold = /shard-fault/.test(notes)))
    await expect.poll(() => isTold, { timeout: 20_000 }).toBe(true)
    await db.query('update pg_dist_node set nodeport = $1 where groupid = 2', [rows[0]?.nodeport])
    served = await starting
    const events = served.said().flatMap((line) => /"event":"([^"]*)"/.exec(line)?.[1] ?? [])
    expect(events.filter((event) => /^(?:shard-fault|revision-ready)$/.test(event))).toEqual([
      'shard-fault',
      'revision-ready',
    ])
    await becomes(null)
  }, 60_000)
})
