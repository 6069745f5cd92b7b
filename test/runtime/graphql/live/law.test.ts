import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { installLive } from '../../../../compiler/following/prepare/install-live.ts'
import type { Change, ChangeFeed } from '../../../../runtime/contract/live.ts'
import { DatabaseFailure } from '../../../../runtime/db/failures/failures.ts'
import { withSession } from '../../../../runtime/db/connect/session.ts'
import { openChangeFeed } from '../../../../runtime/graphql/live/changes/feed.ts'
import { lawMajors } from '../../../support/whole.ts'
import { startCluster, type ThrowAwayCluster } from '../../../support/cluster.ts'
import { prepareDatabase } from '../../../../compiler/following/prepare/prepare.ts'
import { clusterOf } from '../../../support/clusters.ts'
import { createRandom, type Random } from '../../../support/random.ts'
import { until } from '../../../support/until.ts'

/**
 * No commit is missed: what a reader keeps by asking again only after a report is, in the end, what is there. Writers
 * commit in any order while processes come and go, connections are ended and the server starts again.
 */

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const rounds = Number(process.env['ROUNDS'] ?? 12)
const items = { schema: 'public', name: 'items' }
const owners = 4

/** A process: a feed, and for each owner what it last saw of the owner's rows. */
interface Follower {
  readonly feed: ChangeFeed
  readonly seen: Map<number, string>
  /** Tries until it is watched. */
  readonly watch: () => Promise<void>
  readonly settled: () => Promise<void>
  readonly close: () => Promise<void>
}

const sumOf = `select coalesce(sum(n), 0)::text as sum from items where owner = $1`

const follow = async (url: string): Promise<Follower> => {
  const seen = new Map<number, string>()
  const dirty = new Set(Array.from({ length: owners }, (_, owner) => owner))
  let asking: Promise<void> | null = null
  let closed = false
  /** Asks until nothing is dirty; what fails is asked again. */
  const ask = async (): Promise<void> => {
    while (dirty.size > 0 && !closed) {
      const client = new pg.Client(url)
      client.on('error', () => undefined)
      try {
        await client.connect()
        for (const owner of dirty) {
          dirty.delete(owner)
          try {
            seen.set(owner, (await client.query<{ sum: string }>(sumOf, [owner])).rows[0]?.sum ?? '')
          } catch (error) {
            dirty.add(owner)
            throw error
          }
        }
      } catch {
        await pause(20)
      } finally {
        await client.end().catch(() => undefined)
      }
    }
    asking = null
  }
  const dirtied = (some: Iterable<number>): void => {
    for (const owner of some) dirty.add(owner)
    asking ??= ask()
  }
  const all = Array.from({ length: owners }, (_, owner) => owner)
  const feed = openChangeFeed({
    url,
    listener: {
      changed: (changes: readonly Change[]) => {
        for (const { values } of changes) dirtied([...(values.get('owner') ?? all)].map(Number))
      },
      unsure: () => dirtied(all),
    },
    // Without the comparison, which would find what was missed.
    pace: { compareMs: null, keepMs: 200, lingerMs: 0, cycleMs: 1, quietCycles: 2 },
  })
  const watch = async (): Promise<void> => {
    for (let isWatched = false; !isWatched && !closed;) {
      isWatched = await feed.watch(items, ['owner']).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof DatabaseFailure) && !closed) throw error
          return false
        },
      )
      if (!isWatched) await pause(20)
    }
    // Earlier commits are not reported.
    dirtied(all)
  }
  await watch()
  return {
    feed,
    seen,
    watch,
    settled: async () => {
      while (asking !== null) await asking
    },
    close: async () => {
      closed = true
      await feed.close()
      await asking
    },
  }
}

