import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createClient, type Client } from '../../runtime/client/client.ts'
import { runBuilt } from '../support/built-cli.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { forSuite } from '../support/for-suite.ts'
import { createRandom } from '../support/random.ts'
import { describePresent } from '../support/describe-present.ts'
import { openEvents } from '../support/event-client.ts'
import { serveBuilt, type Served } from '../support/served.ts'
import type { Standing } from '../support/standing.ts'
import { topologies } from '../support/topologies.ts'

/**
 * Promise: whatever stands between a service and its data, and whatever of it ends, each stream hears what is committed, none
 * hears an answer that is older than the one before, and the last one is that of the last commit.
 */

const sql = `
  comment on schema public is '@graphql({"live": {"enabled": true}})';
  create table counter (id int primary key, n int not null);
  insert into counter values (1, 0);
  grant usage on schema public to anon, authenticated, service_role;
  grant select on counter to anon, authenticated, service_role;`

const document = 'subscription Counted { counterCollection { edges { node { n } } } }'
const patienceMs = 60_000
/** LIVE_LINES_SEED repeats what befalls the lines. */
const seed = Number(process.env['LIVE_LINES_SEED'] ?? Date.now() % 1_000_000)

interface Counted {
  readonly counterCollection: { readonly edges: readonly { readonly node: { readonly n: number } }[] }
}

/** Clients of a service, which come again by themselves. */
interface Audience {
  /** Resolves when each has heard that, and what came before was never newer. */
  readonly hear: (n: number) => Promise<void>
  readonly close: () => void
}

const openAudience = ({ url, anon }: Pick<Served, 'url' | 'anon'>, size: number): Audience => {
  const heard = Array.from({ length: size }, (): number[] => [])
  const clients = heard.map((own): Client => {
    const client = createClient(url, anon, { live: { transport: 'sse' } })
    client.live<Counted>(document, {}, ({ data }) => own.push(data?.counterCollection.edges[0]?.node.n ?? Number.NaN))
    return client
  })
  return {
    hear: async (n) => {
      const last = (): readonly (number | undefined)[] => heard.map((own) => own.at(-1))
      await expect.poll(last, { timeout: patienceMs, interval: 20 }).toEqual(heard.map(() => n))
      for (const own of heard) expect(own).toEqual([...own].sort((a, b) => a - b))
    },
    close: () => {
      for (const client of clients) client.close()
    },
  }
}

