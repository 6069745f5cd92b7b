import { bare, ident } from '../../sql/ident.ts'
import { applied, joined, select, sql, trusted, type Cte, type Ident, type Sql } from '../../sql/tree.ts'
import type { RowSets } from '../plan/column-changes.ts'
import { valueParameter } from './parameters.ts'
import { presetValue } from './set.ts'
import { columnOf, type Scope } from './source.ts'

/** Rows by keys, each with values of its own (spec/graphql.md 17.4, 17.6). */

const place = bare('n')

interface Given {
  /** The objects as rows of their columns' types, each with its place. */
  readonly cte: Cte
  readonly set: readonly Sql[]
  readonly isMeant: readonly Sql[]
  readonly hasTwins: Sql
}

/** Objects with a key each, and the new values of the rows with these keys. */
export function givenRows(target: Scope, { by, set, presets = [] }: RowSets, row: Ident): Given {
  const record = bare('r')
  const cells = [...by, ...set].map(({ column, values }, index): Cell => {
    const as = bare('c', index)
    const { operand, operands, recordType, spatial } = columnOf(target.builder, column)
    const parameter = valueParameter(values)
    const read = sql`${record}.${as}`
    // An array of arrays would be multidimensional, and GeoJSON values are read one by one.
    const isText = recordType.endsWith('[]') || spatial !== undefined
    return isText
      ? { as, source: sql`${parameter}::text[]`, value: applied(operand, read) }
      : { as, source: applied(operands, parameter), value: read }
  })
  const perRow = set.flatMap(({ given }, index): readonly Cell[] => {
    const as = bare('p', index)
    return given === null ? [] : [{ as, source: sql`${valueParameter(given)}::bool[]`, value: sql`${record}.${as}` }]
  })
  const all = [...cells, ...perRow]
  const names = [...all.map(({ as }) => as), place]
  const sources = joined(
    all.map(({ source }) => source),
    ', ',
  )
  const of = select([...all, { as: place, value: sql`${record}.${place}` }], {
    from: [{ of: sql`unnest(${sources}) with ordinality as ${record}(${joined(names, ', ')})` }],
  })
  const keys = by.map((_, index) => sql`${row}.${bare('c', index)}`)
  const key = keys.length === 1 ? joined(keys, ', ') : sql`(${joined(keys, ', ')})`
  const changes = set.map(({ column, given }, index) => {
    const value = sql`${row}.${bare('c', by.length + index)}`
    const kept = sql`case when ${row}.${bare('p', index)} then ${value} else ${target.column(column)} end`
    return sql`${ident(column)} = ${given === null ? value : kept}`
  })
  return {
    cte: { name: row, materialized: false, of },
    set: [...changes, ...presets.map((one) => sql`${ident(one.column)} = ${presetValue(target, one)}`)],
    isMeant: by.map(({ column }, index) => {
      const equals = trusted(columnOf(target.builder, column).order?.['='] ?? '=')
      return sql`${target.column(column)} ${equals} ${keys[index] ?? sql`null`}`
    }),
    hasTwins: sql`(select count(${key}) > count(distinct ${key}) from ${row})`,
  }
}

interface Cell {
  readonly as: Ident
  /** The array with one element per object. */
  readonly source: Sql
  /** An element as a value of its column's type. */
  readonly value: Sql
}
