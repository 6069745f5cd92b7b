import type { ColumnBuilder } from '../../../runtime/contract/builder.ts'
import type { EntityFacts } from '../../../runtime/contract/manifest.ts'
import { asItems, type MakeObject } from '../../../runtime/sql/json.ts'
import { applied, literal, select, sql, trusted, type Pair, type Sql } from '../../../runtime/sql/tree.ts'
import { refuse } from '../../../runtime/graphql/protocol/failures.ts'
import type { Collection, ConnectionMember, OrderKey } from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { Value } from '../../../runtime/graphql/plan/values.ts'
import { cursorText, longestCount, type Ordered } from '../../../runtime/graphql/statements/cursor.ts'
import { compileFilter } from '../../../runtime/graphql/statements/filter.ts'
import type { Matching } from '../../../runtime/graphql/statements/matching.ts'
import { afterCursor, orderBy } from '../../../runtime/graphql/statements/order.ts'
import { rowsOnPage, valueParameter } from '../../../runtime/graphql/statements/parameters.ts'
import { columnOf, given, seenOutside, type Scope, type Writer } from '../../../runtime/graphql/statements/source.ts'
import { aggregateOf } from '../../../runtime/graphql/statements/totals.ts'
import type { RecurringTime } from './facts.ts'
import type { GroupKey, GroupMember, Groups, GroupValue } from './plan.ts'

export const connectionValue = (
  writer: Writer,
  matching: Matching,
  member: ConnectionMember,
  part: Collection,
): Sql | null => (member.kind === 'groups' ? groupsArray(writer, matching, member.groups, part) : null)

/**
 * The groups of a collection's rows as an array (spec/graphql.md 17.2). They are made, filtered, sorted and limited in
 * one select, so that an index in the order of the keys serves the first of them without the rest.
 */
function groupsArray(writer: Writer, matching: Matching, groups: Groups, part: Collection): Sql {
  const { values, having, order, page, members, checked = [] } = groups
  if (values.length > maxValues)
    throw refuse('DOCUMENT_TOO_LARGE', `More than ${maxValues} values are asked of each group.`)
  const keys = values.filter((value) => value.kind === 'key')
  const { scope, from, where } = matching.read(
    writer.alias('t'),
    null,
    keys.map(({ of }) => of),
  )
  const found = new Map(values.map((value) => [value.id, describe(writer, scope, value)]))
  const inner = groupScope(scope, found)
  const condition = having === null ? null : compileFilter(having, writer, part)
  const after = page.cursor === null ? null : afterCursor(order, page.cursor)
  const alias = writer.alias('g')
  const { scope: outside, outlet } = seenOutside(inner, alias)
  const rows = select([{ value: outlet }], {
    from,
    where: [...where, ...checked.map((value) => sql`${valueParameter(value)}::text is not null`)],
    groupBy: keys.map(({ id }) => inner.column(id)),
    having: given([condition, after]).map((one) => one(inner)),
    orderBy: orderBy(order, inner),
    limit: rowsOnPage(page),
    ...(page.offset !== null && { offset: sql`${valueParameter(page.offset)}::int8` }),
  })
  const makeObject = asItems(() => writer.alias('o'))
  const pairs = members.map((member): Pair => [member.key, memberOf(groups, outside, makeObject, member)])
  return sql`array${select([{ value: makeObject(pairs) }], { from: [{ of: rows, alias }] })}`
}

/** A select list holds 1,664 columns at most. */
const maxValues = 1_000

/** A value of a group: its expression and type. */
interface Described {
  readonly element: Ordered
  /** As a column: for its operands. */
  readonly builder: ColumnBuilder
}

function describe(writer: Writer, scope: Scope, value: GroupValue): Described {
  if (value.kind === 'count') return counted(sql`count(*)`)
  if (value.kind === 'key') return describeKey(writer, scope, value)
  if (value.kind === 'values') return describeListed(scope, value)
  if (value.kind === 'figure') return describeFigure(scope, value)
  const at = sql`${valueParameter(value.at)}::float8`
  return number(sql`percentile_cont(${at}) within group (order by ${scope.column(value.column)}::float8)`, '::float8')
}

/** The limit is that of a page. An array index has four bytes. */
function describeListed(scope: Scope, { column, atMost }: Extract<GroupValue, { kind: 'values' }>): Described {
  const { notNull, ...element } = scope.ordered(column)
  const value = scope.column(column)
  const present = notNull ? sql`` : sql` filter (where ${value} is not null)`
  const most = sql`least(${valueParameter(atMost)}::int8, ${trusted(String(scope.entity.maxRows))})::int4`
  return {
    element: {
      ...element,
      notNull: false,
      value: sql`(array_agg(distinct ${value} order by ${value})${present})[1:${most}]`,
    },
    builder: columnOf(scope.builder, column),
  }
}

function describeFigure(scope: Scope, { function: name, column }: Extract<GroupValue, { kind: 'figure' }>): Described {
  const value = scope.column(column)
  const ofColumn = (of: Sql, notNull: boolean): Described => ({
    element: { ...scope.ordered(column), value: of, notNull },
    builder: columnOf(scope.builder, column),
  })
  if (name === 'countDistinct') return counted(sql`count(distinct ${value})`)
  if (name === 'every') return ofColumn(sql`bool_and(${value})`, false)
  if (name === 'some') return ofColumn(sql`bool_or(${value})`, false)
  const of = aggregateOf(name, value)
  if (name === 'min' || name === 'max') return ofColumn(of, scope.ordered(column).notNull)
  const type = scope.entity.columns.find((one) => one.column === column)?.type
  // Sums of floats and of money have their own types, all others are exact numbers.
  const isOwn = name === 'sum' && type?.kind === 'scalar' && (type.name === 'Float' || type.name === 'Opaque')
  return isOwn ? ofColumn(of, false) : number(of, '::numeric')
}

