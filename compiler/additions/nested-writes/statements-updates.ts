import { bare, ident } from '../../../runtime/sql/ident.ts'
import { toJson } from '../../../runtime/sql/json.ts'
import { joined, selectList, sql, type Cte, type SelectList, type Sql } from '../../../runtime/sql/tree.ts'
import type { CarriedColumn, OwnStep, PlacedStep, RelatedStep, RelatedUpdate } from './plan-steps.ts'
import { carriedPairs, equal, keeping, carriedValues, referring } from './statements-carried.ts'
import { givenRows } from '../../../runtime/graphql/statements/changes.ts'
import { keyEquals } from '../../../runtime/graphql/statements/filter.ts'
import {
  ofKeyed,
  readFor,
  relationOf,
  seenOutside,
  type Part,
  type Scope,
  type Writer,
} from '../../../runtime/graphql/statements/source.ts'
import { valueParameter } from '../../../runtime/graphql/statements/parameters.ts'
import { noRelatedRow, noRowToUpdate, noSuchRow, sameKeyTwice } from '../../../runtime/graphql/statements/reasons.ts'
import { rowFrom } from '../../../runtime/graphql/statements/rows.ts'
import { settings } from '../../../runtime/graphql/statements/set.ts'
import { refusing } from '../../../runtime/graphql/statements/writes.ts'

/** An update by key with related rows (spec/graphql.md 17.6): as for inserts, a statement for each step. */

/** The value of a row of a step; the first row if no place is given. */
const valueOf = (scope: Scope, here: string, from: CarriedColumn & { readonly place?: number }): Sql =>
  sql`${carriedValues(scope, here, from)}[${from.place ?? 1}]`

interface Link {
  readonly column: string
  readonly from: (CarriedColumn & { readonly place?: number }) | null
}

const linked = (scope: Scope, links: readonly Link[]): readonly Sql[] =>
  links.map(
    ({ column, from }) =>
      sql`${ident(column)} = ${from === null ? sql`null` : referring(scope, column, [valueOf(scope, column, from)])}`,
  )

/** The row of the field: it is changed, or found and locked against concurrent changes. */
export function ownStatement(writer: Writer, root: Part, step: OwnStep & PlacedStep, isFirst: boolean): SelectList {
  const inner = readFor(writer, step.entity, root)
  const { scope, outlet } = seenOutside(inner, writer.alias('i'))
  const [relation, where] = [relationOf(inner.builder), keyEquals(step.by, step.values)(inner)]
  const set = [...settings(inner, step.set), ...linked(inner, step.links)]
  const of =
    set.length === 0
      ? sql`(select ${outlet} from ${relation} ${inner.alias} where ${where} for no key update)`
      : sql`(update ${relation} ${inner.alias} set ${joined(set, ', ')} where ${where} returning ${outlet})`
  const kept = keeping(
    isFirst,
    carriedPairs(step, scope.alias, (name) => scope.column(name)),
  )
  const checked = refusing(sql`not exists (select from ${scope.alias})`, noRowToUpdate, kept)
  return selectList([{ value: checked, as: bare('r') }], [{ name: scope.alias, materialized: false, of }])
}

/** Rows that are related to it. Each named row must exist. */
export function relatedStatement(writer: Writer, root: Part, step: RelatedStep & PlacedStep): SelectList {
  const scope = readFor(writer, step.entity, root)
  const changed = writer.alias('i')
  const given = step.rows === null ? null : givenRows(scope, step.rows, writer.alias('x'))
  const where = [
    ...(given?.isMeant ?? []),
    ...step.belonging.map(({ column, from }) => equal(scope, column, valueOf(scope, column, from))),
    ...ofKeyed(
      scope,
      [...(step.rows?.by ?? []), ...step.belonging].map(({ column }) => column),
    ),
  ]
  const relation = relationOf(scope.builder)
  const condition = sql`where ${joined(where, ' and ')} returning 1`
  const set = [...(given?.set ?? []), ...settings(scope, step.set ?? []), ...linked(scope, step.links)]
  const of =
    step.set === null
      ? sql`(delete from ${relation} ${scope.alias}${given === null ? sql`` : sql` using ${given.cte.name}`} ${condition})`
      : sql`(update ${relation} ${scope.alias} set ${joined(set, ', ')}${given === null ? sql`` : sql` from ${given.cte.name}`} ${condition})`
  const ctes: readonly Cte[] = [...(given === null ? [] : [given.cte]), { name: changed, materialized: false, of }]
  const named = typeof step.given === 'number' ? sql`${step.given}` : sql`${valueParameter(step.given)}::int8`
  const isMissing = sql`(select count(*) from ${changed}) <> ${named}`
  const message = step.belonging.length === 0 ? noSuchRow : noRelatedRow
  const checked = refusing(isMissing, message, sql`'null'::json`)
  const value = given === null ? checked : refusing(given.hasTwins, sameKeyTwice, checked)
  return selectList([{ value, as: bare('r') }], ctes)
}

export function updatedRow(writer: Writer, root: RelatedUpdate): SelectList {
  const value = rowFrom(writer, root.row, (scope) => ({
    of: relationOf(scope.builder),
    where: root.entity.key.map((column) => equal(scope, column, valueOf(scope, column, { step: root.own, column }))),
    found: scope,
  }))
  return selectList([{ value: toJson(value), as: bare('r') }])
}
