import { bare, ident } from '../../sql/ident.ts'
import { asItems, built, isBuilt, object, objectFrom, toJson } from '../../sql/json.ts'
import {
  literal,
  applied,
  joined,
  select,
  selectList,
  sql,
  trusted,
  type From,
  type Ident,
  type Pair,
  type SelectList,
  type Sql,
} from '../../sql/tree.ts'
import type { RowsChange, Delete, Filter, Insert, InsertRows, OnConflict, Root, Update } from '../plan/plan-nodes.ts'
import type { Value } from '../plan/values.ts'
import { compileFilter } from './filter.ts'
import { gather, type Made } from './collection.ts'
import {
  ofKeyed,
  columnOf,
  readFor,
  given,
  relationOf,
  seenOutside,
  type Part,
  type Scope,
  type Writer,
} from './source.ts'
import { valueParameter } from './parameters.ts'
import { presetValue, setSql } from './set.ts'
import { insertedAs, ofTenant, satisfying } from './tenants.ts'

type Write = Insert | Update | Delete

/**
 * Change and answer in one statement (spec/graphql.md 10.5): the change is a CTE, its rows come from RETURNING, and
 * everything nested is read from the snapshot before it.
 */
export function writeStatement(writer: Writer, root: Write): SelectList {
  const inner = readFor(writer, root.entity, root)
  const changed = root.kind === 'insert' ? insertedAs(inner, root.rows) : satisfying(inner, root.filter)
  const { scope, outlet } = seenOutside(changed, writer.alias('i'))
  const answer = isCounted(root) ? countJson(root, scope) : guarded(root, scope, rowsJson(writer, root, scope))
  const change = sql`(${changeSql(writer, root, inner)} returning ${outlet})`
  return selectList([{ value: answer, as: bare('r') }], [{ name: scope.alias, materialized: false, of: change }])
}

const isCounted = (root: Write): root is Update | Delete =>
  root.kind !== 'insert' &&
  root.entity.tenant !== undefined &&
  root.members.every(({ kind }) => kind !== 'records') &&
  isBuilt(root.members)

/**
 * For rows on another server, which plans the statement again each time, without selected fields: they are counted
 * once, for the limit and for the answer.
 */
function countJson(root: Update | Delete, { alias: changed }: Scope): Sql {
  const count = sql`count(*)`
  const answer = built(answerPairs(root, count, []))
  return select([{ value: limitedBy(root, count, answer) }], { from: [{ of: changed }] })
}

/** One inserted row needs no aggregate. */
function rowsJson(writer: Writer, root: Write, scope: Scope): Sql {
  if (root.kind !== 'insert' || !isSingle(root.rows)) return answerJson(writer, root, scope)
  return singleJson(root, recordsOf(writer, root, scope), { of: scope.alias })
}

const recordsOf = (writer: Writer, { members }: Pick<RowsChange, 'members'>, scope: Scope): readonly Sql[] => {
  const makeObject = asItems(() => writer.alias('o'))
  return members.flatMap((member) =>
    member.kind === 'records' ? [writer.row(writer, member.row, scope, makeObject)] : [],
  )
}

/**
 * @param rows where the changed rows are read
 * @param changed the number of changed rows, if it differs from those read
 */
export function answerJson(
  writer: Writer,
  root: Pick<RowsChange, 'members'>,
  scope: Scope,
  rows: From = { of: scope.alias },
  changed: Sql | null = null,
): Sql {
  const objects = recordsOf(writer, root, scope)
  const counted = changed === null && root.members.some(({ kind }) => kind === 'affectedCount')
  const made = objects.map((value): Made => ({ value, condition: null }))
  const { from, arrays, count } = gather(writer.alias('w'), made, counted, rows)
  const pairs = answerPairs(root, changed ?? count, arrays)
  return toJson(from === null ? object(pairs) : objectFrom(pairs, { from: [from] }))
}

const isSingle = (rows: InsertRows): boolean => rows.kind === 'separate' && rows.rows.length === 1

/** A trigger or a conflict may have prevented its insertion. */
function singleJson(root: Insert, objects: readonly Sql[], rows: From): Sql {
  const arrays = objects.map((value) => sql`array[${value}]`)
  const inserted = objectFrom(answerPairs(root, sql`1`, arrays), { from: [rows] })
  return sql`coalesce(${toJson(inserted)}, ${literal(noneChanged(root))}::json)`
}

/** The answer if no row was changed. */
export const noneChanged = ({ members }: Pick<RowsChange, 'members'>): string =>
  JSON.stringify(
    Object.fromEntries(
      members.map((member) => [
        member.key,
        member.kind === 'typename' ? member.name : member.kind === 'affectedCount' ? 0 : [],
      ]),
    ),
  )

/** @param arrays by position among the members that select records */
export function answerPairs(
  { members }: Pick<RowsChange, 'members'>,
  count: Sql,
  arrays: readonly Sql[],
): readonly Pair[] {
  const records = members.filter(({ kind }) => kind === 'records')
  return members.map((member): Pair => {
    if (member.kind === 'typename') return [member.key, sql`${literal(member.name)}::text`]
    return [member.key, member.kind === 'affectedCount' ? count : (arrays[records.indexOf(member)] ?? sql``)]
  })
}

