import { bare, ident } from '../../sql/ident.ts'
import { applied, joined, sql, trusted, type Sql } from '../../sql/tree.ts'
import type { NestedInsert, PlacedStep, RelatedUpdate } from '../plan/plan-nodes.ts'
import type { Value } from '../plan/values.ts'
import type { InsertStep, LinkedFrom, LinkedValue } from '../plan/write-steps.ts'
import { referring, type ReadCarried } from './carried.ts'
import { valueParameter } from './parameters.ts'
import { presetValue } from './set.ts'
import { columnOf, relationOf, type Scope, type Writer } from './source.ts'
import { conflictSql } from './writes.ts'

export function insertSql(
  writer: Writer,
  root: NestedInsert | RelatedUpdate,
  scope: Scope,
  step: InsertStep & PlacedStep,
  read: ReadCarried,
): Sql {
  const [relation, names] = [relationOf(scope.builder), joined(columnsOf(step).map(ident), ', ')]
  const rows = rowsSql(scope, step, read)
  return sql`insert into ${relation} as ${scope.alias} (${names}) ${rows}${conflictSql(writer, root, step.onConflict, scope)}`
}

const columnsOf = ({ rows, presets = [] }: InsertStep): readonly string[] => [
  ...rows.columns,
  ...(rows.kind === 'uniform' ? rows.links.map(({ column }) => column) : []),
  ...presets.map(({ column }) => column),
]

function rowsSql(scope: Scope, { rows, presets = [] }: InsertStep, read: ReadCarried): Sql {
  const preset = presets.map((one) => presetValue(scope, one))
  if (rows.kind === 'separate') {
    const tuples = rows.rows.map((row) => {
      const cells = row.map((cell, index) => cellSql(scope, rows.columns[index] ?? '', cell, read))
      return sql`(${joined([...cells, ...preset], ', ')})`
    })
    return sql`values ${joined(tuples, ', ')}`
  }
  const row = bare('x')
  const own = rows.columns.map((name, index) => ({ as: bare('c', index), ...columnOf(scope.builder, name) }))
  // The places that are used; without records, they determine the number of rows.
  const places = new Set(rows.records === null ? rows.links.flatMap(({ from }) => from.map((one) => one.places)) : [])
  const placeOf = ({ places: value }: LinkedFrom): Sql => {
    places.add(value)
    return sql`${row}.${bare('p', [...places].indexOf(value))}`
  }
  const values = [
    ...own.map(({ as, fromRecord }) => trusted(fromRecord(`${row}.${as}`))),
    ...rows.links.map(({ column, from }) => {
      const found = from.map((one) => read(scope, column, one, () => placeOf(one), from.length === 1))
      return referring(scope, column, found)
    }),
    ...preset,
  ]
  const definitions = own.map(({ as, recordType }) => trusted(`${as} ${recordType}`))
  const sources = [
    ...(rows.records === null
      ? []
      : [sql`json_to_recordset(${valueParameter(rows.records)}::json) as (${joined(definitions, ', ')})`]),
    ...Array.from(places, (value) => sql`unnest(${valueParameter(value)}::int4[])`),
  ]
  const names = [...own.map(({ as }) => as), ...Array.from(places, (_, index) => bare('p', index))]
  return sql`select ${joined(values, ', ')} from rows from (${joined(sources, ', ')}) as ${row}(${joined(names, ', ')})`
}

function cellSql(scope: Scope, column: string, cell: Value | LinkedValue | null, read: ReadCarried): Sql {
  if (cell === null) return sql`default`
  if ('place' in cell) return referring(scope, column, [read(scope, column, cell, () => sql`${cell.place}`, true)])
  return applied(columnOf(scope.builder, column).operand, valueParameter(cell))
}
