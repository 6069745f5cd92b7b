import type { Draw } from '../../questions/draw.ts'
import { typeNameOf } from '../../interpreter/names.ts'
import type { ColumnSketch, FunctionSketch, Grants, TableSketch, World } from '../../interpreter/world.ts'
import { ident } from '../../../../runtime/sql/ident.ts'
import { roles } from '../worlds/roles.ts'
import { columnSql, commentSql, grantSql, policySql, schemaCommentSql, tableAloneSql, viewSql } from '../ddl.ts'
import { drawPolicies, followed, members, whole } from './worlds.ts'

/** Changes by the owner while watchers listen. */

export interface Change {
  readonly world: World
  readonly sql: string
  /** Its reversal. */
  readonly back: Change | null
}

/** Null: the table has no such change. */
export type DrawChange = (draw: Draw, world: World, table: TableSketch) => Change | null

const none: Grants = { select: [], insert: [], update: [], delete: false }

const withTable = (world: World, table: TableSketch, next: TableSketch): World =>
  followed({ ...world, tables: world.tables.map((one) => (one === table ? next : one)) })

/** Resets grants, policies and settings to a table's sketch. */
const undoSql = (table: TableSketch): readonly string[] => {
  const name = ident(table.name)
  const revoked = roles.map((role) => `revoke all on ${name} from ${role};`)
  if (table.view !== undefined) return [...revoked, `comment on view ${name} is null;`]
  const dropped = (table.policies ?? []).map((_, index) => `drop policy p${index} on ${name};`)
  return [
    ...dropped,
    `alter table ${name} disable row level security;`,
    ...revoked,
    `comment on table ${name} is null;`,
  ]
}

function settingsChange(world: World, table: TableSketch, next: TableSketch): Change {
  const changed = withTable(world, table, next)
  const sql = [...undoSql(table), ...commentSql(changed, next), ...grantSql(next), ...policySql(next)]
  return { world: changed, sql: sql.join('\n'), back: null }
}

const changesPolicies: DrawChange = (draw, world, table) =>
  table.view !== undefined || table.name === members.name
    ? null
    : settingsChange(world, table, { ...table, policies: drawPolicies(draw, world, table) })

/** Tables that are read elsewhere with the caller's privileges keep their grants. */
const isReadByOthers = ({ tables }: World, { name }: TableSketch): boolean =>
  name === members.name || tables.some(({ view }) => view?.of === name && view.invoker)

const changesGrants: DrawChange = (draw, world, table) => {
  if (isReadByOthers(world, table)) return null
  const all: Grants = table.view === undefined ? whole : { ...none, select: 'all' }
  const grants = draw.pick([all, all, none])
  return settingsChange(world, table, { ...table, grants: { ...table.grants, [draw.pick(roles)]: grants } })
}

const changesTotal: DrawChange = (_draw, world, table) =>
  settingsChange(world, table, { ...table, totalCount: !table.totalCount })

const changesPages: DrawChange = (draw, world, table) =>
  settingsChange(world, table, { ...table, maxRows: draw.pick([null, 1, 3]) })

const changesLive: DrawChange = (draw, world, table) => {
  const { live, ...rest } = table
  if (live !== undefined) return settingsChange(world, table, rest)
  return table.name === members.name && draw.chance(80) ? null : settingsChange(world, table, { ...table, live: false })
}

/** Changes the rows of the view. */
const changesView: DrawChange = (draw, world, table) => {
  const { view } = table
  if (view === undefined) return null
  const flags = table.columns.filter(({ type }) => type.base === 'bool' && !type.list && type.domain === undefined)
  const flag = view.flag === null && flags.length > 0 ? draw.pick(flags).name : null
  const next = { ...view, flag }
  return { world: withTable(world, table, { ...table, view: next }), sql: viewSql(table, next), back: null }
}

/** Changes the schema's limits. */
const changesSchema: DrawChange = (draw, world) => {
  const next: World = draw.chance(50)
    ? { ...world, limits: { fields: draw.pick([null, 6, 12]), rows: draw.pick([null, 20, 200]) } }
    : { ...world, ...(world.allowlist && { allowlist: { ...world.allowlist, roles: draw.pick([['anon'], roles]) } }) }
  const sqlOf = (one: World): string => schemaCommentSql(one).join('\n')
  return { world: next, sql: sqlOf(next), back: { world, sql: sqlOf(world), back: null } }
}

const tablesOf = ({
  body,
}: FunctionSketch): readonly (readonly [table: string, columns: readonly (string | null)[]])[] => {
  switch (body.kind) {
    case 'sum':
    case 'echo':
    case 'void':
      return []
    case 'rows':
      return [[body.table, [body.flag]]]
    case 'row':
    case 'computed':
    case 'computedSum':
      return [[body.table, [body.column]]]
    case 'computedCount':
      return [
        [body.table, [body.column]],
        [body.counted, [body.countedColumn]],
      ]
    case 'computedRow':
    case 'computedRows':
      return [
        [body.table, [body.column]],
        [body.target, [body.targetColumn]],
      ]
  }
}

const isNamedByFunctions = ({ functions }: World, { name }: TableSketch): boolean =>
  functions.some((fn) => tablesOf(fn).some(([table]) => table === name))

const conditionsOf = ({ tables }: World) =>
  tables.flatMap((table) => (table.policies ?? []).map(({ condition }) => ({ table: table.name, condition })))