/**
 * Fails the statement, and with it the request, if more rows were affected than allowed (spec/graphql.md 10.4); a
 * separate count avoids collecting more rows than allowed.
 */
export const limited = (root: Limited, { alias: changed }: Scope, answer: Sql): Sql =>
  limitedBy(root, sql`(select count(*) from ${changed})`, answer)

const guarded = (root: Write, scope: Scope, answer: Sql): Sql =>
  root.kind === 'insert' ? answer : limited(root, scope, answer)

interface Limited {
  readonly kind: Exclude<Root['kind'], 'insert'>
  readonly atMost: Value
}

function limitedBy({ kind, atMost }: Limited, count: Sql, answer: Sql): Sql {
  const verb = kind === 'delete' ? 'delete' : 'update'
  const isTooMany = sql`${count} > ${valueParameter(atMost)}::int8`
  return refusing(isTooMany, `${verb} impacts too many records`, answer)
}

export const moreThan = (changed: Ident, most: Sql): Sql => sql`(select count(*) from ${changed}) > ${most}`

export const refusing = (condition: Sql, message: string, answer: Sql): Sql =>
  sql`case when ${condition} then catalograph.refuse(${literal(message)})::text::json else ${answer} end`

/** Whether the statement reads columns of the rows, apart from the known tenant (spec/graphql.md 10.5). */
const readsRows = ({ filter, set = [], members }: Update | Delete): boolean =>
  filter !== null ||
  set.some((change) => 'operator' in change) ||
  members.some((member) => member.kind === 'records' && member.row.members.some(({ kind }) => kind !== 'typename'))

function changeSql(writer: Writer, root: Write, scope: Scope): Sql {
  const relation = relationOf(scope.builder)
  switch (root.kind) {
    case 'insert': {
      const { presets = [] } = root
      const columns = joined([...root.rows.columns, ...presets.map(({ column }) => column)].map(ident), ', ')
      const conflict = conflictSql(writer, root, root.onConflict, scope)
      return sql`insert into ${relation} as ${scope.alias} (${columns}) ${insertRows(scope, root)}${conflict}`
    }
    case 'update':
    case 'delete': {
      // A condition on the tenant reads it, and a read column requires the privileges and policies of reading.
      const tenant = readsRows(root) ? ofTenant(scope) : []
      const where = matching(writer, root, root.filter, scope, [...ofKeyed(scope), ...tenant])
      return root.set === undefined
        ? sql`delete from ${relation} ${scope.alias}${where}`
        : sql`update ${relation} ${scope.alias} set ${setSql(scope, root.set)}${where}`
    }
  }
}

/** `onConflict` of rows that are inserted at a scope (spec/graphql.md 17). */
export function conflictSql(writer: Writer, root: Part, conflict: OnConflict | undefined, scope: Scope): Sql {
  if (conflict === undefined) return sql``
  const { arbiters = {}, relation } = scope.builder
  const target = Object.hasOwn(arbiters, conflict.key) ? arbiters[conflict.key] : undefined
  if (target === undefined) throw new Error(`the builder of ${relation} has no unique key ${conflict.key}`)
  if (conflict.update.length === 0) return sql` ${trusted(target)} do nothing`
  const set = [
    ...conflict.update.map((column) => sql`${ident(column)} = excluded.${ident(column)}`),
    ...(conflict.presets ?? []).map((one) => sql`${ident(one.column)} = ${presetValue(scope, one)}`),
  ]
  // A policy raises an error for a conflicting row of another tenant; a condition would hide it.
  const where = matching(writer, root, conflict.filter, scope, [])
  return sql` ${trusted(target)} do update set ${joined(set, ', ')}${where}`
}

const matching = (writer: Writer, root: Part, filter: Filter | null, scope: Scope, others: readonly Sql[]): Sql => {
  const condition = filter === null ? null : compileFilter(filter, writer, root)(satisfying(scope, filter))
  const all = [...given([condition]), ...others]
  return all.length === 0 ? sql`` : sql` where ${joined(all, ' and ')}`
}

function insertRows(scope: Scope, { rows, presets = [] }: Insert): Sql {
  const preset = presets.map((one) => presetValue(scope, one))
  const columns = rows.columns.map((name) => columnOf(scope.builder, name))
  if (rows.kind === 'uniform') {
    const names = columns.map((_, index) => bare('c', index))
    const values = columns.map(({ fromRecord }, index) => trusted(fromRecord(`x.${names[index]}`)))
    const definitions = columns.map(({ recordType }, index) => trusted(`${names[index]} ${recordType}`))
    const records = sql`json_to_recordset(${valueParameter(rows.records)}::json)`
    return sql`select ${joined([...values, ...preset], ', ')} from ${records} as x(${joined(definitions, ', ')})`
  }
  const tuples = rows.rows.map((row) => {
    const cells = row.map((value, index) => {
      const column = columns[index]
      return value === null || column === undefined ? sql`default` : applied(column.operand, valueParameter(value))
    })
    return sql`(${joined([...cells, ...preset], ', ')})`
  })
  return sql`values ${joined(tuples, ', ')}`
}
