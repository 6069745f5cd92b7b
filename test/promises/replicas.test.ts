import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { forSuite } from '../support/for-suite.ts'
import { createReplicated, type DatabaseServer, type ReplicatedDatabase } from '../support/replicated.ts'
import { serveBuilt, type Served } from '../support/served.ts'
import { postGraphql } from '../support/post-graphql.ts'

const sql = `
  create table note (id int generated always as identity primary key, body text);
  insert into note (body) values ('first');
  grant usage on schema public to anon, service_role;
  grant select, insert on note to anon, service_role;
`

let all: ReplicatedDatabase
let primary: DatabaseServer
let standby: DatabaseServer

beforeAll(async () => {
  all = await createReplicated(1, sql)
  primary = all.primary
  standby = all.standbys[0] as DatabaseServer
  await primary.query(`alter system set log_statement = 'all'`)
  await primary.query('select pg_reload_conf()')
}, 120_000)
afterAll(async () => {
  await all?.remove()
})

interface Said {
  readonly data: any
  readonly position: string | null
}

/** On a connection of its own, so that any worker may get it. */
const ask = async ({ url }: Served, key: string, query: string, position: string | null = null): Promise<Said> => {
  const response = await postGraphql(
    { url, anon: key },
    { query },
    { connection: 'close', ...(position !== null && { 'catalograph-position': position }) },
  )
  const { data, errors } = (await response.json()) as { data: unknown; errors?: readonly unknown[] }
  if (errors !== undefined) throw new Error(JSON.stringify(errors))
  return { data, position: response.headers.get('catalograph-position') }
}

const write = (served: Served, key: string, body: string): Promise<Said> =>
  ask(served, key, `mutation { insertIntonoteCollection(objects: [{ body: "${body}" }]) { affectedCount } }`)

const bodies = async (served: Served, key: string, position: string | null = null): Promise<readonly string[]> => {
  const query = '{ noteCollection(first: 1000, orderBy: [{ id: AscNullsLast }]) { edges { node { body } } } }'
  const { data } = await ask(served, key, query, position)
  return data.noteCollection.edges.map(({ node }: { node: { body: string } }) => node.body)
}

