import type { Draw } from '../../questions/draw.ts'
import {
  grantsOf,
  keyOf,
  type ColumnSketch,
  type ExistsCondition,
  type FunctionSketch,
  type Grants,
  type PolicySketch,
  type TableSketch,
  type World,
} from '../../interpreter/world.ts'
import { roles } from '../worlds/roles.ts'

/** Worlds in which rows of other tables decide the visible rows: policies, views and functions that read them. */

export const whole: Grants = { select: 'all', insert: 'all', update: 'all', delete: true }

/** Accounts in policies: their owner grants all privileges on it to all roles, and never revokes one. */
export const members: TableSketch = {
  name: 'member_of',
  typeName: null,
  totalCount: false,
  aggregate: false,
  maxRows: null,
  columns: [
    {
      name: 'account',
      type: { base: 'text', list: false, enum: null },
      notNull: true,
      fallback: { kind: 'none' },
      field: null,
    },
  ],
  primaryKey: ['account'],
  uniques: [],
  foreignKeys: [],
  policies: null,
  grants: Object.fromEntries(roles.map((role) => [role, whole])),
  rows: [['a'], ['A']],
}

/** The possible values of the claim \`sub\`. */
export const accounts = ['a', 'b', 'A', ''] as const

const isMembers = ({ name }: Pick<TableSketch, 'name'>): boolean => name === members.name

/** Whether equal values of a column are equal texts. */
const isPlain = ({ type }: ColumnSketch): boolean =>
  !type.list && type.domain === undefined && ['int4', 'int8', 'text', 'uuid'].includes(type.base)

const plainColumns = ({ columns }: TableSketch): readonly ColumnSketch[] => columns.filter(isPlain)

const flagsOf = ({ columns }: TableSketch): readonly string[] =>
  columns.flatMap(({ name, type }) => (type.base === 'bool' && !type.list && type.domain === undefined ? [name] : []))

interface Match {
  readonly table: string
  readonly foreign: string
  readonly column: string
}

/** Columns of other tables that may match a column of this one. */
const matchesOf = ({ tables }: World, table: TableSketch): readonly Match[] =>
  plainColumns(table).flatMap(({ name: column, type }) =>
    tables
      .filter((other) => other.view === undefined && other.name !== table.name)
      .flatMap((other) =>
        plainColumns(other)
          .filter((one) => one.type.base === type.base)
          .map(({ name: foreign }) => ({ table: other.name, foreign, column })),
      ),
  )

/** By a query of the policy itself only if no privilege can be missing. */
function drawExists(draw: Draw, world: World, table: TableSketch): ExistsCondition {
  const matches = matchesOf(world, table)
  const by = draw.pick(['query', 'sql', 'plpgsql'] as const)
  if (matches.length === 0 || draw.chance(50))
    return { kind: 'exists', table: members.name, foreign: 'account', column: null, by }
  const match = draw.pick(matches)
  return { kind: 'exists', ...match, by: by === 'query' && match.table !== members.name ? 'sql' : by }
}

/** Null: row-level security is off. */
export function drawPolicies(draw: Draw, world: World, table: TableSketch): readonly PolicySketch[] | null {
  const owners = table.columns.filter(({ type }) => type.base === 'text' && !type.list)
  const conditions: readonly PolicySketch['condition'][] = [
    { kind: 'always' },
    drawExists(draw, world, table),
    drawExists(draw, world, table),
    ...flagsOf(table).map((column) => ({ kind: 'flag', column }) as const),
    ...owners.map(({ name }) => ({ kind: 'owner', column: name }) as const),
  ]
  if (draw.chance(30)) return null
  return draw.some(conditions).map((condition) => ({ command: draw.pick(['all', 'select'] as const), condition }))
}

/** Views whose tables are readable as a whole for all roles. */
function withViews(draw: Draw, world: World): World {
  const bases = world.tables.filter(
    (table) => !isMembers(table) && roles.every((role) => grantsOf(table, role).select === 'all'),
  )
  const chosen = draw.some(bases, 60).slice(0, 2)
  const views = chosen.map((base, index): TableSketch => {
    const columns = base.columns.map((column): ColumnSketch => ({
      ...column,
      notNull: false,
      fallback: { kind: 'none' },
    }))
    const grants: Grants = { select: 'all', insert: [], update: [], delete: false }
    return {
      ...members,
      name: `seen_${index}`,
      view: { of: base.name, flag: draw.pick([null, ...flagsOf(base)]), invoker: draw.chance(50) },
      totalCount: draw.chance(50),
      aggregate: draw.chance(50),
      columns,
      // A key that a comment declares has the comment's order, that of a table the order of its columns.
      primaryKey: keyOf(base).map(({ name }) => name),
      grants: Object.fromEntries(roles.map((role) => [role, grants])),
      rows: base.rows,
    }
  })
  return followed({ ...world, tables: [...world.tables, ...views] })
}

/** Views with the caller's privileges have the policies of their tables. */
export const followed = (world: World): World => ({
  ...world,
  tables: world.tables.map((table) => {
    const { view } = table
    if (view === undefined) return table
    const base = world.tables.find(({ name }) => name === view.of)
    return { ...table, policies: view.invoker ? (base?.policies ?? null) : null }
  }),
})

/** Fields that count rows of other tables. */
function withCounts(draw: Draw, world: World): World {
  const counts = world.tables.flatMap((table, index): readonly FunctionSketch[] => {
    const matches = matchesOf(world, table)
    if (table.view !== undefined || isMembers(table) || matches.length === 0 || !draw.chance(60)) return []
    const { table: counted, foreign: countedColumn, column } = draw.pick(matches)
    const body = { kind: 'computedCount', table: table.name, column, counted, countedColumn } as const
    return [{ name: `how_many_${index}`, field: null, volatile: false, execute: null, body }]
  })
  return { ...world, functions: [...world.functions, ...counts] }
}

/** Adds all that to a world. */
export function widened(draw: Draw, drawn: World): World {
  const world = { ...drawn, tables: [...drawn.tables, members] }
  const guarded = world.tables.map((table): TableSketch => {
    if (isMembers(table) || !draw.chance(40)) return table
    const condition = drawExists(draw, world, table)
    return { ...table, policies: [...(table.policies ?? []), { command: 'all', condition }] }
  })
  return withViews(draw, withCounts(draw, { ...world, tables: guarded }))
}
