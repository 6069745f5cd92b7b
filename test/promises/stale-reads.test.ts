import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askAs, notesSql, signUp, startCallers, type Tally } from '../support/own-writes.ts'
import { createReplicated, type DatabaseServer, type ReplicatedDatabase } from '../support/replicated.ts'
import { serveBuilt, type Served } from '../support/served.ts'
import { sized } from '../support/whole.ts'

/**
 * Promise: anyone who has written reads it, however far replicas lag, and while one of them is promoted. Commits that the promoted
 * server never received are lost with the old one, and counted apart. Long form: STALE_READS, STALE_LAG, STALE_CALLERS; STALE_SEED repeats
 * what callers choose.
 */
const reads = Number(process.env['STALE_READS'] ?? sized(1_500, 450))
const lag = process.env['STALE_LAG'] ?? '500ms'
const seed = Number(process.env['STALE_SEED'] ?? Date.now() % 1_000_000)
const callers = Number(process.env['STALE_CALLERS'] ?? 12)
/** Short, since a standby that is cut off connects again after a minute (wal_receiver_timeout). */
const burst = 75

const settings = ['auth_enabled', 'autoconfirm'].map((name) => `('${name}', 'on')`)
const limits = ['limit_sign_up', 'limit_token'].map((name) => `('${name}', '0')`)
const sql = `
  ${notesSql}
  insert into catalograph_auth.settings (name, value)
  values ('site_url', 'http://localhost:3000'), ${[...settings, ...limits].join()};
`

let all: ReplicatedDatabase
let primary: DatabaseServer
/** The one that is promoted, and the one that follows it then. */
let [heir, other]: readonly [DatabaseServer, DatabaseServer] = [] as never
let served: Served

beforeAll(async () => {
  all = await createReplicated(2, sql)
  primary = all.primary
  // Which timeline a replica receives is known at once to who may read it.
  await primary.query('grant pg_monitor to authenticator')
  ;[heir, other] = all.standbys as readonly [DatabaseServer, DatabaseServer]
  for (const { query } of all.standbys) {
    await query(`alter system set recovery_min_apply_delay = '${lag}'`)
    await query('select pg_reload_conf()')
  }
  const list = [primary, heir].map(({ cluster }) => `127.0.0.1:${cluster.port}`).join()
  const url = (user: string): string => `postgresql://${user}@${list}/replicated?target_session_attrs=read-write`
  served = await serveBuilt(
    { url: url('authenticator'), ownerUrl: url('owner') },
    { DATABASE_REPLICA_URLS: [heir.url, other.url].join(), WORKERS: '2', METRICS: 'on', LOG_LEVEL: 'info' },
  )
}, 120_000)
afterAll(async () => {
  await served?.stop()
  await all?.remove()
})

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await pause(20)
}

const metric = async (series: string): Promise<number> => {
  const text = await (await fetch(`${served.url}/metrics`, { headers: { apikey: served.service } })).text()
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return Number(line?.slice(series.length) ?? 0)
}
const byReplicas = (): Promise<number> => metric('catalograph_reads_total{server="replica"}')

/** Later commits are never sent; the heir is cut off last, so that no other standby is ahead of it. */
const cutOff = async (): Promise<readonly number[]> => {
  const { rows } = await primary.query('select pid from pg_stat_replication order by application_name desc')
  const pids = rows.map(({ pid }: { readonly pid: number }) => pid)
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  return pids
}

/** Resolves with when the old primary was gone, by performance.now. */
const failOver = async (senders: readonly number[]): Promise<number> => {
  const killed = primary.cluster.kill()
  for (const pid of senders) process.kill(pid, 'SIGKILL')
  await killed
  const gone = performance.now()
  await heir.query('select pg_promote()')
  return gone
}

it('a user who has just signed up is known', async () => {
  for (let number = 0; number < 10; number += 1) {
    const token = await signUp(served, `known${number}`)
    expect((await askAs(served, token, '{ is_known }', null)).data).toEqual({ is_known: true })
  }
})

it(
  `a client that has written reads it, through a promotion too (STALE_SEED=${seed})`,
  async () => {
    let toRead = Infinity
    const isOver = ({ reads: read, written }: Tally): boolean => read >= toRead && written.at(-1)?.position[0] === '2'
    const { tally, done } = await startCallers(served, { isOver, callers, burst, seed })
    const during = (isSo: () => boolean): Promise<void> => Promise.race([until(isSo), done])
    // Quick callers ask the primary alone until a replica has what they wrote first.
    let before = 0
    while (before === 0 || tally.reads < reads / 2) {
      await during(() => tally.reads >= reads / 2)
      before = await byReplicas()
    }
    const senders = await cutOff()
    const count = tally.written.length
    await during(() => tally.written.length >= count + 3)
    const fell = performance.now()
    const gone = await failOver(senders)
    toRead = tally.reads + reads / 2
    await done
    const { rows } = await heir.query('select body from note')
    const kept = new Set(rows.map(({ body }: { readonly body: string }) => body))
    const lost = tally.written.filter(({ body }) => !kept.has(body))
    const stale = tally.missed.filter(({ written }) => kept.has(written.body))
    const replicas = await byReplicas()
    console.info(
      `stale reads: ${stale.length} of ${tally.reads}, ${replicas} by replicas (${before} before the promotion); ` +
        `${tally.written.length} writes, ${lost.length} of them lost with the old primary; failures ` +
        JSON.stringify(Object.fromEntries(tally.failures)),
    )
    expect(stale).toEqual([])
    expect(lost.length).toBeGreaterThan(0)
    expect(lost.filter(({ sent }) => sent > gone)).toEqual([])
    // A write that was committed right before must ask the promoted server for its position.
    expect(lost.filter(({ position, at }) => at < fell && !position.startsWith('1/'))).toEqual([])
    expect(tally.written.at(-1)?.position).toMatch(/^2\//)
    expect([...tally.failures.keys()].filter((code) => code !== 'DATABASE_UNAVAILABLE')).toEqual([])
  },
  60_000 + reads * 60,
)

it('a service that follows the promoted server answers, and is whole', async () => {
  const read = '{ noteCollection(first: 1) { edges { node { body } } } }'
  const before = await byReplicas()
  await expect
    .poll(async () => (await askAs(served, served.service, read, null), await byReplicas()), { timeout: 20_000 })
    .toBeGreaterThan(before)
  expect(await (await fetch(`${served.url}/readyz`)).json()).toMatchObject({
    status: 'ok',
    fault: null,
    replicas: { serving: 1, all: 2 },
  })
  expect(await metric('catalograph_replica_up{replica="1"}')).toBe(0)
  expect(await metric('catalograph_replica_up{replica="2"}')).toBe(1)
  expect(served.said().join('\n')).toMatch(/"replica-out".*"replica":1.*a primary/)
})

it('the changes of the schema and sign-ups go on at the promoted server', async () => {
  await heir.query('alter table note add column added int default 7')
  const read = '{ noteCollection(first: 1) { edges { node { added } } } }'
  const { data } = await askAs(served, served.service, read, null)
  expect(data.noteCollection.edges).toEqual([{ node: { added: 7 } }])
  const token = await signUp(served, 'afterwards')
  expect((await askAs(served, token, '{ is_known }', null)).data).toEqual({ is_known: true })
  expect((await heir.query(`select from auth.users where email = 'afterwards@example.com'`)).rowCount).toBe(1)
})