const metric = async ({ url, service }: Served, series: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`, { headers: { apikey: service } })).text()
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1) ?? NaN)
}

/** Workers that have only begun report no metrics, and have answered nothing. */
const onReplica = async (served: Served): Promise<number> =>
  (await metric(served, 'catalograph_reads_total{server="replica"}')) || 0

const serve = async (environment: Readonly<Record<string, string>> = {}): Promise<Served> => {
  const served = await serveBuilt(primary, {
    DATABASE_REPLICA_URLS: standby.url,
    METRICS: 'on',
    LOG_LEVEL: 'info',
    ...environment,
  })
  try {
    await untilReplica(served)
  } catch (error) {
    await served.stop()
    throw error
  }
  return served
}

/** Reads until a replica answers. */
const untilReplica = async (served: Served): Promise<void> => {
  const before = await onReplica(served)
  for (const until = performance.now() + 20_000; ; await pause(50)) {
    await bodies(served, served.anon)
    if ((await onReplica(served)) > before) return
    if (performance.now() > until) throw new Error(`No replica answers: ${served.said().join('\n')}`)
  }
}

const pauseReplay = (): Promise<unknown> => standby.query('select pg_wal_replay_pause()')
const resumeReplay = (): Promise<unknown> => standby.query('select pg_wal_replay_resume()')
afterEach(resumeReplay)

describe('replicas', () => {
  const served = forSuite(serve, { REPLICA_MAX_STALENESS_MS: '4000' })

  it('answer all that only reads', async () => {
    const before = primary.log.length
    for (let index = 0; index < 50; index += 1) expect(await bodies(served, served.anon)).toContain('first')
    await pause(200)
    expect(primary.log.slice(before).filter((line) => line.includes('"note"'))).toEqual([])
  })

  it('show each caller its own writes, by the header or without one', async () => {
    await pauseReplay()
    const { position } = await write(served, served.service, 'mine')
    expect(position).toMatch(/^\d+\/[0-9A-F]+\/[0-9A-F]+$/)
    expect(await bodies(served, served.service)).toContain('mine')
    expect(await bodies(served, served.anon, position)).toContain('mine')
    // A caller without writes reads the state of the replica.
    expect(await bodies(served, served.anon)).not.toContain('mine')
    await expect.poll(() => metric(served, 'catalograph_replica_lag_seconds{replica="1"}')).toBeGreaterThan(0.2)
    await resumeReplay()
    const before = await onReplica(served)
    await expect
      .poll(async () => (await bodies(served, served.service, position), await onReplica(served)))
      .toBeGreaterThan(before)
    expect(await bodies(served, served.anon)).toContain('mine')
  })

  it('show nothing that is older than the owner allows', async () => {
    await pauseReplay()
    await write(served, served.service, 'late')
    await expect.poll(() => bodies(served, served.anon), { timeout: 10_000 }).toContain('late')
    await expect.poll(() => served.said().join('\n')).toMatch(/"replica-out".*late/)
    expect(await metric(served, 'catalograph_replica_up{replica="1"}')).toBe(0)
  })

  it('leave to the primary what waits for a lock that replaying holds', async () => {
    await untilReplica(served)
    const changer = new pg.Client(primary.ownerUrl)
    await changer.connect()
    await changer.query('begin; lock table note')
    // A synchronous commit has reached the log, with all earlier ones.
    await primary.query(`set synchronous_commit = on; select pg_logical_emit_message(true, 'test', '')`)
    const isLocked = `select from pg_locks where relation = 'note'::regclass and mode = 'AccessExclusiveLock'`
    await expect.poll(async () => (await standby.query(isLocked)).rowCount, { timeout: 10_000 }).toBe(1)
    await pauseReplay()
    await changer.query('commit')
    await changer.end()
    expect(await bodies(served, served.anon)).toContain('first')
  })

  it('leave to the primary what their schema does not know', async () => {
    await untilReplica(served)
    await pauseReplay()
    await primary.query('alter table note add column added int default 7')
    await ask(
      served,
      served.service,
      'mutation { insertIntonoteCollection(objects: [{ added: 8 }]) { affectedCount } }',
    )
    const { data } = await ask(served, served.anon, '{ noteCollection(first: 1) { edges { node { added } } } }')
    expect(data.noteCollection.edges[0].node.added).toBe(7)
  })

  it('are left out when they are away, and taken back', async () => {
    await untilReplica(served)
    await standby.cluster.stop()
    try {
      for (let index = 0; index < 20; index += 1) expect(await bodies(served, served.anon)).toContain('first')
      await expect.poll(() => served.said().join('\n')).toMatch(/"replica-out".*away/)
      const health = (await (await fetch(`${served.url}/readyz`)).json()) as object
      expect(health).toMatchObject({ status: 'ok', replicas: { serving: 0, all: 1 } })
    } finally {
      await standby.cluster.restart()
    }
    await untilReplica(served)
  })
})

describe('several workers with replicas', () => {
  it('know of what each other wrote before it is answered', async () => {
    const served = await serve({ WORKERS: '2', REPLICA_MAX_STALENESS_MS: '60000' })
    onTestFinished(async () => void (await served.stop()))
    await pauseReplay()
    for (let round = 0; round < 20; round += 1) {
      await write(served, served.service, `round ${round}`)
      const read = await Promise.all(Array.from({ length: 4 }, () => bodies(served, served.service)))
      for (const seen of read) expect(seen).toContain(`round ${round}`)
    }
  }, 60_000)
})

describe('replicas whose primary is away', () => {
  it('answer reads beside writes that fail', async () => {
    const served = await serve({ REPLICA_MAX_STALENESS_MS: '60000' })
    onTestFinished(async () => void (await served.stop()))
    await primary.cluster.stop()
    try {
      for (let round = 0; round < 5; round += 1) {
        await expect(write(served, served.service, 'lost')).rejects.toThrow('DATABASE_UNAVAILABLE')
        expect(await bodies(served, served.anon)).toContain('first')
      }
      // Nothing of this caller's write is sent any more.
      await expect(write(served, served.anon, 'lost')).rejects.toThrow('DATABASE_UNAVAILABLE')
      expect(await bodies(served, served.anon)).toContain('first')
    } finally {
      await primary.cluster.restart()
    }
    await untilReplica(served)
  }, 60_000)
})

describe('a replica that is a primary', () => {
  it('is left out, and reported with what to do, also in /readyz if no server replays the primary', async () => {
    const served = await serveBuilt(primary, { DATABASE_REPLICA_URLS: primary.url, LOG_LEVEL: 'info' })
    onTestFinished(async () => void (await served.stop()))
    await expect.poll(() => served.said().join('\n')).toMatch(/"replica-out".*a primary/)
    const health: any = await (await fetch(`${served.url}/readyz`)).json()
    expect(health).toMatchObject({ status: 'ok', replicas: { serving: 0, all: 1 } })
    expect(health.fault).toMatch(/names the primary only.*: name servers in DATABASE_REPLICA_URLS that replay/)
    expect(await bodies(served, served.anon)).toContain('first')
  }, 60_000)
})
