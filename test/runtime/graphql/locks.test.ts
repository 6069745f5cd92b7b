import { describe, expect, it } from 'vitest'
import { forSuite } from '../../support/for-suite.ts'
import { openQuery } from '../../support/database.ts'
import { createTestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** Locks that other transactions hold, and requests that need them (docs/operate.md, LOCK_TIMEOUT_MS). */

const sql = `
  create table ledger (id int primary key, note text);
  create table other (id int primary key);
  insert into ledger values (1, 'a');
  insert into other values (1);
  grant all on ledger, other to anon;
  create function asks_at_once() returns int language sql volatile as 'select id from ledger for update nowait';
  create function raises() returns int language plpgsql volatile
    as $$ begin raise exception 'the till is closed' using errcode = '55P03'; end $$;
`
const service = forSuite(createTestService, { sql })

const locked = (path?: string) => ({
  data: null,
  errors: [
    {
      message: 'Another transaction holds a lock that is needed; try again later.',
      ...(path !== undefined && { path: [path] }),
      extensions: { code: 'DATABASE_LOCKED', sqlstate: '55P03' },
    },
  ],
})
const read = '{ ledgerCollection { edges { node { id } } } }'
const insert = 'mutation { insertIntoledgerCollection(objects: [{id: 2, note: "b"}]) { affectedCount } }'

const whileLocked = async (
  locking: string,
  work: (holder: ReturnType<typeof openQuery>) => Promise<void>,
): Promise<void> => {
  const holder = openQuery(service.db.ownerUrl)
  try {
    await holder.query(`begin; ${locking}`)
    await work(holder)
  } finally {
    await holder.query('rollback')
    await holder.end()
  }
}

describe('a lock of another transaction', () => {
  it('is not waited for beyond the limit, and other tables answer during the wait', async () => {
    await whileLocked('lock table ledger in access exclusive mode', async () => {
      const waiting = service.graphql(read)
      expect((await service.graphql('{ otherCollection { edges { node { id } } } }')).errors).toBeUndefined()
      expect(await waiting).toEqual(locked())
    })
    expect((await service.graphql(read)).errors).toBeUndefined()
  })

  it('lets a read wait once more that Postgres ended for a deadlock with a migration', async () => {
    const both = '{ ledgerCollection { edges { node { id } } } otherCollection { edges { node { id } } } }'
    const waits = `select from pg_locks where not granted and relation = 'other'::regclass`
    await whileLocked('lock table other in access exclusive mode', async (migration) => {
      const reading = service.graphql(both)
      await until(async () => (await service.db.query(waits)).rows.length === 1)
      // The read waits longer, so it is the one that finds the deadlock.
      await migration.query('lock table ledger in access exclusive mode')
      await migration.query('commit')
      expect((await reading).errors).toBeUndefined()
    })
  })

  it('fails a write, of which nothing is kept, with status 503', async () => {
    await whileLocked('lock table ledger in share mode', async () => {
      expect(await service.graphql(insert)).toEqual(locked('insertIntoledgerCollection'))
      expect((await service.serve(insert)).outcome).toBe('unavailable')
    })
    expect((await service.db.query('select id from ledger')).rows).toEqual([{ id: 1 }])
  })

  it('has the code where a function asks for it without waiting, and not where a function raises the code', async () => {
    await whileLocked('select from ledger for share', async () => {
      expect(await service.graphql('mutation { asks_at_once }')).toEqual(locked('asks_at_once'))
    })
    const { errors } = await service.graphql('mutation { raises }')
    expect(errors?.[0]).toMatchObject({ message: 'the till is closed', extensions: { code: 'DATABASE_REFUSED' } })
  })
})
