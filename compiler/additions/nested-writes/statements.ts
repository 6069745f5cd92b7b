import type { Root } from '../../../runtime/graphql/plan/plan-nodes.ts'
import { valueParameter } from '../../../runtime/graphql/statements/parameters.ts'
import { noSuchRow, skippedRow } from '../../../runtime/graphql/statements/reasons.ts'
import { readFor, relationOf, seenOutside, type Writer } from '../../../runtime/graphql/statements/source.ts'
import type { WrittenRoot } from '../../../runtime/graphql/statements/statements.ts'
import { answerJson, answerPairs, refusing } from '../../../runtime/graphql/statements/writes.ts'
import { bare } from '../../../runtime/sql/ident.ts'
import { object, toJson } from '../../../runtime/sql/json.ts'
import { joined, select, selectList, sql, type Cte, type SelectList } from '../../../runtime/sql/tree.ts'
import type { ConnectStep, InsertStep, NestedInsert, PlacedStep, WriteStep } from './plan-steps.ts'
import { answersItself, atOnceStatement, isAtOnce } from './statements-at-once.ts'
import { carriedName, carriedPairs, counter, equal, fromSetting, keeping, writtenValues } from './statements-carried.ts'
import { foundRows, givenRows, insertSql, isAnsweredByLast, place, type WithSteps } from './statements-inserts.ts'
import { ownStatement, relatedStatement, updatedRow } from './statements-updates.ts'

/**
 * Inserts with related rows (spec/graphql.md 17.6): a statement for each step, so that policies, triggers and defaults
 * of one see the rows of earlier ones, and a statement that answers. If no difference is observable, all of it is one
 * statement (statements-at-once.ts).
 */

/** The statement of a step. Its answer is ignored, unless it answers the field. */
function stepStatement(writer: Writer, root: WithSteps, place: number): SelectList {
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

/** The statement that answers after all writes. */
const answerStatement = (writer: Writer, root: WithSteps): SelectList =>
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

/** A statement for each step, or fewer where nothing can distinguish them. */
export function writeRoot(root: Root): WrittenRoot | null {
  if (root.kind !== 'insert-nested' && root.kind !== 'update-related') return null
  const about = root.steps.map(({ argument }) => argument)
  const each = root.steps.map((_, place) => (writer: Writer) => stepStatement(writer, root, place))
  const answer = (writer: Writer): SelectList => answerStatement(writer, root)
  const steps = isAnsweredByLast(root)
    ? { statements: each, about }
    : { statements: [...each, answer], about: [...about, undefined] }
  if (root.kind === 'update-related' || !isAtOnce(root)) return { steps }
  const own = root.steps.find(({ id }) => id === root.own)?.argument
  const all = (writer: Writer): SelectList => atOnceStatement(writer, root)
  const whole = answersItself(root)
    ? { statements: [all], about: [own], several: true as const }
    : { statements: [all, answer], about: [own, undefined], several: true as const }
  return { steps, whole }
}
