import { ofMeant } from '../../../runtime/graphql/statements/meant.ts'
import { valueParameter } from '../../../runtime/graphql/statements/parameters.ts'
import type { Value } from '../../../runtime/graphql/plan/values.ts'
import { presetValue } from '../../../runtime/graphql/statements/set.ts'
import {
  columnOf,
  ofKeyed,
  readFor,
  relationOf,
  type Scope,
  type Writer,
} from '../../../runtime/graphql/statements/source.ts'
import { conflictSql } from '../../../runtime/graphql/statements/writes.ts'
import { bare, ident } from '../../../runtime/sql/ident.ts'
import {
  applied,
  joined,
  select,
  sql,
  trusted,
  type Column,
  type Cte,
  type Ident,
  type Sql,
} from '../../../runtime/sql/tree.ts'
import type {
  ConnectStep,
  InsertStep,
  LinkedFrom,
  LinkedValue,
  NestedInsert,
  PlacedStep,
  RelatedUpdate,
  WriteStep,
} from './plan-steps.ts'
import { equal, referring, type ReadCarried } from './statements-carried.ts'

export function insertSql(
  writer: Writer,
  root: WithSteps,
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

export type WithSteps = NestedInsert | RelatedUpdate

/** Whether no read is needed after the writes: the last step knows the number of rows. */
export const isAnsweredByLast = (root: WithSteps): boolean =>
  root.kind === 'insert-nested' && root.members.every(({ kind }) => kind !== 'records')

export const place = bare('n')

export interface FoundRows {
  readonly cte: Cte
  /** The value of a column that other steps need. */
  readonly column: (name: string) => Ident
  /** Whether some key has no row that the caller sees. */
  readonly isMissing: Sql
}

export function foundRows(writer: Writer, root: WithSteps, step: ConnectStep & WriteStep): FoundRows {
  const scope = readFor(writer, step.entity, root)
  const [given, row, found] = [writer.alias('x'), writer.alias('s'), writer.alias('i')]
  const keys = step.by.map((_, index) => bare('k', index))
  const names = step.carried.map((_, index) => bare('c', index))
  const isThere = bare('f')
  const columns: readonly Column[] = [
    ...step.carried.map((name, index) => ({ value: scope.column(name), as: bare('c', index) })),
    { value: sql`true`, as: isThere },
  ]
  const one = select(columns, {
    from: [{ of: relationOf(scope.builder), alias: scope.alias }],
    where: [
      ...step.by.map(({ column }, index) => equal(scope, column, sql`${given}.${keys[index] ?? place}`)),
      ...ofKeyed(
        scope,
        step.by.map(({ column }) => column),
      ),
      ...ofMeant(scope, step.meant),
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
  return {
    cte: { name: found, materialized: true, of: rows },
    column: (name) => bare('c', step.carried.indexOf(name)),
    isMissing: sql`exists (select from ${found} where ${isThere} is null)`,
  }
}

/** Keys as rows of their columns' types, each with its place. */
export function givenRows(
  scope: Scope,
  by: readonly { readonly column: string; readonly array: Sql }[],
  alias: Ident,
  names: readonly Ident[],
): Sql {
  const arrays = by.map(({ column, array }) => applied(columnOf(scope.builder, column).operands, array))
  return sql`unnest(${joined(arrays, ', ')}) with ordinality as ${alias}(${joined([...names, place], ', ')})`
}
