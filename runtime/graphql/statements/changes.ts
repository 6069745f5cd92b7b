import { bare, ident } from '../../sql/ident.ts'
import { object, toJson } from '../../sql/json.ts'
import {
  applied,
  joined,
  select,
  selectList,
  sql,
  type Cte,
  type From,
  type Ident,
  type SelectList,
  trusted,
  type Sql,
} from '../../sql/tree.ts'
import type { RowSets } from '../plan/column-changes.ts'
import type { RowChange, UpdateRows } from '../plan/plan-nodes.ts'
import { ofMeant } from './meant.ts'
import { keyEquals } from './filter.ts'
import { ofKeyed, columnOf, readFor, relationOf, seenOutside, type Scope, type Writer } from './source.ts'
import { valueParameter } from './parameters.ts'
import { sameKeyTwice } from './reasons.ts'
import { presetValue, setSql } from './set.ts'
import { ofTenant, withKey } from './tenants.ts'
import { answerJson, guarded, moreThan, refusing } from './writes.ts'

/** The fields of `updates` (spec/graphql.md 17.4); change and answer are one statement, as in writes.ts. */

/**
 * One row by a key; null if it does not exist. The answer comes from RETURNING: the condition has read the key, so that
 * select policies hold for any selection.
 */
export function rowStatement(writer: Writer, root: RowChange): SelectList {
  const inner = readFor(writer, root.entity, root)
  const changed = writer.alias('i')
  const [relation, answer] = [relationOf(inner.builder), bare('a')]
  const change =
    root.set.length > 0
      ? sql`update ${relation} ${inner.alias} set ${setSql(inner, root.set)}`
      : sql`delete from ${relation} ${inner.alias}`
  const json = toJson(writer.row(writer, root.row, withKey(inner, root.by, root.values), object))
  const where = joined(
    [
      keyEquals(root.by, root.values)(inner),
      ...ofKeyed(inner, root.by),
      ...ofMeant(inner, root.meant),
      ...ofTenant(inner),
    ],
    ' and ',
  )
  const of = sql`(${change} where ${where} returning ${json} as ${answer})`
  const found = select([{ value: answer }], { from: [{ of: changed }] })
  const checked = root.unique ? found : refusing(moreThan(changed, sql`1`), tooMany(root), found)
  return selectList([{ value: checked, as: bare('r') }], [{ name: changed, materialized: false, of }])
}

const tooMany = ({ kind }: RowChange): string =>
  `${kind === 'update-row' ? 'update' : 'delete'} impacts too many records`

const place = bare('n')

export function rowsStatement(writer: Writer, root: UpdateRows): SelectList {
  const inner = readFor(writer, root.entity, root)
  const given = givenRows(inner, root, writer.alias('x'))
  const { scope, outlet } = seenOutside(inner, writer.alias('i'))
  const ordered: From = {
    of: select([{ value: sql`*` }], { from: [{ of: scope.alias }], orderBy: [place] }),
    alias: scope.alias,
  }
  const answer = guarded(root, scope, answerJson(writer, root, scope, ordered))
  const checked = refusing(given.hasTwins, sameKeyTwice, answer)
  const where = joined([...given.isMeant, ...ofMeant(inner, root.meant), ...ofTenant(inner)], ' and ')
  const change = sql`update ${relationOf(inner.builder)} ${inner.alias} set ${joined(given.set, ', ')} from ${given.cte.name} where ${where}`
  const of = sql`(${change} returning ${outlet}, ${given.cte.name}.${place})`
  const changed: Cte = { name: scope.alias, materialized: false, of }
  return selectList([{ value: checked, as: bare('r') }], [given.cte, changed])
}

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
