import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { installLive } from '../../../../compiler/following/prepare/install-live.ts'
import type { Change, ChangeFeed } from '../../../../runtime/contract/live.ts'
import type { ObjectId } from '../../../../runtime/contract/manifest.ts'
import { objectId } from '../../../../runtime/contract/facts.ts'
import { withSession } from '../../../../runtime/db/connect/session.ts'
import { openChangeFeed, type ChangeFeedOptions } from '../../../../runtime/graphql/live/changes/feed.ts'
import { createGates } from '../../../../runtime/graphql/live/changes/gates.ts'
import { createDatabase, overSessions, type TestDatabase } from '../../../support/database.ts'
import { lawMajors } from '../../../support/whole.ts'
import { until } from '../../../support/until.ts'

const posts = { schema: 'public', name: 'posts' }
const tags = { schema: 'public', name: 'tags' }

/** A feed and what it reported. */
interface Heard {
  readonly feed: ChangeFeed
  readonly changes: Change[]
  readonly unsure: ('outage' | 'schema')[]
}

/** The comparison of roles is left out unless a test is about it: it would hide a change that was not reported. */
const pace = { compareMs: null, lingerMs: 0, keepMs: 500 } as const

describe.each(lawMajors())('the feed of changes on PostgreSQL %i', (major) => {
  let database: TestDatabase
  const opened: (() => Promise<unknown>)[] = []
  const open = (options: Partial<ChangeFeedOptions> = {}): Heard => {
    const changes: Change[] = []
    const unsure: ('outage' | 'schema')[] = []
    const listener = {
      changed: (some: readonly Change[]) => void changes.push(...some),
      unsure: (why: 'outage' | 'schema') => void unsure.push(why),
    }
    const feed = openChangeFeed({ url: database.url, listener, ...options, pace: { ...pace, ...options.pace } })
    opened.push(feed.close)
    return { feed, changes, unsure }
  }
  const connect = async (url = database.ownerUrl): Promise<pg.Client> => {
    const client = new pg.Client(url)
    client.on('error', () => undefined)
    await client.connect()
    opened.push(() => client.end().catch(() => undefined))
    return client
  }
  const gate = async (name: string): Promise<number> => {
    const { rows } = await database.query(
      `select pg_sequence_last_value(('catalograph.live_' || $1::regclass::oid)::regclass)::int as value`,
      [name],
    )
    return rows[0].value as number
  }
  beforeEach(async () => {
    database = await createDatabase({
      major,
      prepare: true,
      sql: `create table posts (id int primary key, owner int); create table tags (id int); create table plain (id int)`,
    })
    expect(await withSession({ url: database.ownerUrl }, (query) => installLive(query, [posts, tags]))).toEqual([])
  })
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close()
    await database.drop()
  })

  test('reports to each process what others write, with the values that pins need', async () => {
    const all = [open(), open(), open()]
    for (const { feed } of all) await feed.watch(posts, ['owner'])
    await database.query('insert into posts values (1, 7)')
    for (const { changes } of all) await until(() => changes.length === 1)
    await pause(100)
    await database.query('update posts set owner = 8')
    for (const { changes, unsure } of all) {
      await until(() => changes.length === 2)
      expect(changes.map(({ relation, values }) => [relation, [...(values.get('owner') ?? [])]])).toEqual([
        ['["public","posts"]', ['7']],
        ['["public","posts"]', ['7', '8']],
      ])
      expect(unsure).toEqual([])
    }
  })

  test('reports what a transaction wrote before the relation was watched', async () => {
    const { feed, changes } = open()
    await feed.watch(tags, [])
    const writer = await connect()
    await writer.query('begin; insert into posts values (1, 7)')
    await feed.watch(posts, ['owner'])
    await pause(50)
    expect(changes).toEqual([])
    await writer.query('commit')
    await until(() => changes.length === 1)
    expect(changes).toEqual([{ relation: '["public","posts"]', values: new Map() }])
  })

  test('gives way to a statement that drops what it locks', async () => {
    for (const { feed } of [open({ pace: { compareMs: 50 } }), open({ pace: { compareMs: 50 } })])
      await feed.watch(posts, [])
    const superuser = await connect(database.superuser('owns the schema of the service').url)
    // Long before a feed would take its database for unavailable.
    await superuser.query(`set statement_timeout = '5s'`)
    await superuser.query('drop schema catalograph cascade')
  })

  test('waits for a transaction that is found while others are asked about', async () => {
    await open().feed.watch(tags, [])
    const [first, second] = [await connect(), await connect()]
    await first.query('begin; insert into posts values (1, 7)')
    await second.query('begin; insert into tags values (1)')
    await withSession({ url: database.url }, async (query) => {
      const ended: ObjectId[] = []
      let asked = 0
      let isFound = (): void => undefined
      const found = new Promise<void>((resolve) => (isFound = resolve))
      const held: typeof query = async (text, ...others) => {
        const answer = await query<never>(text, ...others)
        if (text.includes('virtualxid') && ++asked === 1) await found
        return answer
      }
      const gates = createGates({
        query: held,
        isOver: () => false,
        ended: (ids) => void ended.push(...ids),
        failed: () => undefined,
      })
      const watched = (relation: typeof posts) => {
        return {
          id: objectId(relation.schema, relation.name),
          relation,
          columns: new Set<string>(),
          roots: new Set<number>(),
        }
      }
      await gates.open([watched(posts)])
      await until(() => asked === 1)
      await gates.open([watched(tags)])
      isFound()
      await until(() => asked === 2)
      expect(ended).toEqual([])
      for (const [writer, relation] of [
        [second, tags],
        [first, posts],
      ] as const) {
        await writer.query('commit')
        await until(() => ended.includes(objectId(relation.schema, relation.name)))
      }
      expect(ended).toHaveLength(2)
    })
  })

  test('closes a gate that no process watches, and not one that another watches', async () => {
    const [one, other] = [open(), open()]
    await one.feed.watch(posts, [])
    await other.feed.watch(posts, ['owner'])
    expect(await gate('posts')).toBe(5)
    one.feed.unwatch(posts)
    await pause(100)
    expect(await gate('posts')).toBe(5)
    other.feed.unwatch(posts)
    await until(async () => (await gate('posts')) === 0)
    await other.feed.watch(posts, [])
    await database.query('insert into posts values (1, 7)')
    await until(() => other.changes.length === 1)
  })

  test('the next leader reports that something may be missed; gates are open again then', async () => {
    const [one, other] = [open(), open()]
    await one.feed.watch(posts, [])
    await other.feed.watch(posts, [])
    await one.feed.close()
    await until(() => other.unsure.length > 0)
    await database.query('insert into posts values (1, 7)')
    await until(() => other.changes.length === 1)
    expect(other.unsure).toEqual(['outage'])
  })

  test('comes back after each of its connections was ended, and says so', async () => {
    const { feed, changes, unsure } = open()
    await feed.watch(posts, [])
    const { rows } = await overSessions(database).query(`select pid from pg_stat_activity
      where application_name = 'catalograph' and datname = current_database()`)
    expect(rows).toHaveLength(2)
    for (let round = 1; round <= 2; round += 1) {
      const [row] = (
        await overSessions(database).query(
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'catalograph'
          and datname = current_database() and (state like 'idle in transaction%') = $1`,
          [round === 1],
        )
      ).rows
      expect(row).toBeDefined()
      await until(() => unsure.length === round)
      expect(feed.fault()).toBe(null)
      await database.query(`insert into posts values (${round}, 7)`)
      await until(() => changes.length === round)
    }
  })

  test('a relation that is watched while the connections end waits for the next ones', async () => {
    const { feed, changes } = open()
    await feed.watch(posts, [])
    for (const delayMs of [0, 1, 5, 20]) {
      await overSessions(database).query(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'catalograph' and datname = current_database()`)
      await pause(delayMs)
      await feed.watch(tags, [])
      feed.unwatch(tags)
      await pause(5)
    }
    await feed.watch(tags, [])
    await database.query('insert into tags values (1)')
    await until(() => changes.length === 1)
  })

  test('changes of the schema and of roles are reported', async () => {
    const { feed, changes, unsure } = open({ pace: { compareMs: 20 } })
    await feed.watch(posts, [])
    await database.query('alter table plain add column x int')
    await until(() => unsure.length === 1)
    await database.query('drop table posts; create table posts (id int)')
    await until(() => unsure.length === 2)
    await withSession({ url: database.ownerUrl }, (query) => installLive(query, [posts, tags]))
    await until(() => unsure.length >= 3)
    await database.query('insert into posts values (1)')
    await until(() => changes.length === 1)
    expect(new Set(unsure)).toEqual(new Set(['schema']))
  })

  test('a relation without triggers, or a database that is away: refused with the reason', async () => {
    const { feed } = open()
    await expect(feed.watch({ schema: 'public', name: 'plain' }, [])).rejects.toThrow(
      'the changes of "public"."plain" are not reported',
    )
    await expect(feed.watch({ schema: 'public', name: 'nowhere' }, [])).rejects.toThrow('are not reported')
    await feed.watch(posts, [])
    expect(feed.fault()).toBe(null)
    const lost = open({ url: database.url.replace(/:\d+\//, ':1/') })
    await expect(lost.feed.watch(posts, [])).rejects.toMatchObject({ kind: 'unavailable' })
    expect(lost.feed.fault()).toBe('the database is away')
  })

  test('a database that cannot report keeps the reason while it is looked at again', async () => {
    const { feed } = open({ url: database.url.replace(/[^/]+$/, 'postgres') })
    const reason = 'the database is not prepared for live queries'
    for (const relation of [posts, posts, tags]) await expect(feed.watch(relation, [])).rejects.toThrow(reason)
    expect(feed.fault()).toContain(reason)
  })

  test('is closed while it connects', async () => {
    const { feed } = open()
    const watching = feed.watch(posts, []).catch((error: unknown) => error)
    await feed.close()
    await watching
    await expect(feed.watch(posts, [])).rejects.toThrow('closed')
  })

  test('changes that are read leave no rows behind', async () => {
    const { feed, changes } = open()
    await feed.watch(posts, [])
    for (let id = 1; id <= 50; id += 1) await database.query(`insert into posts values (${id}, 7)`)
    await until(() => changes.length === 50)
    const left = async (): Promise<number> =>
      (await database.query('select count(*)::int as n from catalograph.live_changes')).rows[0].n as number
    await until(async () => (await left()) === 0)
  })
})
