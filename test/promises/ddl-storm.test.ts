import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { splitSql } from '../../compiler/commands/advise/diff/script.ts'
import { serveStanding } from '../support/asked.ts'
import { followDatabase } from '../support/followed.ts'
import { outages } from '../support/hosts/several.ts'
import { createRandom, type Random } from '../support/random.ts'
import type { Answer } from '../support/service.ts'
import type { Standing } from '../support/standing.ts'
import {
  askCompiled,
  handleCompiled,
  openArtifacts,
  runCompiler,
  serveCompiled,
  type ArtifactsFolder,
  type CompiledServer,
} from '../support/storm/compiled.ts'
import {
  changes,
  create,
  initial,
  names,
  noises,
  tableIds,
  type Change,
  type Commit,
  type State,
  type Table,
} from '../support/storm/states.ts'
import {
  countAnswer,
  either,
  enough,
  has,
  inserting,
  isChanged,
  isEither,
  isOver,
  last,
  now,
  numberOf,
  patience,
  possibleSince,
  reading,
  rest,
  type Asked,
  type Row,
  type Storm,
} from '../support/storm/storm.ts'
import { majors } from '../support/clusters.ts'
import { chosenMajors, chosenTopology, openChosen } from '../support/topologies.ts'
import { lawMajors } from '../support/whole.ts'

/**
 * Promise: whatever is created, altered, renamed, dropped, granted, revoked and commented while requests run, each of them is
 * answered by one committed state of the schema, and by none older than when it was sent.
 *
 * Every table has two columns whose names in the API change places: what stands under the field x is always "x", so anyone who
 * reads or writes by an older plan is found out by the value. Servers of compiled documents are asked what was compiled at the
 * beginning or later during the storm: they answer it as of the schema of the moment, or by the code that says why not. Long form: STORM_MINUTES; STORM_SEED repeats all choices. With
 * TEST_TOPOLOGY built services ask through that topology; what replicas answer may be as old as the owner allows. On Citus the
 * rows are spread over the shards of its workers.
 */
const seed = Number(process.env['STORM_SEED'] ?? Date.now() % 1_000_000)
const minutes = process.env['STORM_MINUTES']
const seconds = Number(minutes ?? 0.12) * 60
const asked = chosenMajors(minutes === undefined ? lawMajors() : majors())

const distribute = (name: string): string => `select create_distributed_table('${name}', 'id')`

/** Citus hands the whole text on that a command stands in. */
async function runChange(client: pg.Client, { distributed }: Storm, before: State, { sql, state }: Change) {
  if (!distributed) return client.query(sql)
  for (const { text } of splitSql(sql)) await client.query(text)
  return before.exists ? null : client.query(distribute(state.name))
}

/** One to three changes in a transaction, short or long, committed or not. */
async function change(client: pg.Client, table: Table, storm: Storm, random: Random): Promise<Commit | null> {
  await client.query('begin')
  let state = last(table)
  for (let left = 1 + random(3); left > 0; left -= 1) {
    const made = changes[random(changes.length)]?.(state, table.id, random)
    if (made == null) continue
    await runChange(client, storm, state, made)
    state = made.state
  }
  if (random(3) === 0) await sleep(random(120))
  if (random(4) === 0) {
    await client.query('rollback')
    return null
  }
  const asked = now()
  // A read at that time may see either state.
  const pending = { asked, done: Number.POSITIVE_INFINITY, state }
  table.commits = [...table.commits, pending]
  await client.query('commit')
  table.commits = table.commits.map((commit) => (commit === pending ? { ...pending, done: now() } : commit))
  return pending
}

async function runChanger(url: string, table: Table, storm: Storm, random: Random): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  // Citus refuses DDL behind what it has done on several connections at once.
  if (storm.distributed) await client.query(`set citus.multi_shard_modify_mode = 'sequential'`)
  try {
    while (!isOver(storm)) {
      await change(client, table, storm, random)
      storm.commits.count += 1
      await rest(storm, random(storm.paceMs))
    }
  } finally {
    await client.end()
  }
}

