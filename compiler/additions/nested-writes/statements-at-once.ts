import type { NestedInsert } from './plan-steps.ts'
import { bare } from '../../../runtime/sql/ident.ts'
import { object, toJson } from '../../../runtime/sql/json.ts'
import { joined, selectList, sql, type Cte, type SelectList, type Sql } from '../../../runtime/sql/tree.ts'
import type { Row } from '../../../runtime/graphql/plan/plan-nodes.ts'
import { carriedPairs, counter, keeping, type ReadCarried } from './statements-carried.ts'
import { foundRows, insertSql, isAnsweredByLast } from './statements-inserts.ts'
import { noSuchRow } from '../../../runtime/graphql/statements/reasons.ts'
import { readFor, seenOutside, type Scope, type Writer } from '../../../runtime/graphql/statements/source.ts'
import { answerJson, answerPairs, refusing } from '../../../runtime/graphql/statements/writes.ts'

/**
 * An insert with related rows as one statement (spec/graphql.md 17.6), if the owner's triggers and defaults cannot
 * distinguish it from several: a step reads its values from the RETURNING of another, and keys are checked after all
 * inserts.
 */

/** Whether no step depends on rows that another inserts. */
export const isAtOnce = ({ steps }: NestedInsert): boolean => {
  const inserted = steps.flatMap(({ kind, entity }) => (kind === 'insert' ? [entity] : []))
  return (
    new Set(inserted).size === inserted.length &&
    steps.every(
      (step) =>
        step.entity.selfContained === true &&
        step.onConflict === undefined &&
        (step.kind === 'insert'
          ? (step.presets ?? []).length === 0
          : step.kind === 'connect' && !inserted.includes(step.entity)),
    )
  )
}

/** Whether it also answers the field: the selections need no further reads. */
export const answersItself = (root: NestedInsert): boolean =>
  isAnsweredByLast(root) || root.members.every((member) => member.kind !== 'records' || isOwn(member.row))

const isOwn = ({ members }: Row): boolean => members.every(({ kind }) => ownMembers.has(kind))

const ownMembers: ReadonlySet<Row['members'][number]['kind']> = new Set(['typename', 'node-id', 'column', 'headline'])

/** The result of a step for others. */
interface Done {
  readonly cte: Cte
  readonly rows: Pick<Scope, 'alias' | 'column'>
  readonly isSingle: boolean
}

/** The statement of all steps. Its answer is ignored, unless it answers the field. */
export function atOnceStatement(writer: Writer, root: NestedInsert): SelectList {
  const done = new Map<number, Done>()
  const read: ReadCarried = (_, __, { step, column }, place, always) => {
    const { rows, isSingle } = found(done.get(step), step)
    return isSingle && always
      ? sql`(select ${rows.column(column)} from ${rows.alias})`
      : sql`(select array_agg(${rows.column(column)}) from ${rows.alias})[${place()}]`
  }
  const missing: Sql[] = []
  const inserted = new Map<number, Scope>()
  for (const step of root.steps) {
    if (step.kind === 'connect') {
      const { cte, column, isMissing } = foundRows(writer, root, step)
      missing.push(isMissing)
      done.set(step.id, { cte, rows: { alias: cte.name, column }, isSingle: false })
    } else if (step.kind === 'insert') {
      const inner = readFor(writer, step.entity, root)
      // If the statements of single steps would read columns, this one does, too: the same privileges and policies of
      // reading apply.
      const carried = step.carried.map((name) => inner.column(name))
      const otherwise = carried.length === 0 ? sql`1` : joined(carried, ', ')
      const { scope, outlet } = seenOutside(inner, writer.alias('i'), otherwise)
      const of = sql`(${insertSql(writer, root, inner, step, read)} returning ${outlet})`
      done.set(step.id, {
        cte: { name: scope.alias, materialized: false, of },
        rows: scope,
        isSingle: step.given === 1,
      })
      inserted.set(step.id, scope)
    }
  }
  const answer = answerOf(writer, root, found(inserted.get(root.own), root.own), [...inserted.values()])
  const checked = missing.reduceRight((then, isMissing) => refusing(isMissing, noSuchRow, then), answer)
  return selectList(
    [{ value: checked, as: bare('r') }],
    Array.from(done.values(), ({ cte }) => cte),
  )
}

function found<T>(one: T | undefined, step: number): T {
  if (one === undefined) throw new Error(`the step ${step} comes later`)
  return one
}

/** @param own the rows of the field itself, among those of all steps */
function answerOf(writer: Writer, root: NestedInsert, own: Scope, inserted: readonly Scope[]): Sql {
  const count = joined(
    inserted.map(({ alias }) => sql`(select count(*) from ${alias})`),
    ' + ',
  )
  if (isAnsweredByLast(root)) return toJson(object(answerPairs(root, count, [])))
  if (answersItself(root)) return answerJson(writer, root, own, { of: own.alias }, count)
  const counts = root.members.some(({ kind }) => kind === 'affectedCount')
  const keys = carriedPairs({ id: root.own, carried: root.entity.key }, own.alias, (name) => own.column(name))
  return keeping(true, [...keys, ...(counts ? [[counter, count] as const] : [])])
}
