import { bare } from '../../sql/ident.ts'
import { object, toJson } from '../../sql/json.ts'
import {
  applied,
  joined,
  select,
  selectList,
  sql,
  type Column,
  type Cte,
  type Ident,
  type SelectList,
  type Sql,
} from '../../sql/tree.ts'
import type { NestedInsert, PlacedStep, RelatedUpdate } from '../plan/plan-nodes.ts'
import type { ConnectStep, InsertStep, WriteStep } from '../plan/write-steps.ts'
import { carriedName, carriedPairs, counter, equal, fromSetting, keeping, writtenValues } from './carried.ts'
import { ofMeant } from './meant.ts'
import { insertSql } from './inserted.ts'
import { ofKeyed, columnOf, readFor, relationOf, seenOutside, type Scope, type Writer } from './source.ts'
import { valueParameter } from './parameters.ts'
import { noSuchRow, skippedRow } from './reasons.ts'
import { ownStatement, relatedStatement, updatedRow } from './related-changes.ts'
import { answerJson, answerPairs, refusing } from './writes.ts'

/**
 * Inserts with related rows (spec/graphql.md 17.6): a statement for each step, so that policies, triggers and defaults
 * of one see the rows of earlier ones, and a statement that answers. If no difference is observable, all of it is one
 * statement (at-once.ts).
 */

export type WithSteps = NestedInsert | RelatedUpdate

/** Whether no read is needed after the writes: the last step knows the number of rows. */
export const isAnsweredByLast = (root: WithSteps): boolean =>
  root.kind === 'insert-nested' && root.members.every(({ kind }) => kind !== 'records')

/** The statement of a step. Its answer is ignored, unless it answers the field. */
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
  const inner = readFor(writer, step.entity, root)
  const { scope, outlet } = seenOutside(inner, writer.alias('i'))
  const change = insertSql(writer, root, inner, step, fromSetting)
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

const place = bare('n')

export interface FoundRows {
  readonly cte: Cte
  /** The value of a column that other steps need. */
  readonly column: (name: string) => Ident
  /** Whether some key has no row that the caller sees. */
  readonly isMissing: Sql
}

/** Finds a row for each key, and refuses the field if the caller does not see one of them. */
function connectStatement(
  writer: Writer,
  root: WithSteps,
  step: ConnectStep & WriteStep,
  isFirst: boolean,
): SelectList {
  const { cte, column, isMissing } = foundRows(writer, root, step)
  const kept = keeping(isFirst, carriedPairs(step, cte.name, column))
  return selectList([{ value: refusing(isMissing, noSuchRow, kept), as: bare('r') }], [cte])
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
function givenRows(
  scope: Scope,
  by: readonly { readonly column: string; readonly array: Sql }[],
  alias: Ident,
  names: readonly Ident[],
): Sql {
  const arrays = by.map(({ column, array }) => applied(columnOf(scope.builder, column).operands, array))
  return sql`unnest(${joined(arrays, ', ')}) with ordinality as ${alias}(${joined([...names, place], ', ')})`
}

/** The statement that answers after all writes. */
export const answerStatement = (writer: Writer, root: WithSteps): SelectList =>
  root.kind === 'insert-nested' ? rowsStatement(writer, root) : updatedRow(writer, root)

/** The rows by their keys, in the order of the objects. */
function rowsStatement(writer: Writer, root: NestedInsert): SelectList {
  const inner = readFor(writer, root.entity, root)
  const { scope, outlet } = seenOutside(inner, writer.alias('i'))
  const given = writer.alias('x')
  const keys = root.entity.key.map((_, index) => bare('k', index))
  const arrays = root.entity.key.map((column) => ({
    column,
    array: sql`(${writtenValues} ->> ${carriedName({ step: root.own, column })})`,
  }))
  const isMeant = root.entity.key.map((column, index) => equal(inner, column, sql`${given}.${keys[index] ?? place}`))
  const source = sql`${givenRows(inner, arrays, given, keys)} join ${relationOf(inner.builder)} ${inner.alias} on ${joined(isMeant, ' and ')}`
  const of = sql`(select ${outlet}, ${given}.${place} from ${source})`
  const ordered = {
    of: select([{ value: sql`*` }], { from: [{ of: scope.alias }], orderBy: [place] }),
    alias: scope.alias,
  }
  const count = sql`(${writtenValues} ->> ${counter})::int8`
  const answer = answerJson(writer, root, scope, ordered, count)
  return selectList([{ value: answer, as: bare('r') }], [{ name: scope.alias, materialized: true, of }])
}
