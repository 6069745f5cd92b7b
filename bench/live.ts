import pg from 'pg'
import { installLive } from '../compiler/following/prepare/install-live.ts'
import { withSession } from '../runtime/db/connect/session.ts'
import { openChangeFeed } from '../runtime/graphql/live/changes/feed.ts'
import { createDatabase, type TestDatabase } from '../test/support/database.ts'
import { followDatabase, type FollowedService } from '../test/support/followed.ts'
import { withCleanup } from './support/cleanup.ts'
import { withCpu } from './support/cpu.ts'
import { readOptions } from './support/options.ts'
import { startPostgres } from './support/postgres.ts'
import { writeRecord } from './support/record.ts'
import { printTable } from './support/table.ts'
import { median, medianWithin } from './support/statistics.ts'

/**
 * The cost of live relations for writers: the same writes through GraphQL, in turn on a table that is not live, one that
 * is live and not watched, and ones that are watched, with and without a pin. The feed runs in this process, as it
 * does in a service. CPU is that of this process and of Postgres; ratios are those to the table that is not live, round by
 * round. Then 16 connections that insert at once, in inserts a second.
 *
 * --rounds 15 --inserts 300 --updates 20 --seconds 1 --pg 18 --json FILE
 */
const options = readOptions()
const rounds = options.number('rounds', 15)
const [inserts, updates] = [options.number('inserts', 300), options.number('updates', 20)]
const major = options.number('pg', 18) === 15 ? 15 : 18

const tables = ['plain', 'idle', 'watched', 'pinned'] as const
type Table = (typeof tables)[number]
const labels: Readonly<Record<Table, string>> = {
  plain: 'not live',
  idle: 'live, not watched',
  watched: 'watched',
  pinned: 'watched with a pin',
}

const tableSql = (name: Table): string => `
  create table ${name} (id bigint generated always as identity primary key, owner int not null, title text not null,
    body text, created_at timestamptz not null default now());
  create index on ${name} (owner);
  insert into ${name} (owner, title) select n % 50, 'title ' || n from generate_series(1, 2000) n;
  grant select, insert, update on ${name} to anon;`

const insertOne = (name: Table, number: number): string =>
  `mutation { insertInto${name}Collection(objects: [{ owner: ${number % 50}, title: "new" }]) { affectedCount } }`
const updateMany = (name: Table, round: number): string => `mutation {
  update${name}Collection(set: { title: "round ${round}" }, filter: { id: { gt: 100, lte: 200 } }, atMost: 100) { affectedCount } }`

const must = async (service: FollowedService, document: string): Promise<void> => {
  const answer = await service.graphql(document)
  if (answer.errors !== undefined) throw new Error(JSON.stringify(answer.errors))
}

type Work = (name: Table, round: number) => Promise<void>

/** CPU of each table and round, in microseconds per write. */
const measure = async (times: number, work: Work, pid: number): Promise<Series> => {
  const costs: Record<Table, number[]> = { plain: [], idle: [], watched: [], pinned: [] }
  for (let round = 0; round < rounds + 2; round += 1) {
    for (let turn = 0; turn < tables.length; turn += 1) {
      const name = tables[(turn + round) % tables.length] ?? 'plain'
      const { cpu } = await withCpu({ service: process.pid, postgres: pid }, () => work(name, round))
      // The first rounds fill caches.
      if (round >= 2) costs[name].push((cpu.service + cpu.postgres) / times)
    }
  }
  return costs
}

const ratioCells = (ours: readonly number[], plain: readonly number[]) => {
  const { median: middle, min, max } = medianWithin(ours.map((value, round) => value / (plain[round] ?? Number.NaN)))
  return { ratio: middle.toFixed(2), within: `${min.toFixed(2)}-${max.toFixed(2)}` }
}

type Series = Readonly<Record<Table, readonly number[]>>

const rowsOf = (series: Series, unit: string) =>
  tables.map((name) => ({
    table: labels[name],
    [unit]: median(series[name]).toFixed(0),
    ...ratioCells(series[name], series.plain),
  }))

const figuresOf = (kind: string, series: Series) =>
  Object.fromEntries(tables.map((name) => [`live.${kind}.${name}`, series[name]]))

/** Inserts a second of 16 connections. */
const throughput = async (db: TestDatabase, name: Table, ms: number): Promise<number> => {
  const clients = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const client = new pg.Client(db.ownerUrl)
      await client.connect()
      return client
    }),
  )
  const started = performance.now()
  let count = 0
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - started < ms) {
        await client.query({ name: 'insert', text: `insert into ${name} (owner, title) values (1, 'new')` })
        count += 1
      }
    }),
  )
  const perSecond = (count * 1_000) / (performance.now() - started)
  await Promise.all(clients.map((client) => client.end()))
  return perSecond
}

await withCleanup(async (later) => {
  const postgres = await startPostgres(major)
  later(postgres.stop)
  const db = await createDatabase({ major, prepare: true, sql: tables.map(tableSql).join('') })
  later(db.drop)
  const live = tables.slice(1).map((name) => ({ schema: 'public', name }))
  await withSession({ url: db.ownerUrl }, (query) => installLive(query, live))
  let reported = 0
  const listener = {
    changed: (changes: readonly unknown[]) => void (reported += changes.length),
    unsure: () => undefined,
  }
  const feed = openChangeFeed({ url: db.url, listener })
  later(feed.close)
  await feed.watch({ schema: 'public', name: 'watched' }, [])
  await feed.watch({ schema: 'public', name: 'pinned' }, ['owner'])
  const service = followDatabase(db.url)
  later(service.close)

  const one = await measure(
    inserts,
    async (name) => {
      for (let number = 0; number < inserts; number += 1) await must(service, insertOne(name, number))
    },
    postgres.pid,
  )
  const many = await measure(
    updates,
    async (name, round) => {
      for (let number = 0; number < updates; number += 1) await must(service, updateMany(name, round * 100 + number))
    },
    postgres.pid,
  )
  const ms = options.number('seconds', 1) * 1_000
  const speeds: Record<Table, number[]> = { plain: [], idle: [], watched: [], pinned: [] }
  for (let round = 0; round < 5; round += 1)
    for (const name of tables) speeds[name].push(await throughput(db, name, ms))
  printTable(`One row inserted through GraphQL, PostgreSQL ${major}`, rowsOf(one, 'CPU, µs'))
  printTable('100 rows updated through GraphQL', rowsOf(many, 'CPU, µs'))
  printTable('16 connections that insert', rowsOf(speeds, 'a second'))
  if (reported === 0) throw new Error('nothing was told')
  await writeRecord(
    {
      bench: 'live',
      figures: { ...figuresOf('insert', one), ...figuresOf('update', many), ...figuresOf('sixteen', speeds) },
    },
    options.text('json'),
  )
})
