import { ident } from '../../sql/ident.ts'
import { createItems, object, objectFrom, toJson, type Pair } from '../../sql/json.ts'
import { literal } from '../../sql/literal.ts'
import type { Delete, Filter, Insert, InsertRows, Update } from '../plan/types.ts'
import { compileFilter } from './filter.ts'
import { gather, type Made } from './gather.ts'
import { carriedScope, columnOf, directScope, where, type Scope, type Writer } from './source.ts'

type Write = Insert | Update | Delete

/**
 * Change and answer in one statement (spec/graphql.md 10.5): the change is a CTE, its rows are what RETURNING gives,
 * and everything nested is read from the snapshot before it.
 */
export function writeStatement(writer: Writer, root: Write): string {
  const target = writer.alias('t')
  writer.note(target, root)
  const changed = writer.alias('i')
  const inner = directScope(writer, root.entity, target)
  const carried = carriedScope(inner, changed)
  const answer = answerJson(writer, root, carried.scope)
  const change = changeSql(writer, root, inner, target)
  const used = carried.list()
  const list = used.length === 0 ? inner.column(root.readable) : used.join(', ')
  return `with ${changed} as (${change} returning ${list}) select ${guarded(writer, root, changed, answer)} as r`
}

function answerJson(writer: Writer, root: Write, scope: Scope): string {
  const items = createItems(() => writer.alias('o'))
  const records = root.members.filter((member) => member.kind === 'records')
  const objects = records.map((member) => writer.row(writer, member.row, scope, items.object))
  const rows = `${scope.alias}${items.from()}`
  if (root.kind === 'insert' && isSingle(root.rows)) return singleJson(root, objects, rows)
  const counted = root.members.some(({ kind }) => kind === 'affectedCount')
  const made = objects.map((value): Made => ({ value, condition: null }))
  const { from, arrays, count } = gather(writer.alias('w'), made, counted, rows)
  const pairs = answerPairs(root, count, arrays)
  return toJson(from === null ? object(pairs) : objectFrom(pairs, from))
}

const isSingle = (rows: InsertRows): boolean => rows.kind === 'separate' && rows.rows.length === 1

/** One row needs no aggregate. A trigger or a conflict may have kept it from being inserted. */
function singleJson(root: Insert, objects: readonly string[], from: string): string {
  const inserted = objectFrom(
    answerPairs(
      root,
      '1',
      objects.map((value) => `array[${value}]`),
    ),
    from,
  )
  return `coalesce(${toJson(inserted)}, ${literal(noneInserted(root))}::json)`
}

const noneInserted = ({ members }: Insert): string =>
  JSON.stringify(
    Object.fromEntries(
      members.map((member) => [
        member.key,
        member.kind === 'typename' ? member.name : member.kind === 'affectedCount' ? 0 : [],
      ]),
    ),
  )

/** @param arrays by position among the members that select records */
function answerPairs({ members }: Write, count: string, arrays: readonly string[]): readonly Pair[] {
  const records = members.filter(({ kind }) => kind === 'records')
  return members.map((member): Pair => {
    switch (member.kind) {
      case 'typename':
        return [member.key, `${literal(member.name)}::text`]
      case 'affectedCount':
        return [member.key, count]
      case 'records':
        return [member.key, arrays[records.indexOf(member)] ?? '']
    }
  })
}

/**
 * Fails the statement, and with it the request, when more rows were affected than allowed (spec/graphql.md 10.4); they
 * are counted by themselves, so that no more than allowed are collected.
 */
function guarded(writer: Writer, root: Write, changed: string, answer: string): string {
  if (root.kind === 'insert') return answer
  const atMost = `${writer.parameters.add(root.atMost)}::int8`
  const message = literal(`${root.kind} impacts too many records`)
  return `case when (select count(*) from ${changed}) > ${atMost} then catalograph.refuse(${message})::text::json else ${answer} end`
}

function changeSql(writer: Writer, root: Write, scope: Scope, alias: string): string {
  const { relation } = scope.builder
  switch (root.kind) {
    case 'insert':
      return `insert into ${relation} as ${alias} (${root.rows.columns.map(ident).join(', ')}) ${insertRows(writer, scope, root.rows)}${conflictSql(writer, root, scope)}`
    case 'update': {
      const set = root.set.map(({ column, value }) => {
        const operand = columnOf(scope.builder, column).operand(writer.parameters.add(value))
        return `${ident(column)} = ${operand}`
      })
      return `update ${relation} ${alias} set ${set.join(', ')}${matching(writer, root, root.filter, scope)}`
    }
    case 'delete':
      return `delete from ${relation} ${alias}${matching(writer, root, root.filter, scope)}`
  }
}

function conflictSql(writer: Writer, root: Insert, scope: Scope): string {
  const conflict = root.onConflict
  if (conflict === undefined) return ''
  const { arbiters = {}, relation } = scope.builder
  const target = Object.hasOwn(arbiters, conflict.key) ? arbiters[conflict.key] : undefined
  if (target === undefined) throw new Error(`the builder of ${relation} has no unique key ${conflict.key}`)
  if (conflict.update.length === 0) return ` ${target} do nothing`
  const set = conflict.update.map((column) => `${ident(column)} = excluded.${ident(column)}`)
  return ` ${target} do update set ${set.join(', ')}${matching(writer, root, conflict.filter, scope)}`
}

const matching = (writer: Writer, root: Write, filter: Filter | null, scope: Scope): string =>
  where([filter === null ? null : compileFilter(filter, writer, root)(scope)])

function insertRows(writer: Writer, scope: Scope, rows: InsertRows): string {
  const columns = rows.columns.map((name) => columnOf(scope.builder, name))
  if (rows.kind === 'uniform') {
    const values = columns.map((column, index) => column.fromRecord(`x.c${index}`))
    const definitions = columns.map((column, index) => `c${index} ${column.recordType}`)
    const records = `json_to_recordset(${writer.parameters.add(rows.records)}::json)`
    return `select ${values.join(', ')} from ${records} as x(${definitions.join(', ')})`
  }
  const tuples = rows.rows.map((row) => {
    const cells = row.map((value, index) =>
      value === null ? 'default' : (columns[index]?.operand(writer.parameters.add(value)) ?? 'default'),
    )
    return `(${cells.join(', ')})`
  })
  return `values ${tuples.join(', ')}`
}