async function runNoise(url: string, storm: Storm, random: Random): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    while (!isOver(storm)) {
      await client.query(noises[random(noises.length)] ?? '').catch(() => undefined)
      storm.commits.count += 1
      await rest(storm, random(2 * storm.paceMs))
    }
  } finally {
    await client.end()
  }
}

function ask(table: Table, random: Random): Asked {
  const state = last(table)
  const name = random(8) === 0 ? `t${table.id}_b` : state.name
  const extra = [0, 1, 2, 3].filter((n) => (n in state.extra ? random(2) === 0 : random(12) === 0))
  const fields = ['x', 'y', ...extra.map((n) => `c_${n}`)]
  return random(3) > 0 ? reading(name, fields) : inserting(name, fields, (field) => field)
}

const isRight = (row: Row): boolean =>
  Object.entries(row).every(([field, value]) => value === (numberOf(field) ?? (isEither(row) ? either : field)))

function judge(storm: Storm, table: Table, asked: Asked, sent: number, before: number, answer: Answer): string | null {
  const verdictsOf = (commits: readonly Commit[]): ReadonlySet<boolean> =>
    new Set(commits.map(({ state }) => state.granted && has(state, asked)))
  const possible = possibleSince(table, sent)
  const code = countAnswer(storm, answer)
  if (code === 'ok') {
    if (!verdictsOf(possibleSince(table, asked.reads ? sent - storm.staleMs : sent)).has(true))
      return 'answered by a schema that was gone'
    return asked.rows(answer.data).every(isRight) ? null : 'a value of another column'
  }
  if (storm.outages.has(code)) return null
  // Requests that replicas refuse go to the primary first.
  if (code === 'GRAPHQL_VALIDATION_FAILED')
    return verdictsOf(possible).has(false) ? null : 'refused what the schema has'
  if (code === 'SCHEMA_CHANGED') return isChanged(storm, before, possible.length) ? null : 'a change that nobody made'
  return 'an error that says nothing about the schema'
}

async function runClient(service: Serving, storm: Storm, random: Random): Promise<void> {
  while (!isOver(storm)) {
    const table = storm.tables[random(storm.tables.length)]
    if (table === undefined) return
    const asked = ask(table, random)
    const [sent, before] = [now(), storm.commits.count]
    const answer = await service.graphql(asked.query)
    const problem = judge(storm, table, asked, sent, before, answer)
    if (problem !== null) {
      storm.problems.push(
        `${problem}: ${asked.query} -> ${JSON.stringify(answer)}, ${JSON.stringify(table.commits.slice(-3))}`,
      )
    }
  }
}

const patient = { timeout: 10_000 }

/** One of the processes that serve the same database. */
interface Serving {
  readonly graphql: (query: string) => Promise<Answer>
  /** How it came by its answers. */
  readonly told: () => Promise<string>
  readonly stop: () => Promise<unknown>
}

const follow = (db: Standing): Serving => {
  const { graphql, compiled, close } = followDatabase(db.url)
  return { graphql, told: () => Promise.resolve(`${compiled()} compiles`), stop: close }
}

const serve = async (db: Standing): Promise<Serving> => {
  const { graphql, byReplicas, stop } = await serveStanding(db)
  return { graphql, told: async () => `${await byReplicas()} answers by replicas`, stop }
}

const topology = chosenTopology()

const runCompiled = (servers: readonly CompiledServer[], folder: ArtifactsFolder, storm: Storm) => [
  runCompiler(folder, storm, createRandom(seed + 12)),
  ...servers.flatMap((server, of) =>
    [0, 1].map((client) => askCompiled(server, folder, storm, createRandom(seed + 50 + of * 10 + client))),
  ),
]