/** A count of groups, never null. */
const counted = (value: Sql): Described => {
  const { element, builder } = number(value, '::int8')
  return { element: { ...element, notNull: true }, builder: { ...builder, notNull: true } }
}

/** A number that is null without any value. */
const number = (value: Sql, cast: string): Described => ({
  element: {
    value,
    notNull: false,
    isArray: false,
    operand: (operand) => applied((text) => text + cast, operand),
    cursor: (text) => text,
    longest: cast === '::int8' ? longestCount : Infinity,
  },
  builder: {
    of: (row) => row,
    json: (text) => text,
    operand: (text) => text + cast,
    operands: (text) => `${text}${cast}[]`,
    cursor: (text) => text,
    notNull: false,
    recordType: 'text',
    fromRecord: (text) => text + cast,
  },
})

function describeKey(writer: Writer, scope: Scope, key: GroupKey): Described {
  const { entity, column } = endOf(scope.entity, key.of)
  const builder = columnOf(writer.engine.entity(entity.id), column)
  const element = scope.ordered(key.of)
  if (key.recurring !== undefined)
    return number(sql`${recurringOf(builder, key.recurring, key.zone, element.value)}::int8`, '::int8')
  return { element: { ...element, value: stretchOf(builder, key, element.value) }, builder }
}

/** The column at the end of a key. */
const endOf = (entity: EntityFacts, key: OrderKey): { readonly entity: EntityFacts; readonly column: string } => {
  if (typeof key === 'string') return { entity, column: key }
  if (key.kind !== 'one') throw new Error('rows are grouped by columns')
  return endOf(key.entity, key.of)
}

/** Groups as if their values were columns of a row. */
function groupScope(scope: Scope, found: ReadonlyMap<string, Described>): Scope {
  const of = (id: string): Described => {
    const described = found.get(id)
    if (described === undefined) throw new Error(`groups have no ${id}`)
    return described
  }
  const columns = Object.fromEntries([...found].map(([id, { builder }]) => [id, builder]))
  return {
    ...scope,
    builder: { ...scope.builder, columns },
    column: (id) => of(id).element.value,
    ordered: (key) => {
      if (typeof key !== 'string') throw new Error('groups have no related rows')
      return of(key).element
    },
    tenant: null,
  }
}

function memberOf(groups: Groups, outside: Scope, makeObject: MakeObject, member: GroupMember): Sql {
  if (member.kind === 'typename') return sql`${literal(member.name)}::text`
  if (member.kind === 'cursor')
    return cursorText(
      groups.order.map(({ column }) => {
        const { value, cursor, longest } = outside.ordered(column)
        return { value: cursor(value), longest }
      }),
    )
  if (member.kind === 'object')
    return makeObject(member.members.map((inner): Pair => [inner.key, memberOf(groups, outside, makeObject, inner)]))
  const kind = groups.values.find(({ id }) => id === member.value)?.kind
  const value = outside.column(member.value)
  const { json } = columnOf(outside.builder, member.value)
  if (kind === 'key') return applied(json, value)
  return kind === 'values' ? sql`array(select ${applied(json, sql`v`)} from unnest(${value}) v)` : value
}

const recurringFields: Readonly<Record<RecurringTime, string>> = { DAY_OF_WEEK: 'isodow', HOUR_OF_DAY: 'hour' }

/** The number of a recurring unit of time, in the given zone; null for infinite times. */
function recurringOf({ operand }: ColumnBuilder, time: RecurringTime, zone: Value | undefined, value: Sql): Sql {
  const isInstant = operand('').endsWith(' with time zone')
  const local = isInstant && zone !== undefined ? sql`timezone(${valueParameter(zone)}::text, ${value})` : value
  return sql`extract(${trusted(recurringFields[time])} from ${local})`
}

/** The start of the unit of time that contains a value; for a date, a date. */
function stretchOf(builder: ColumnBuilder, { unit, zone, width }: GroupKey, value: Sql): Sql {
  const { operand } = builder
  if (width !== undefined) return beginOf(operand(''), value, valueParameter(width))
  if (unit === undefined) return value
  const cast = operand('')
  const name = literal(unit.toLowerCase())
  if (cast === '::date') return sql`date_trunc(${name}, ${value}::timestamp)::date`
  const isInstant = cast.endsWith(' with time zone')
  return isInstant && zone !== undefined
    ? sql`date_trunc(${name}, ${value}, ${valueParameter(zone)}::text)`
    : sql`date_trunc(${name}, ${value})`
}

/**
 * The start of the range that contains a number. A remainder is exact, and has the sign of the dividend: it is made
 * non-negative first.
 */
function beginOf(cast: string, value: Sql, width: Sql): Sql {
  const isFloat = cast === '::real' || cast === '::double precision'
  const isWhole = /^::(?:smallint|integer|bigint)$/.test(cast)
  const type = trusted(isFloat ? '::float8' : isWhole ? '::int8' : '::numeric')
  const [x, w] = [sql`${value}${type}`, sql`${width}${type}`]
  if (isFloat) return sql`(floor(${x} / ${w}) * ${w})${trusted(cast)}`
  const begin = sql`(${x} - mod(mod(${x}, ${w}) + ${w}, ${w}))`
  return isWhole ? sql`${begin}${trusted(cast)}` : begin
}
