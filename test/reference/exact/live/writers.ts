import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Draw } from '../../questions/draw.ts'
import { drawFrom } from '../../questions/draw.ts'
import { drawValue } from '../../questions/values.ts'
import type { TableSketch, Value, World } from '../../interpreter/world.ts'
import { ident } from '../../../../runtime/sql/ident.ts'
import { literal } from '../../../../runtime/sql/tree.ts'
import type { Random } from '../../../support/random.ts'
import { insertSql, partitionNames, rowsSql, valueSql } from '../ddl.ts'
import { connectWriter, type History } from './history.ts'
import { accounts, members } from './worlds.ts'

/** Programs that write without the service, in overlapping transactions. */

/** The choices of one action. */
export const drawBy = (random: Random, length = 120): Draw => drawFrom(Array.from({ length }, () => random(10_000)))

/** Any existing row. */
const someRow = (draw: Draw, table: TableSketch): string =>
  `ctid = (select ctid from ${ident(table.name)} order by ctid offset ${draw.int(table.rows.length + 2)} limit 1)`

function drawRow(draw: Draw, world: World, table: TableSketch): readonly Value[] {
  const like = table.rows.length === 0 ? [] : draw.pick(table.rows)
  return table.columns.map((column, index): Value => {
    if (draw.chance(60) && like[index] !== undefined) return like[index] ?? null
    const isKey = table.primaryKey.includes(column.name)
    if (isKey && column.type.base === 'int4' && !column.type.list) return 100 + draw.int(900)
    return !column.notNull && draw.chance(20) ? null : drawValue(draw, world, column.type)
  })
}

function setSql(draw: Draw, world: World, table: TableSketch): string {
  const column = draw.pick(table.columns)
  const value = draw.chance(25) && !column.notNull ? null : drawValue(draw, world, column.type)
  return `update ${ident(table.name)} set ${ident(column.name)} = ${valueSql(world, column.type, value)}`
}

/** By COPY, from a file on the tests' server. */
const copySql = (world: World, table: TableSketch, row: readonly Value[]): string =>
  `do $do$ declare place text := current_setting('data_directory') || '/copied-' || pg_backend_pid(); begin
    execute format('copy (select * from (values ' || ${literal(rowsSql(world, table, [row]))} || ') v) to %L', place);
    execute format('copy ${ident(table.name).replaceAll("'", "''")} from %L', place);
  end $do$`

const storedTables = ({ tables }: World): readonly TableSketch[] => tables.filter(({ view }) => view === undefined)

const placesOf = (table: TableSketch): readonly string[] =>
  table.partitioned === undefined ? [ident(table.name)] : partitionNames(table)

const statements: readonly ((draw: Draw, world: World, table: TableSketch) => string)[] = [
  (draw, world, table) => `${setSql(draw, world, table)} where ${someRow(draw, table)}`,
  (draw, world, table) => `${setSql(draw, world, table)} where ${someRow(draw, table)}`,
  (draw, world, table) => `${insertSql(world, table, [drawRow(draw, world, table)])} on conflict do nothing`,
  (draw, world, table) => {
    const rows = [drawRow(draw, world, table), drawRow(draw, world, table), drawRow(draw, world, table)]
    return `${insertSql(world, table, rows)} on conflict do nothing`
  },
  (draw, world, table) => copySql(world, table, drawRow(draw, world, table)),
  // Beside its parent, which is another table in Postgres.
  (draw, _world, table) => `delete from ${draw.pick(placesOf(table))} where ctid = '(0,${1 + draw.int(4)})'`,
  (draw, _world, table) => `delete from ${ident(table.name)} where ${someRow(draw, table)}`,
  (draw, world, table) => `${setSql(draw, world, table)}${draw.chance(30) ? '' : ' where false'}`,
  (draw, world, table) =>
    draw.chance(20)
      ? `truncate ${ident(table.name)} cascade`
      : `${insertSql(world, table, table.rows.length === 0 ? [drawRow(draw, world, table)] : table.rows)} on conflict do nothing`,
]

/** Changes the members that policies look up. */
const membershipSql = (draw: Draw): string => {
  const account = literal(draw.pick(accounts))
  return draw.chance(50)
    ? `insert into ${ident(members.name)} values (${account}) on conflict do nothing`
    : `delete from ${ident(members.name)} where account = ${account}`
}

const isolations = ['read committed', 'read committed', 'repeatable read', 'serializable']

/** One transaction, which is rolled back if Postgres refuses it. */
async function writeOnce(client: pg.Client, history: History, random: Random): Promise<void> {
  const draw = drawBy(random, 600)
  const { world } = history.last()
  await client.query(`begin isolation level ${draw.pick(isolations)}`)
  const done: string[] = []
  for (let left = 1 + draw.int(3); left > 0; left -= 1) {
    const sql = draw.chance(20)
      ? membershipSql(draw)
      : draw.pick(statements)(draw, world, draw.pick(storedTables(world)))
    await client.query('savepoint one')
    const isUndone = await client.query(sql).then(
      () => draw.chance(10),
      () => true,
    )
    if (isUndone) await client.query('rollback to savepoint one')
    else done.push(sql)
    if (draw.chance(30)) await pause(draw.int(40))
  }
  if (draw.chance(15)) return void (await client.query('rollback'))
  await history.commit(client, done.join('; '), async () => {
    await client.query('commit')
    return {}
  })
}

/** Two consecutive transactions: the second one commits during a run for the first, or just after it. */
export async function writePair(url: string, history: History, random: Random): Promise<void> {
  const client = await connectWriter(url)
  try {
    for (const ms of [random(120), 0]) {
      const draw = drawBy(random)
      const { world } = history.last()
      const sql = draw.chance(40) ? membershipSql(draw) : setSql(draw, world, draw.pick(storedTables(world)))
      await history.commit(client, sql, async () => {
        await client.query(sql)
        return {}
      })
      await pause(ms)
    }
  } finally {
    await client.end()
  }
}

/** Writes until it is stopped. */
export async function write(url: string, history: History, random: Random, isOver: () => boolean): Promise<void> {
  const client = await connectWriter(url)
  try {
    while (!isOver()) {
      await writeOnce(client, history, random).catch(async (error: unknown) => {
        if (!(error instanceof pg.DatabaseError)) throw error
        await client.query('rollback')
      })
      if (random(2) === 0) await pause(random(60))
    }
  } finally {
    await client.end()
  }
}
