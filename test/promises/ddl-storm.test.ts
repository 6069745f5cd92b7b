import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { splitSql } from '../../compiler/tools/diff/split-sql.ts'
import { serveStanding } from '../support/asked.ts'
import { followDatabase } from '../support/followed.ts'
import { outages } from '../support/hosts/several.ts'
import { createRandom, type Random } from '../support/random.ts'
import type { Answer } from '../support/service.ts'
import type { Standing } from '../support/standing.ts'
import { chosenMajors, chosenTopology, openChosen } from '../support/topologies.ts'

/**
 * Promise: whatever is created, altered, renamed, dropped, granted, revoked and commented while requests run, each of them is
 * answered by one committed state of the schema, and by none older than when it was sent.
 *
 * Every table has two columns whose names in the API change places: what stands under the field x is always "x", so whoever
 * reads or writes by an older plan is found out by the value. Long form: STORM_MINUTES; STORM_SEED repeats all choices. With
 * TEST_TOPOLOGY built services ask through that topology; what replicas answer may be as old as the owner allows. On Citus the
 * rows are spread over the shards of its workers.
 */
const seed = Number(process.env['STORM_SEED'] ?? Date.now() % 1_000_000)
const seconds = Number(process.env['STORM_MINUTES'] ?? 0.12) * 60

/** What one committed state of a table is, as far as requests can tell. */
interface State {
  readonly exists: boolean
  readonly granted: boolean
  readonly swapped: boolean
  readonly name: string
  readonly extra: readonly number[]
}

/** A state holds from some moment between `asked` and `done` on. */
interface Commit {
  readonly asked: number
  readonly done: number
  readonly state: State
}

interface Table {
  readonly id: number
  commits: Commit[]
}

const initial = (id: number): State => ({ exists: true, granted: true, swapped: false, name: `t${id}`, extra: [] })

const create = ({ name }: State): string => `
  create table ${name} (id uuid primary key default gen_random_uuid(), a text, b text);
  insert into ${name} (a, b) values ('x', 'y'), ('x', 'y');
  comment on column ${name}.a is '@graphql({"name": "x"})'; comment on column ${name}.b is '@graphql({"name": "y"})';
  grant select, insert on ${name} to anon;`

interface Change {
  readonly sql: string
  readonly state: State
}

const names = ({ swapped }: State): readonly [string, string] => (swapped ? ['y', 'x'] : ['x', 'y'])

const changes: readonly ((state: State, id: number, random: Random) => Change | null)[] = [
  (state, id) => (state.exists ? null : { sql: create(initial(id)), state: initial(id) }),
  (state, _id, random) =>
    state.exists && random(3) === 0 ? { sql: `drop table ${state.name}`, state: { ...state, exists: false } } : null,
  (state) => {
    const next = { ...state, swapped: !state.swapped }
    const [a, b] = names(next)
    const sql = `comment on column ${state.name}.a is '@graphql({"name": "${a}"})';
      comment on column ${state.name}.b is '@graphql({"name": "${b}"})'; update ${state.name} set a = '${a}', b = '${b}'`
    return state.exists ? { sql: `lock table ${state.name}; ${sql}`, state: next } : null
  },
  (state, _id, random) => {
    const n = random(4)
    if (!state.exists || state.extra.includes(n)) return null
    return {
      sql: `alter table ${state.name} add column c_${n} int default ${n}`,
      state: { ...state, extra: [...state.extra, n] },
    }
  },
  (state) => {
    const [n, ...rest] = state.extra
    if (!state.exists || n === undefined) return null
    return { sql: `alter table ${state.name} drop column c_${n}`, state: { ...state, extra: rest } }
  },
  (state, _id, random) => {
    const [n, ...rest] = state.extra
    const m = random(4)
    if (!state.exists || n === undefined || state.extra.includes(m)) return null
    const sql = `alter table ${state.name} rename column c_${n} to c_${m}; update ${state.name} set c_${m} = ${m};
      alter table ${state.name} alter column c_${m} set default ${m}`
    return { sql, state: { ...state, extra: [...rest, m] } }
  },
  (state, id, random) => {
    const name = `t${id}${['', '_b', '_c'][random(3)] ?? ''}`
    if (!state.exists || name === state.name) return null
    return { sql: `alter table ${state.name} rename to ${name}`, state: { ...state, name } }
  },
  (state) =>
    !state.exists
      ? null
      : state.granted
        ? { sql: `revoke all on ${state.name} from anon`, state: { ...state, granted: false } }
        : { sql: `grant select, insert on ${state.name} to anon`, state: { ...state, granted: true } },
  (state, _id, random) =>
    state.exists ? { sql: `comment on table ${state.name} is 'text ${random(9)}'`, state } : null,
  (state) =>
    state.exists
      ? {
          sql: `alter table ${state.name} enable row level security; alter table ${state.name} disable row level security`,
          state,
        }
      : null,
]