/** On a connection of its own, which the end of the one before is nothing to. */
const query = async (url: string, text: string): Promise<pg.QueryResult> => {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Counts up in so many commits; gives what is counted then. */
const count = async ({ ownerUrl }: Pick<TestDatabase, 'ownerUrl'>, commits: number): Promise<number> => {
  let n = 0
  for (let left = commits; left > 0; left -= 1) {
    n = (await query(ownerUrl, 'update counter set n = n + 1 returning n')).rows[0].n
    if (left % 3 === 0) await pause(20)
  }
  return n
}

const childrenOf = async (pid: number): Promise<readonly number[]> => {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const all = text.trim().split(' ').filter(Boolean).map(Number)
  const commands = await Promise.all(all.map((child) => readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')))
  return all.filter((_, index) => commands[index]?.includes('serve') === true)
}

type Trouble = (standing: Standing, served: Served) => Promise<Standing>

const restart: Trouble = async (standing) => {
  await standing.cluster?.stop()
  await standing.cluster?.restart()
  return standing
}

const troubles: Readonly<Record<string, Readonly<Record<string, Trouble>>>> = {
  workers: {
    'Postgres starts again': restart,
    'each worker is killed': async (standing, { pid }) => {
      for (const worker of await childrenOf(pid)) {
        process.kill(worker, 'SIGKILL')
        await expect.poll(async () => (await childrenOf(pid)).length, { timeout: patienceMs }).toBe(2)
      }
      return standing
    },
  },
  pooler: { 'Postgres starts again': restart },
  'pooler-without-statements': { 'Postgres starts again': restart },
  pgcat: { 'Postgres starts again': restart },
  replica: {
    'the replica stays behind': async (standing) => {
      const replica = (standing.environment['DATABASE_REPLICA_URLS'] ?? '').replace('authenticator', 'postgres')
      await query(replica, 'select pg_wal_replay_pause()')
      return standing
    },
  },
  promotion: {
    'a standby takes the place of the primary': ({ promote }) => promote?.() ?? Promise.reject(new Error()),
  },
  hosts: {
    'lines are slow, lossy and cut by turns': async (standing) => {
      const fair = standing.upset?.(createRandom(seed))
      for (const end = performance.now() + 10_000; performance.now() < end; await pause(200)) await count(standing, 1)
      await fair?.()
      return standing
    },
  },
}

const rows = topologies.map(({ missing, ...topology }) => ({ ...topology, missing: missing() }))
const troubled = rows.filter(({ name }) => troubles[name] !== undefined)

describePresent(
  troubled,
  ({ name }) => `streams in the topology ${name} (LIVE_LINES_SEED=${seed})`,
  ({ name, open }) => {
    let standing: Standing
    let served: Served
    let audience: Audience
    beforeAll(async () => {
      standing = await open({ sql })
      served = await serveBuilt(standing, standing.environment, standing.host)
      audience = openAudience(served, 4)
    }, 120_000)
    afterAll(async () => {
      audience?.close()
      await served?.stop()
      await standing?.drop()
    })

    it('the streams report each commit, in order', async () => {
      await audience.hear(0)
      await audience.hear(await count(standing, 15))
    })

    it.each(Object.entries(troubles[name] ?? {}))('the streams go on when %s', async (_what, trouble) => {
      await audience.hear(await count(standing, 3))
      standing = await trouble(standing, served)
      await audience.hear(await count(standing, 10))
    })
  },
  240_000,
)

describe('streams', { timeout: 240_000 }, () => {
  const db = forSuite(createDatabase, { prepare: true, isolated: true, sql })
  beforeAll(async () => {
    const superuser = db.superuser('changes settings of the server')
    await superuser.query(`alter system set log_statement = 'all'`)
    await superuser.query('select pg_reload_conf()')
  })

  it('cost Postgres nothing while nothing changes, but a sign of life of each process', async () => {
    const served = await serveBuilt(db)
    const audience = openAudience(served, 20)
    onTestFinished(async () => {
      audience.close()
      await served.stop()
    })
    await audience.hear((await db.query('select n from counter')).rows[0].n)
    await pause(1_000)
    const before = db.log.length
    await pause(6_000)
    const lines = db.log.slice(before).filter((line) => /statement:|execute /.test(line))
    expect(lines.filter((line) => line.includes('counter'))).toEqual([])
    // Every five seconds: one on each of its connections, and the pool's own.
    expect(lines.length).toBeLessThanOrEqual(8)
  })

  it('hear of other processes when the one that leads hangs', async () => {
    const leader = await serveBuilt(db)
    const first = openAudience(leader, 2)
    await first.hear((await db.query('select n from counter')).rows[0].n)
    const other = await serveBuilt(db)
    const second = openAudience(other, 2)
    onTestFinished(async () => {
      process.kill(leader.pid, 'SIGCONT')
      first.close()
      second.close()
      await leader.stop()
      await other.stop()
    })
    await second.hear(await count(db, 3))
    process.kill(leader.pid, 'SIGSTOP')
    await second.hear(await count(db, 3))
    process.kill(leader.pid, 'SIGCONT')
    await first.hear(await count(db, 3))
    await second.hear((await db.query('select n from counter')).rows[0].n)
  })
})

const distributed = rows.filter(({ name }) => name === 'citus')

describePresent(
  distributed,
  ({ name }) => `in the topology ${name}`,
  ({ open }) => {
    it(
      'a distributed table is not offered to subscriptions, and the report says why',
      { timeout: 120_000 },
      async () => {
        const standing = await open({
          sql: `${sql} select create_distributed_table('counter', 'id');
        alter role anon login; alter role authenticated login; alter role service_role login;`,
        })
        onTestFinished(() => standing.drop())
        const { stdout } = await runBuilt(['report', '--json'], { DATABASE_OWNER_URL: standing.ownerUrl })
        expect(stdout).toContain('table public.counter cannot be watched: its rows lie on other servers.')
        const served = await serveBuilt(standing, standing.environment)
        const stream = await openEvents(`${served.url}/graphql/v1`, { query: document }, { apikey: served.anon })
        const { errors } = JSON.parse(await stream.body()) as { errors: readonly { message: string }[] }
        expect(errors.map(({ message }) => message)).toEqual([
          'Schema is not configured to execute subscription operation.',
        ])
        await served.stop()
      },
    )
  },
)

const poolers = troubled.filter(({ name }) => name.startsWith('pooler') || name === 'pgcat')

describePresent(
  poolers,
  ({ name }) => `behind ${name}, without a URL around it`,
  ({ open }) => {
    it('a subscription is refused, and the log says what the owner can do', { timeout: 120_000 }, async () => {
      const standing = await open({ sql })
      const served = await serveBuilt(standing, { ...standing.environment, DATABASE_LISTEN_URL: standing.url })
      onTestFinished(async () => {
        await served.stop()
        await standing.drop()
      })
      const stream = await openEvents(`${served.url}/graphql/v1`, { query: document }, { apikey: served.anon })
      const { errors } = JSON.parse(await stream.body()) as { errors: readonly { message: string }[] }
      expect(errors.map(({ message }) => message)).toEqual(['Changes of the tables that it reads are not reported.'])
      const told = await fetch(`${served.url}/admin/v1/live`, { headers: { apikey: served.service } })
      expect(await told.text()).toContain('a pooler is in front of the database: set DATABASE_LISTEN_URL')
    })
  },
)