describe.each(asked)('a storm of schema changes on PostgreSQL %i', (major) => {
  const tables = tableIds.map((id): Table => ({ id, commits: [{ asked: 0, done: 0, state: initial(id) }] }))
  let db: Standing
  const services: Serving[] = []
  /** Null: the services ask through a topology. */
  let folder: ArtifactsFolder | null = null
  let compiled: readonly CompiledServer[] = []
  beforeAll(async () => {
    const sql = `${tableIds.map((id) => create(initial(id))).join('')}
      create role storm_group; create materialized view kept as select 1 as one;`
    db = await openChosen({ major, sql })
    if (db.distributed) {
      await db.query('alter role anon login')
      for (const id of tableIds) await db.query(distribute(initial(id).name))
    }
    if (topology !== null) {
      // One by one: if a service does not start, the started ones are stopped.
      for (const _ of [1, 2]) services.push(await serve(db))
      return
    }
    services.push(follow(db), follow(db))
    folder = await openArtifacts(db.url, tables)
    await folder.compile()
    compiled = [serveCompiled(db.url, folder), handleCompiled(db.url, folder)]
  }, 120_000)
  afterAll(async () => {
    for (const service of [...services, ...compiled]) await service.stop()
    await folder?.remove()
    await db?.drop()
  })

  /** A server of the documents compiled after the storm answers as the others do. */
  async function pickUp(folder: ArtifactsFolder): Promise<void> {
    const before = folder.written.length
    await folder.compile()
    const newest = folder.written.slice(before).at(-1)
    for (const { asked } of newest?.documents.values() ?? []) {
      if (!asked.reads) continue
      const answer = await services[0]?.graphql(asked.query)
      await expect.poll(() => compiled[0]?.ask(asked.query, true), patient).toEqual({ answer, artifacts: newest?.id })
    }
  }

  test(
    `never gets an answer by another schema than that of the moment (STORM_SEED=${seed})`,
    { timeout: seconds * 1_000 + patience + 60_000 },
    async () => {
      const through = topology === null ? '' : ` through ${topology.name}`
      console.info(`storm: STORM_SEED=${seed}, ${seconds} s on PostgreSQL ${db.major}${through}`)
      const storm: Storm = {
        until: now() + seconds * 1_000,
        staleMs: db.staleMs,
        outages: new Set(db.upset === null ? [] : outages),
        // Several processes compile each change.
        paceMs: topology === null ? 50 : 250,
        tables,
        distributed: db.distributed,
        commits: { count: 0 },
        answers: { count: 0 },
        problems: [],
        outcomes: new Map(),
      }
      const calm = db.upset?.(createRandom(seed + 11))
      await Promise.all([
        ...tables.map((table) => runChanger(db.ownerUrl, table, storm, createRandom(seed + table.id))),
        runNoise(db.ownerUrl, storm, createRandom(seed + 10)),
        ...services.flatMap((service, of) =>
          [0, 1, 2].map((client) => runClient(service, storm, createRandom(seed + 20 + of * 10 + client))),
        ),
        ...(folder === null ? [] : runCompiled(compiled, folder, storm)),
      ])
      await calm?.()
      const told = await Promise.all(services.map((service) => service.told()))
      console.info(`storm: ${storm.commits.count} changes, ${told.join(', ')},`, storm.outcomes)
      expect(storm.problems.slice(0, 5)).toEqual([])
      for (const table of tables) {
        const state = last(table)
        const [a, b] = names(state)
        if (!state.exists || state.plain) continue
        const { rows } = await db.query(
          `select a, b from ${state.name} where (a, b) not in (('${a}', '${b}'), ('${either}', '${either}'))`,
        )
        expect(rows, 'written by a plan of another revision').toEqual([])
      }
      expect(storm.outcomes.get('ok') ?? 0).toBeGreaterThan(enough)
      if (folder !== null) await pickUp(folder)
    },
  )
})