const noises: readonly string[] = [
  'create table noise (id int primary key)',
  'drop table if exists noise',
  'create temp table if not exists passing (id int)',
  'drop table if exists pg_temp.passing',
  'refresh materialized view kept',
  'create type kind as enum ()',
  'drop type if exists kind',
  'grant storm_group to anon',
  'revoke storm_group from anon',
  'create schema if not exists other',
  'drop schema if exists other',
  'begin; create table undone (id int primary key); rollback',
  'create or replace function twice(a int) returns int language sql as $$ select 2 * a $$',
]

interface Storm {
  readonly until: number
  /** How old the answer to a read may be, in milliseconds. */
  readonly staleMs: number
  /** Codes of failures that say nothing about the schema. */
  readonly outages: ReadonlySet<string>
  /** The longest pause between changes of a table, in milliseconds. */
  readonly paceMs: number
  readonly tables: readonly Table[]
  /** Tables are spread over servers. */
  readonly distributed: boolean
  readonly commits: { count: number }
  readonly answers: { count: number }
  readonly problems: string[]
  readonly outcomes: Map<string, number>
}

/** Fewer answers than this show little. */
const enough = 20
/** What a starved machine gets on top to come that far, in milliseconds. */
const patience = 45_000

/** Answers between two changes of one changer: where a machine is starved, each request would meet a change otherwise. */
const answersBetween = 6

const now = (): number => performance.now()
const isOver = ({ until, outcomes }: Storm): boolean =>
  now() > until + patience || (now() > until && (outcomes.get('ok') ?? 0) > enough)
const last = ({ commits }: Table): State => commits.at(-1)?.state ?? initial(0)

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
  // Whoever looks meanwhile may see either state.
  const pending = { asked, done: Number.POSITIVE_INFINITY, state }
  table.commits = [...table.commits, pending]
  await client.query('commit')
  table.commits = table.commits.map((commit) => (commit === pending ? { ...pending, done: now() } : commit))
  return pending
}