/** Policies use it by a function, which has its name in a text. */
const isNamedByPolicies = (world: World, { name }: TableSketch): boolean =>
  conditionsOf(world).some(({ condition }) => condition.kind === 'exists' && condition.table === name)

const isReferred = ({ tables }: World, { name }: TableSketch): boolean =>
  tables.some(
    (table) =>
      table.view?.of === name || (table.name !== name && table.foreignKeys.some(({ target }) => target === name)),
  )

/** Texts with its name would not follow, and its partitions are named after it. */
const renames: DrawChange = (draw, world, table) => {
  if (table.partitioned !== undefined || table.name === members.name) return null
  if (isNamedByFunctions(world, table) || isNamedByPolicies(world, table)) return null
  const name = `moved_${draw.int(3)}`
  if (world.tables.some((one) => one.name === name)) return null
  const typeName = typeNameOf(table.name, table.typeName, world.inflects)
  const kind = table.view === undefined ? 'table' : 'view'
  const next = { ...table, name, ...(draw.chance(60) && { typeName }) }
  const changed = withTable(world, table, next)
  const moved = {
    ...changed,
    tables: changed.tables.map((one) => ({
      ...one,
      ...(one.view?.of === table.name && { view: { ...one.view, of: name } }),
      foreignKeys: one.foreignKeys.map((key) => (key.target === table.name ? { ...key, target: name } : key)),
    })),
  }
  const sqlOf = (from: TableSketch, to: TableSketch): string =>
    [
      `comment on ${kind} ${ident(from.name)} is null;`,
      `alter ${kind} ${ident(from.name)} rename to ${ident(to.name)};`,
      ...commentSql(world, to),
    ].join('\n')
  return { world: moved, sql: sqlOf(table, next), back: { world, sql: sqlOf(next, table), back: null } }
}

const isNamed = (world: World, table: TableSketch, column: ColumnSketch): boolean => {
  const { name } = column
  const own = [
    ...table.primaryKey,
    ...table.uniques.flatMap(({ columns, where }) => [...columns, where]),
    ...table.foreignKeys.flatMap(({ columns }) => columns),
    table.softDelete,
  ]
  const byConditions = conditionsOf(world).some(
    ({ table: of, condition }) =>
      (of === table.name && condition.kind !== 'always' && condition.column === name) ||
      (condition.kind === 'exists' && condition.table === table.name && condition.foreign === name),
  )
  const byFunctions = world.functions.some((fn) =>
    tablesOf(fn).some(([of, columns]) => of === table.name && columns.includes(name)),
  )
  return own.includes(name) || byConditions || byFunctions
}

const dropsColumn: DrawChange = (draw, world, table) => {
  const { access, defaultOrder, defaultFilter } = table
  const isPlainly = access === undefined && defaultOrder === undefined && defaultFilter === undefined
  const columns = table.columns.filter((column) => !isNamed(world, table, column))
  if (!isPlainly || table.view !== undefined || isReferred(world, table) || columns.length === 0) return null
  const column = draw.pick(columns)
  const place = table.columns.indexOf(column)
  const less = {
    ...table,
    columns: table.columns.filter((one) => one !== column),
    rows: table.rows.map((row) => row.filter((_, index) => index !== place)),
    grants: withoutColumn(table.grants, column.name),
  }
  const nullable: ColumnSketch = { ...column, notNull: false }
  const again = {
    ...less,
    columns: [...less.columns, nullable],
    rows: less.rows.map((row) => [...row, null]),
  }
  const alter = `alter table ${ident(table.name)}`
  const added = withTable(world, table, again)
  return {
    world: withTable(world, table, less),
    sql: `${alter} drop column ${ident(column.name)};`,
    back: {
      world: added,
      sql: [`${alter} add column ${columnSql(world, nullable)};`, ...commentSql(added, again)].join('\n'),
      back: null,
    },
  }
}

/** Grants on single columns go with them. */
function withoutColumn(grants: TableSketch['grants'], name: string): TableSketch['grants'] {
  const left = (given: Grants['select']): Grants['select'] =>
    given === 'all' ? given : given.filter((column) => column !== name)
  return Object.fromEntries(
    Object.entries(grants).map(([role, { select, insert, update, ...rest }]) => [
      role,
      { ...rest, select: left(select), insert: left(insert), update: left(update) },
    ]),
  )
}

/** Dropped and created again without its rows, in one transaction. */
const makesAgain: DrawChange = (_draw, world, table) => {
  if (table.view !== undefined || table.name === members.name) return null
  if (isReferred(world, table) || isNamedByFunctions(world, table)) return null
  const sql = [`drop table ${ident(table.name)};`, ...tableAloneSql(world, table)]
  return { world: { ...world }, sql: sql.join('\n'), back: null }
}

/** They do not change the meaning of a compiled document, only whether it is answered and its reads. */
export const changesOfRights: readonly DrawChange[] = [changesPolicies, changesPolicies, changesGrants, changesView]

export const allChanges: readonly DrawChange[] = [
  changesPolicies,
  changesPolicies,
  changesGrants,
  changesTotal,
  changesPages,
  changesLive,
  changesView,
  changesSchema,
  renames,
  dropsColumn,
  makesAgain,
]

/** Null: the drawn object cannot be changed. */
export const drawChange = (draw: Draw, world: World, changes: readonly DrawChange[]): Change | null =>
  draw.pick(changes)(draw, world, draw.pick(world.tables))
