import { bare, ident } from '../../sql/ident.ts'
import { object, toJson } from '../../sql/json.ts'
import {
  applied,
  joined,
  select,
  selectList,
  sql,
  trusted,
  type Column,
  type Cte,
  type Ident,
  type SelectList,
  type Sql,
} from '../../sql/tree.ts'
import type { NestedInsert, PlacedStep, RelatedUpdate } from '../plan/types.ts'
import type { Value } from '../plan/values.ts'
import type { CarriedColumn, ConnectStep, InsertStep, LinkedFrom, WriteStep } from '../plan/write-steps.ts'
import { carriedPairs, counter, equal, keeping, carriedName, carriedValues, writtenValues } from './carried.ts'
import { ofDeleted } from './deleted.ts'
import { valueParameter } from './parameters.ts'
import { noSuchRow, skippedRow } from './reasons.ts'
import { ownStatement, relatedStatement, updatedRow } from './related-changes.ts'
import { presetValue } from './set.ts'
import { columnOf, directScope, relationOf, seenOutside, type Scope, type Writer } from './source.ts'
import { answerJson, answerPairs, conflictSql, refusing } from './writes.ts'

/**
 * Inserts with related rows (spec/graphql.md 17.6): a statement for each step, so that policies, triggers and defaults of one see
 * the rows of those before it, and one that answers.
 */

export type WithSteps = NestedInsert | RelatedUpdate

/** Whether there is nothing to read once all is written: how many rows there are, the last step knows. */
export const isAnsweredByLast = (root: WithSteps): boolean =>
  root.kind === 'insert-nested' && root.members.every(({ kind }) => kind !== 'records')

/** The statement of a step. What it answers is of no account, unless it answers the field. */
export function stepStatement(writer: Writer, root: WithSteps, place: number): SelectList {
  const step = root.steps[place]
  if (step === undefined) throw new Error(`there is no step ${place}`)
  const isFirst = place === 0
  const isLast = place === root.steps.length - 1
  switch (step.kind) {
    case 'insert':
      return insertStatement(writer, root, step, { isFirst, answers: isLast && isAnsweredByLast(root) })
    case 'connect':
      return connectStatement(writer, root, step, isFirst)
    case 'own':
      return ownStatement(writer, root, step, isFirst)
    case 'related':
      return relatedStatement(writer, root, step)
  }
}

function insertStatement(
  writer: Writer,
  root: WithSteps,
  step: InsertStep & PlacedStep,
  { isFirst, answers }: { readonly isFirst: boolean; readonly answers: boolean },
): SelectList {
  const target = writer.alias('t')
  writer.note(target, root)
  const inner = directScope(writer, step.entity, target)
  const { scope, outlet } = seenOutside(inner, writer.alias('i'), inner.column(step.readable))
  const relation = relationOf(inner.builder)
  const names = joined(columnsOf(step).map(ident), ', ')
  const change = sql`insert into ${relation} as ${target} (${names}) ${rowsSql(inner, step)}${conflictSql(writer, root, step.onConflict, inner)}`
  const count = sql`(select count(*) from ${scope.alias})`
  const members = root.kind === 'insert-nested' ? root.members : []
  const counts = members.some(({ kind }) => kind === 'affectedCount')
  const sum = isFirst ? count : sql`coalesce((${writtenValues} ->> ${counter})::int8, 0) + ${count}`
  const kept = answers
    ? toJson(object(answerPairs({ members }, sum, [])))
    : keeping(isFirst, [
        ...carriedPairs(step, scope.alias, (name) => scope.column(name)),
        ...(counts ? [[counter, sum] as const] : []),
      ])
  const given = typeof step.given === 'number' ? sql`${step.given}` : sql`${valueParameter(step.given)}::int8`
  const checked = !step.isNeeded ? kept : refusing(sql`${count} < ${given}`, skippedRow, kept)
  const cte: Cte = { name: scope.alias, materialized: false, of: sql`(${change} returning ${outlet})` }
  return selectList([{ value: checked, as: bare('r') }], [cte])
}

const columnsOf = ({ rows, presets = [] }: InsertStep): readonly string[] => [
  ...rows.columns,
  ...(rows.kind === 'uniform' ? rows.links.map(({ column }) => column) : []),
  ...presets.map(({ column }) => column),
]

function rowsSql(scope: Scope, { rows, presets = [] }: InsertStep): Sql {
  const preset = presets.map((one) => presetValue(scope, one))
  if (rows.kind === 'separate') {
    const tuples = rows.rows.map((row) => {
      const cells = row.map((cell, index) => cellSql(scope, rows.columns[index] ?? '', cell))
      return sql`(${joined([...cells, ...preset], ', ')})`
    })
    return sql`values ${joined(tuples, ', ')}`
  }
  const row = bare('x')
  const own = rows.columns.map((name, index) => ({ as: bare('c', index), ...columnOf(scope.builder, name) }))
  const places = [...new Set(rows.links.flatMap(({ from }) => from.map(({ places }) => places)))]
  const placeOf = ({ places: value }: LinkedFrom): Sql => sql`${row}.${bare('p', places.indexOf(value))}`
  const values = [
    ...own.map(({ as, fromRecord }) => trusted(fromRecord(`${row}.${as}`))),
    ...rows.links.map(({ column, from }) => {
      const found = from.map((one) => sql`${carriedValues(scope, column, one)}[${placeOf(one)}]`)
      return found.length === 1 ? joined(found, ', ') : sql`coalesce(${joined(found, ', ')})`
    }),
    ...preset,
  ]
  const definitions = own.map(({ as, recordType }) => trusted(`${as} ${recordType}`))
  const sources = [
    ...(rows.records === null
      ? []
      : [sql`json_to_recordset(${valueParameter(rows.records)}::json) as (${joined(definitions, ', ')})`]),
    ...places.map((value) => sql`unnest(${valueParameter(value)}::int4[])`),
  ]
  const names = [...own.map(({ as }) => as), ...places.map((_, index) => bare('p', index))]
  return sql`select ${joined(values, ', ')} from rows from (${joined(sources, ', ')}) as ${row}(${joined(names, ', ')})`
}

