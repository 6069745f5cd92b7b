import type { ColumnBuilder } from '../../contract/builder.ts'
import type { EntityFacts } from '../../contract/manifest.ts'
import { asItems, type MakeObject } from '../../sql/json.ts'
import { literal, applied, select, sql, trusted, type Pair, type Sql } from '../../sql/tree.ts'
import { refuse } from '../protocol/failures.ts'
import type { GroupKey, GroupMember, Groups, GroupValue, OrderKey } from '../plan/plan-nodes.ts'
import { stretchOf, recurringOf } from './buckets.ts'
import { cursorText, longestCount, type Ordered } from './cursor.ts'
import { compileFilter } from './filter.ts'
import type { Matching } from './matching.ts'
import { afterCursor, orderBy } from './order.ts'
import { rowsOnPage, valueParameter } from './parameters.ts'
import { columnOf, given, seenOutside, type Scope, type Writer } from './source.ts'
import { aggregateOf } from './totals.ts'

/**
 * The groups of a collection's rows as an array (spec/graphql.md 17.2). They are made, filtered, sorted and limited in
 * one select, so that an index in the order of the keys serves the first of them without the rest.
 */
export function groupsArray(writer: Writer, matching: Matching, groups: Groups, part: Part): Sql {
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

type Part = Parameters<typeof compileFilter>[2]

/** A value of a group: its expression and type. */
interface Described {
  readonly element: Ordered
  /** As a column: for its operands. */
  readonly builder: ColumnBuilder
}

function describe(writer: Writer, scope: Scope, value: GroupValue): Described {
  switch (value.kind) {
    case 'count':
      return counted(sql`count(*)`)
    case 'key':
      return describeKey(writer, scope, value)
    case 'percentile': {
      const at = sql`${valueParameter(value.at)}::float8`
      return number(
        sql`percentile_cont(${at}) within group (order by ${scope.column(value.column)}::float8)`,
        '::float8',
      )
    }
    case 'values':
      return describeListed(scope, value)
    case 'figure':
      return describeFigure(scope, value)
  }
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
  switch (name) {
    case 'countDistinct':
      return counted(sql`count(distinct ${value})`)
    case 'every':
      return ofColumn(sql`bool_and(${value})`, false)
    case 'some':
      return ofColumn(sql`bool_or(${value})`, false)
    case 'min':
    case 'max':
      return ofColumn(aggregateOf(name, value), scope.ordered(column).notNull)
    case 'avg':
      return number(aggregateOf(name, value), '::numeric')
    case 'sum': {
      const type = scope.entity.columns.find((one) => one.column === column)?.type
      // Sums of floats and of money have their own types, all others are exact numbers.
      const isOwn = type?.kind === 'scalar' && (type.name === 'Float' || type.name === 'Opaque')
      const sum = aggregateOf(name, value)
      return isOwn ? ofColumn(sum, false) : number(sum, '::numeric')
    }
  }
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
  switch (member.kind) {
    case 'typename':
      return sql`${literal(member.name)}::text`
    case 'cursor':
      return cursorText(
        groups.order.map(({ column }) => {
          const { value, cursor, longest } = outside.ordered(column)
          return { value: cursor(value), longest }
        }),
      )
    case 'object':
      return makeObject(member.members.map((inner): Pair => [inner.key, memberOf(groups, outside, makeObject, inner)]))
    case 'value': {
      const kind = groups.values.find(({ id }) => id === member.value)?.kind
      const value = outside.column(member.value)
      const { json } = columnOf(outside.builder, member.value)
      if (kind === 'key') return applied(json, value)
      return kind === 'values' ? sql`array(select ${applied(json, sql`v`)} from unnest(${value}) v)` : value
    }
  }
}