/** Writes until it is stopped; a connection that is ended is made again. */
const write = async (url: string, random: Random, isOver: () => boolean): Promise<void> => {
  while (!isOver()) {
    const client = new pg.Client(url)
    client.on('error', () => undefined)
    try {
      await client.connect()
      while (!isOver()) {
        const isolation = ['read committed', 'repeatable read', 'serializable'][random(3)] ?? ''
        await client.query(`begin isolation level ${isolation}`)
        for (let statements = 1 + random(2); statements > 0; statements -= 1) {
          await client.query('insert into items values ($1, $2)', [random(owners), 1 + random(9)])
          if (random(3) === 0) await pause(random(15))
        }
        await client.query(random(6) === 0 ? 'rollback' : 'commit')
        if (random(2) === 0) await pause(random(30))
      }
    } catch {
      await pause(10)
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}

type Trouble = (cluster: ThrowAwayCluster, followers: Follower[], url: string, random: Random) => Promise<void>

const asAdmin = async (cluster: ThrowAwayCluster, text: string): Promise<void> => {
  const client = new pg.Client({ host: '127.0.0.1', port: cluster.port, user: 'postgres', database: 'postgres' })
  client.on('error', () => undefined)
  await client.connect()
  await client.query(text)
  await client.end()
}

const ended = (which: string) => (cluster: ThrowAwayCluster) =>
  asAdmin(
    cluster,
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'catalograph' and ${which}`,
  )

const troubles: readonly Trouble[] = [
  async () => pause(30),
  async () => pause(30),
  ended(`state like 'idle in transaction%'`),
  ended(`wait_event_type = 'Lock'`),
  ended(`state = 'idle'`),
  ended('random() < 0.5'),
  async (_, followers) => {
    if (followers.length > 1) await followers.shift()?.close()
  },
  async (_, followers, url) => {
    if (followers.length < 4) followers.push(await follow(url))
  },
  async (_, followers, __, random) => {
    // The gate closes only after the last watch.
    for (const { feed } of followers) feed.unwatch(items)
    await pause(random(30))
    await Promise.all(followers.map((one) => one.watch()))
  },
  async (cluster) => asAdmin(cluster, 'alter table items set (fillfactor = 90)'),
  async (cluster, _, __, random) => {
    if (random(3) !== 0) return
    if (random(2) === 0) await cluster.stop()
    else await cluster.kill()
    await cluster.restart()
  },
]

describe.each(lawMajors())('changes on PostgreSQL %i', (major) => {
  test(`are all reported in the end, whatever happens (SEED=${seed})`, { timeout: 240_000 }, async () => {
    const random = createRandom(seed)
    // A server that is killed may lose what was committed without being written, the triggers too.
    const cluster = await startCluster(clusterOf(major), undefined, { synchronous_commit: 'on' })
    const url = (user: string): string => `postgres://${user}@127.0.0.1:${cluster.port}/postgres`
    const followers: Follower[] = []
    onTestFinished(async () => {
      await Promise.all(followers.map(({ close }) => close()))
      await cluster.remove()
    })
    await asAdmin(cluster, 'create table items (owner int, n int); grant select, insert on items to authenticator')
    await prepareDatabase({ url: url('postgres'), login: 'authenticator' })
    await withSession({ url: url('postgres') }, (query) => installLive(query, [items]))
    followers.push(await follow(url('authenticator')), await follow(url('authenticator')))
    for (let round = 0; round < rounds; round += 1) {
      let isOver = false
      const writers = [1, 2, 3].map((number) =>
        write(url('authenticator'), createRandom(seed + round * 10 + number), () => isOver),
      )
      for (let count = 1 + random(4); count > 0; count -= 1) {
        await troubles[random(troubles.length)]?.(cluster, followers, url('authenticator'), random)
        await pause(random(60))
      }
      isOver = true
      await Promise.all(writers)
      const client = new pg.Client(url('postgres'))
      await client.connect()
      const { rows } = await client.query<{ owner: number; sum: string }>(
        'select owner, sum(n)::text as sum from items group by owner',
      )
      await client.end()
      const there = JSON.stringify(
        Array.from({ length: owners }, (_, owner) => rows.find((row) => row.owner === owner)?.sum ?? '0'),
      )
      for (const follower of followers) {
        const known = async (): Promise<boolean> => {
          await follower.settled()
          return JSON.stringify(Array.from({ length: owners }, (_, owner) => follower.seen.get(owner))) === there
        }
        await until(known, 10_000).catch(() => expect.fail(`round ${round}, SEED=${seed}: a commit was not told`))
      }
    }
  })
})