function cellSql(scope: Scope, column: string, cell: Value | (CarriedColumn & { readonly place: number }) | null): Sql {
  if (cell === null) return sql`default`
  if ('place' in cell) return sql`${carriedValues(scope, column, cell)}[${cell.place}]`
  return applied(columnOf(scope.builder, column).operand, valueParameter(cell))
}

const place = bare('n')

/** Finds a row for each key, and refuses the field where there is none that the caller sees. */
function connectStatement(
  writer: Writer,
  root: WithSteps,
  step: ConnectStep & WriteStep,
  isFirst: boolean,
): SelectList {
  const target = writer.alias('t')
  writer.note(target, root)
  const scope = directScope(writer, step.entity, target)
  const [given, row, found] = [writer.alias('x'), writer.alias('s'), writer.alias('i')]
  const keys = step.by.map((_, index) => bare('k', index))
  const names = step.carried.map((_, index) => bare('c', index))
  const isThere = bare('f')
  const columns: readonly Column[] = [
    ...step.carried.map((name, index) => ({ value: scope.column(name), as: bare('c', index) })),
    { value: sql`true`, as: isThere },
  ]
  const one = select(columns, {
    from: [{ of: relationOf(scope.builder), alias: target }],
    where: [
      ...step.by.map(({ column }, index) => equal(scope, column, sql`${given}.${keys[index] ?? place}`)),
      ...ofDeleted(scope, false),
    ],
    limit: sql`1`,
  })
  const rows = select(
    [...names, isThere].map((name) => ({ value: sql`${row}.${name}` })),
    {
      from: [
        {
          of: givenRows(
            scope,
            step.by.map(({ column, values }) => ({ column, array: valueParameter(values) })),
            given,
            keys,
          ),
          joins: [{ kind: 'left join lateral', of: one, alias: row, on: sql`true` }],
        },
      ],
      orderBy: [sql`${given}.${place}`],
    },
  )
  const isMissing = sql`exists (select from ${found} where ${isThere} is null)`
  const kept = keeping(
    isFirst,
    carriedPairs(step, found, (name) => bare('c', step.carried.indexOf(name))),
  )
  const checked = refusing(isMissing, noSuchRow, kept)
  return selectList([{ value: checked, as: bare('r') }], [{ name: found, materialized: true, of: rows }])
}

/** Keys as rows of their columns' types, each with its place. */
function givenRows(
  scope: Scope,
  by: readonly { readonly column: string; readonly array: Sql }[],
  alias: Ident,
  names: readonly Ident[],
): Sql {
  const arrays = by.map(({ column, array }) => applied(columnOf(scope.builder, column).operands, array))
  return sql`unnest(${joined(arrays, ', ')}) with ordinality as ${alias}(${joined([...names, place], ', ')})`
}

/** The statement that answers, once all is written. */
export const answerStatement = (writer: Writer, root: WithSteps): SelectList =>
  root.kind === 'insert-nested' ? rowsStatement(writer, root) : updatedRow(writer, root)

/** The rows by their keys, in the order of the objects. */
function rowsStatement(writer: Writer, root: NestedInsert): SelectList {
  const target = writer.alias('t')
  writer.note(target, root)
  const inner = directScope(writer, root.entity, target)
  const { scope, outlet } = seenOutside(inner, writer.alias('i'), inner.column(root.readable))
  const given = writer.alias('x')
  const keys = root.entity.key.map((_, index) => bare('k', index))
  const arrays = root.entity.key.map((column) => ({
    column,
    array: sql`(${writtenValues} ->> ${carriedName({ step: root.own, column })})`,
  }))
  const isMeant = root.entity.key.map((column, index) => equal(inner, column, sql`${given}.${keys[index] ?? place}`))
  const source = sql`${givenRows(inner, arrays, given, keys)} join ${relationOf(inner.builder)} ${target} on ${joined(isMeant, ' and ')}`
  const of = sql`(select ${outlet}, ${given}.${place} from ${source})`
  const ordered = {
    of: select([{ value: sql`*` }], { from: [{ of: scope.alias }], orderBy: [place] }),
    alias: scope.alias,
  }
  const count = sql`(${writtenValues} ->> ${counter})::int8`
  const answer = answerJson(writer, root, scope, ordered, count)
  return selectList([{ value: answer, as: bare('r') }], [{ name: scope.alias, materialized: true, of }])
}
