import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../runtime/db/pool/pool.ts'
import { followDatabase, type FollowedService } from '../support/followed.ts'
import { createReplicated, type DatabaseServer, type ReplicatedDatabase } from '../support/replicated.ts'

/**
 * Promise: a change of the schema that a promoted server never received is gone for every reader, even where the promoted server
 * has counted as many changes of its own by the time of the next check.
 */

let all: ReplicatedDatabase
let heir: DatabaseServer
let database: Database
let service: FollowedService
beforeAll(async () => {
  all = await createReplicated(1, 'create table note (id int primary key); grant select on note to anon')
  heir = all.standbys[0] as DatabaseServer
  const ports = [all.primary, heir].map(({ cluster }) => `127.0.0.1:${cluster.port}`).join()
  const url = `postgresql://authenticator@${ports}/replicated?target_session_attrs=read-write`
  database = openDatabase({ url, schemas: ['public'], statementTimeout: 10_000 })
  service = followDatabase(url)
}, 120_000)
afterAll(async () => {
  await service?.close()
  await database?.close()
  await all?.remove()
})

const asking = (column: string): string => `{ noteCollection { edges { node { ${column} } } } }`
const answer = { data: { noteCollection: { edges: [] } } }
const isThere = ({ query }: Database): Promise<boolean> =>
  query('select').then(
    () => true,
    () => false,
  )

/** Later commits are never sent. */
const cutOff = async (): Promise<readonly number[]> => {
  const { rows } = await all.primary.query('select pid from pg_stat_replication')
  const pids = rows.map(({ pid }: { readonly pid: number }) => pid)
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  return pids
}

const replayed = async (): Promise<void> => {
  const { rows } = await all.primary.query('select pg_current_wal_lsn()::text as lsn')
  await expect
    .poll(async () => (await heir.query(`select pg_last_wal_replay_lsn() >= '${rows[0].lsn}' as all`)).rows[0].all)
    .toBe(true)
}

it('the service has the schema of the promoted server, with as many changes as the lost one had', async () => {
  expect(await service.graphql(asking('id'))).toEqual(answer)
  await replayed()
  const senders = await cutOff()
  await all.primary.query('alter table note add column lost int')
  expect(await service.graphql(asking('lost'))).toEqual(answer)

  const killed = all.primary.cluster.kill()
  for (const pid of senders) process.kill(pid, 'SIGKILL')
  await killed
  await heir.query('select pg_promote()')
  await heir.query('alter table note add column own int')

  await expect.poll(() => isThere(database), { timeout: 20_000 }).toBe(true)
  expect(await service.graphql(asking('own'))).toEqual(answer)
  expect((await service.graphql(asking('lost'))).errors?.[0]?.message).toMatch(/lost/)
})
