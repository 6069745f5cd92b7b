import { setTimeout as pause } from 'node:timers/promises'
import type { Draw } from '../../../../compiler/tools/verify/questions/draw.ts'
import type { Grants, PolicySketch, TableSketch, World } from '../../../../compiler/tools/verify/interpreter/world.ts'
import { ident } from '../../../../runtime/sql/ident.ts'
import { roles } from '../../arbitraries/roles.ts'
import type { Random } from '../../random.ts'
import { commentSql, grantSql, policySql } from '../ddl.ts'
import { connectWriter, type History, type Verdicts } from './history.ts'
import { drawBy } from './writers.ts'

/** The owner, who changes grants, policies and settings while people watch. */

const whole: Grants = { select: 'all', insert: 'all', update: 'all', delete: true }
const none: Grants = { select: [], insert: [], update: [], delete: false }

function drawPolicies(draw: Draw, { columns }: TableSketch): readonly PolicySketch[] | null {
  const flags = columns.filter(({ type }) => type.base === 'bool' && !type.list)
  const owners = columns.filter(({ type }) => type.base === 'text' && !type.list)
  const conditions: readonly PolicySketch['condition'][] = [
    { kind: 'always' },
    ...flags.map(({ name }) => ({ kind: 'flag', column: name }) as const),
    ...owners.map(({ name }) => ({ kind: 'owner', column: name }) as const),
  ]
  if (draw.chance(30)) return null
  return draw.some(conditions).map((condition) => ({ command: draw.pick(['all', 'select'] as const), condition }))
}

const changes: readonly ((draw: Draw, table: TableSketch) => TableSketch)[] = [
  (draw, table) => ({ ...table, policies: drawPolicies(draw, table) }),
  (draw, table) => {
    const grants = draw.pick([whole, whole, none])
    return { ...table, grants: { ...table.grants, [draw.pick(roles)]: grants } }
  },
  (_draw, table) => ({ ...table, totalCount: !table.totalCount }),
  (draw, table) => ({ ...table, maxRows: draw.pick([null, 1, 3]) }),
  (_draw, { live, ...table }) => (live === undefined ? { ...table, live: false } : table),
]

/** Takes back what a table's sketch says of grants, policies and settings. */
const undoSql = (table: TableSketch): readonly string[] => [
  ...(table.policies ?? []).map((_, index) => `drop policy p${index} on ${ident(table.name)};`),
  `alter table ${ident(table.name)} disable row level security;`,
  ...roles.map((role) => `revoke all on ${ident(table.name)} from ${role};`),
  `comment on table ${ident(table.name)} is null;`,
]

function drawChange(draw: Draw, world: World): { readonly world: World; readonly sql: string } {
  const table = draw.pick(world.tables)
  const next = draw.pick(changes)(draw, table)
  const changed = { ...world, tables: world.tables.map((one) => (one === table ? next : one)) }
  const sql = [...undoSql(table), ...commentSql(changed, next), ...grantSql(next), ...policySql(next)]
  return { world: changed, sql: sql.join('\n') }
}

/** They change nothing that anybody can ask for. */
const noises: readonly ((table: string) => string)[] = [
  () => 'create table if not exists noise (id int primary key)',
  () => 'drop table if exists noise',
  (table) => `alter table ${table} add column if not exists noise int`,
  (table) => `alter table ${table} drop column if exists noise`,
  (table) => `alter table ${table} set (fillfactor = 90)`,
  (table) => `analyze ${table}`,
  (table) => `vacuum full ${table}`,
  () => 'begin; create table undone (id int primary key); rollback',
]

export interface Storm {
  readonly url: string
  readonly history: History
  /** What documents are now, read while nobody changes anything. */
  readonly judge: () => Promise<Verdicts>
  readonly random: Random
  readonly isOver: () => boolean
  /** Milliseconds between two changes. */
  readonly pauseMs: number
}

export async function rage({ url, history, judge, random, isOver, pauseMs }: Storm): Promise<void> {
  const client = await connectWriter(url)
  try {
    while (!isOver()) {
      await pause(random(2 * pauseMs))
      const draw = drawBy(random)
      if (draw.chance(40)) {
        const table = ident(draw.pick(history.last().world.tables).name)
        await client.query(draw.pick(noises)(table)).catch(() => undefined)
        continue
      }
      const { world, sql } = drawChange(draw, history.last().world)
      await history.commit(client, sql, async () => {
        await client.query(`begin; ${sql} commit`)
        return { world, verdicts: await judge() }
      })
    }
  } finally {
    await client.end()
  }
}
