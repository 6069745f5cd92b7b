import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { signToken } from '../../../../runtime/identity/jwt.ts'
import { createDatabase, openQuery, overSessions } from '../../../support/database.ts'
import { openEvents, type EventClient } from '../../../support/event-client.ts'
import { forSuite } from '../../../support/for-suite.ts'
import { JWT_SECRET, keys, whileServed, type ServedProject } from '../../../support/while-served.ts'

/** Runs of streams share their places (docs/sharing.md): those of others go on beside slow runs and runs that wait. */

const db = forSuite(createDatabase, {
  prepare: true,
  isolated: true,
  sql: `
    comment on schema public is '@graphql({"live": {"enabled": true}})';
    create table note (id int primary key, body text);
    create table held (id int primary key, body text);
    create table slow (id int primary key);
    create function heavy(n slow) returns bigint language sql stable as
      'select count(*) from generate_series(1, 40000) a, generate_series(1, 40000) b';
    grant usage on schema public to anon, authenticated;
    grant select on all tables in schema public to anon, authenticated;
    insert into note select n, 'first' from generate_series(1, 50) n;
    insert into held select n, 'first' from generate_series(1, 50) n;
    insert into slow select n from generate_series(1, 50) n;`,
})

const address = 'x-client-address'
const settings = (poolSize: number) => ({
  DB_POOL_SIZE: String(poolSize),
  CLIENT_ADDRESS_HEADER: address,
  LOCK_TIMEOUT_MS: '40000',
})

type Headers = Readonly<Record<string, string>>
const member = (sub: string): Headers => ({
  authorization: `Bearer ${signToken({ role: 'authenticated', sub }, JWT_SECRET)}`,
})
const stranger = (number: number): Headers => ({ [address]: `10.0.0.${number}` })

const open = ({ url }: ServedProject, selection: string, headers: Headers): Promise<EventClient> =>
  openEvents(`${url}/graphql/v1`, { query: `subscription ${selection}` }, { apikey: keys.anon, ...headers })

const noteOf = (id: number): string => `{ noteByPk(id: ${id}) { body } }`
const heldOf = (id: number): string => `{ heldByPk(id: ${id}) { body } }`
const slowOf = (id: number): string => `{ slowByPk(id: ${id}) { heavy } }`

/** Statements that take long or wait for a lock. */
const busy = async (user = 'authenticator'): Promise<number> => {
  const { rows } = await overSessions(db).query(
    `select count(*)::int as n from pg_stat_activity
    where datname = current_database() and state = 'active' and usename ~ $1
      and (query like '%heavy%' or wait_event_type = 'Lock')`,
    [user],
  )
  return (rows[0] as { n: number }).n
}

const untilBusy = async (): Promise<void> => {
  while ((await busy()) === 0) await pause(5)
  // Work counts as slow after a tenth of a second.
  await pause(250)
}

/** Streams of a user and of a stranger that have run, so that they are known to be quick. */
const openHonest = async (project: ServedProject): Promise<readonly EventClient[]> => {
  const streams = await Promise.all([member('ada'), stranger(1)].map((headers) => open(project, noteOf(1), headers)))
  for (const stream of streams) await stream.next()
  for (let change = 0; change < 5; change += 1) await changeOne(streams)
  return streams
}

const changeOne = async (streams: readonly EventClient[]): Promise<void> => {
  const body = randomUUID()
  await db.query(`update note set body = '${body}' where id = 1`)
  for (const stream of streams) expect((await stream.next())?.data).toContain(body)
}

/** Each change comes to the streams, and slow runs still hold their places then. */
const expectChanges = async (streams: readonly EventClient[]): Promise<void> => {
  for (let change = 1; change <= 3; change += 1) {
    await changeOne(streams)
    await expect.poll(() => busy()).toBeGreaterThan(0)
  }
}

/** Streams of these users were quick, and then wait for a lock that came right after a change. */
const expectChangesBesideLock = async (project: ServedProject, users: readonly string[]): Promise<void> => {
  const honest = await openHonest(project)
  const waiting = await Promise.all(users.map((user, index) => open(project, heldOf(index + 1), member(user))))
  for (const stream of waiting) await stream.next()
  const [writer, holder] = [openQuery(db.ownerUrl), openQuery(db.ownerUrl)]
  try {
    await writer.query(`begin; update held set body = 'next'`)
    const locked = holder.query('begin; lock table held in access exclusive mode')
    while ((await busy('')) === 0) await pause(5)
    await writer.query('commit')
    await locked
    await untilBusy()
    await expectChanges(honest)
  } finally {
    await Promise.all([writer.end(), holder.end()])
  }
  for (const stream of waiting) expect((await stream.next())?.data).toContain('next')
  await db.query(`update held set body = 'first'`)
  for (const stream of [...waiting, ...honest]) stream.close()
}

const poolSizes = [1, 4, 8]

describe.each(poolSizes)('beside streams that take long, with DB_POOL_SIZE %i,', (poolSize) => {
  it.each([2, 12])('the streams of others go on: %i of one stranger', async (count) => {
    await whileServed(db, settings(poolSize), async (project) => {
      const honest = await openHonest(project)
      // The response begins with the first answer, which does not come.
      for (let number = 1; number <= count; number += 1) {
        void open(project, slowOf(number), stranger(2)).catch(() => null)
      }
      await untilBusy()
      await expectChanges(honest)
      const opened = await open(project, noteOf(2), member('bob'))
      expect((await opened.next())?.data).toContain('first')
      await expect.poll(() => busy()).toBeGreaterThan(0)
      for (const stream of [...honest, opened]) stream.close()
    })
  })

  it('the streams of others go on: four of one user on a table that is locked right after a change', async () => {
    await whileServed(db, settings(poolSize), (project) =>
      expectChangesBesideLock(project, ['ann', 'ann', 'ann', 'ann']),
    )
  })
})

it('the streams of others go on beside those of six users on a table that is locked right after a change', async () => {
  const users = ['ann', 'ben', 'cleo', 'dan', 'eve', 'finn']
  await whileServed(db, settings(8), (project) => expectChangesBesideLock(project, users))
})