async function rest(storm: Storm, ms: number): Promise<void> {
  const wanted = storm.answers.count + answersBetween
  await sleep(ms)
  while (storm.answers.count < wanted && !isOver(storm)) await sleep(10)
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

/** What a state makes of a question; null: the question is wrong under it. */
const answers = (state: State, name: string, fields: readonly string[]): boolean =>
  state.exists &&
  state.granted &&
  state.name === name &&
  fields.every((field) => !field.startsWith('c_') || state.extra.includes(Number(field.slice(2))))

interface Asked {
  readonly query: string
  readonly reads: boolean
  readonly name: string
  readonly fields: readonly string[]
  readonly rows: (data: Answer['data']) => readonly Readonly<Record<string, unknown>>[]
}

function ask(table: Table, random: Random): Asked {
  const state = last(table)
  const name = random(8) === 0 ? `t${table.id}_b` : state.name
  const extra = [0, 1, 2, 3].filter((n) => (state.extra.includes(n) ? random(2) === 0 : random(12) === 0))
  const fields = ['x', 'y', ...extra.map((n) => `c_${n}`)]
  const list = fields.join(' ')
  if (random(3) > 0) {
    const query = `{ rows: ${name}Collection(first: 20) { edges { node { ${list} } } } }`
    const rows: Asked['rows'] = (data) => data.rows.edges.map(({ node }: { node: object }) => node)
    return { query, reads: true, name, fields, rows }
  }
  const values = fields
    .map((field) => `${field}: ${field.startsWith('c_') ? field.slice(2) : JSON.stringify(field)}`)
    .join(', ')
  const query = `mutation { rows: insertInto${name}Collection(objects: [{ ${values} }]) { records { ${list} } } }`
  return { query, reads: false, name, fields, rows: (data) => data.rows.records }
}

const isRight = (row: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(row).every(([field, value]) => value === (field.startsWith('c_') ? Number(field.slice(2)) : field))

function judge(storm: Storm, table: Table, asked: Asked, sent: number, before: number, answer: Answer): string | null {
  const possibleSince = (moment: number): readonly Commit[] => {
    const past = table.commits.filter(({ done }) => done <= moment).length - 1
    return table.commits.slice(Math.max(past, 0)).filter(({ asked: from }) => from <= now())
  }
  const verdictsOf = (commits: readonly Commit[]): ReadonlySet<boolean> =>
    new Set(commits.map(({ state }) => answers(state, asked.name, asked.fields)))
  const possible = possibleSince(sent)
  const code = answer.errors?.[0]?.extensions.code ?? 'ok'
  storm.outcomes.set(code, (storm.outcomes.get(code) ?? 0) + 1)
  if (code === 'ok') {
    if (!verdictsOf(possibleSince(asked.reads ? sent - storm.staleMs : sent)).has(true))
      return 'answered by a schema that was gone'
    return asked.rows(answer.data).every(isRight) ? null : 'a value of another column'
  }
  if (storm.outages.has(code)) return null
  // What replicas refuse is asked at the primary first.
  if (code === 'GRAPHQL_VALIDATION_FAILED')
    return verdictsOf(possible).has(false) ? null : 'refused what the schema has'
  if (code === 'SCHEMA_CHANGED')
    return storm.commits.count > before || possible.length > 1 ? null : 'a change that nobody made'
  return 'an error that says nothing about the schema'
}

async function runClient(service: Serving, storm: Storm, random: Random): Promise<void> {
  while (!isOver(storm)) {
    const table = storm.tables[random(storm.tables.length)]
    if (table === undefined) return
    const asked = ask(table, random)
    const [sent, before] = [now(), storm.commits.count]
    const answer = await service.graphql(asked.query)
    storm.answers.count += 1
    const problem = judge(storm, table, asked, sent, before, answer)
    if (problem !== null) {
      storm.problems.push(
        `${problem}: ${asked.query} -> ${JSON.stringify(answer)}, ${JSON.stringify(table.commits.slice(-3))}`,
      )
    }
  }
}

/** One of the processes that serve the same database. */
interface Serving {
  readonly graphql: (query: string) => Promise<Answer>
  /** How it came by its answers. */
  readonly told: () => Promise<string>
  readonly stop: () => Promise<unknown>
}

const follow = (db: Standing): Serving => {
  const { graphql, reads, close } = followDatabase(db.url)
  return { graphql, told: () => Promise.resolve(`${reads()} reads of the catalogue`), stop: close }
}

const serve = async (db: Standing): Promise<Serving> => {
  const { graphql, byReplicas, stop } = await serveStanding(db)
  return { graphql, told: async () => `${await byReplicas()} answers by replicas`, stop }
}

const topology = chosenTopology()

describe.each(chosenMajors())('a storm of schema changes on PostgreSQL %i', (major) => {
  let db: Standing
  let services: readonly Serving[]
  beforeAll(async () => {
    const sql = `${[0, 1, 2].map((id) => create(initial(id))).join('')}
      create role storm_group; create materialized view kept as select 1 as one;`
    db = await openChosen({ major, sql })
    if (db.distributed) {
      await db.query('alter role anon login')
      for (const id of [0, 1, 2]) await db.query(distribute(initial(id).name))
    }
    services = topology === null ? [follow(db), follow(db)] : await Promise.all([serve(db), serve(db)])
  }, 120_000)
  afterAll(async () => {
    for (const service of services ?? []) await service.stop()
    await db?.drop()
  })

  const title = `never answers by another schema than that of the moment (STORM_SEED=${seed})`
  test(title, { timeout: seconds * 1_000 + patience + 60_000 }, async () => {
    const through = topology === null ? '' : ` through ${topology.name}`
    console.info(`storm: STORM_SEED=${seed}, ${seconds} s on PostgreSQL ${db.major}${through}`)
    const tables = [0, 1, 2].map((id): Table => ({ id, commits: [{ asked: 0, done: 0, state: initial(id) }] }))
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
      ...tables.map((table) => runChanger(db.adminUrl, table, storm, createRandom(seed + table.id))),
      runNoise(db.adminUrl, storm, createRandom(seed + 10)),
      ...services.flatMap((service, of) =>
        [0, 1, 2].map((client) => runClient(service, storm, createRandom(seed + 20 + of * 10 + client))),
      ),
    ])
    await calm?.()
    const told = await Promise.all(services.map((service) => service.told()))
    console.info(`storm: ${storm.commits.count} changes, ${told.join(', ')},`, storm.outcomes)
    expect(storm.problems.slice(0, 5)).toEqual([])
    for (const table of tables) {
      const state = last(table)
      const [a, b] = names(state)
      if (!state.exists) continue
      const { rows } = await db.query(`select a, b from ${state.name} where a <> '${a}' or b <> '${b}'`)
      expect(rows, 'written by a plan of another revision').toEqual([])
    }
    expect(storm.outcomes.get('ok') ?? 0).toBeGreaterThan(enough)
  })
})
