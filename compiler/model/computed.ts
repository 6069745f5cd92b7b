import { objectId } from '../../runtime/contract/object-id.ts'
import type { FunctionFacts, ObjectId } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/types.ts'
import type { Diagnostic } from '../report/diagnostic.ts'
import { diagnose } from '../report/diagnostics.ts'
import { gatherPresent, noted, type Noted } from '../report/noted.ts'
import { nameFunction } from '../report/object-name.ts'
import { judge, tellHidden } from './judge.ts'
import { execution } from './privileges.ts'
import type { Result, ResultContext } from './results.ts'
import type { Scope } from './scope.ts'
import type { EntitySql } from './types.ts'

/** A function of a row: a field of that row's type (spec/graphql.md 9.4). */
export interface Computed {
  readonly facts: FunctionFacts
  readonly sql: EntitySql['computed'][number]
}

/** The served relation whose row is the function's one argument; such a function is never a root field. */
export function rowArgument(scope: Scope, fn: AnnotatedFunction): ObjectId | undefined {
  const [first] = fn.args
  return fn.args.length === 1 && first !== undefined ? scope.rowTypes.get(first.type) : undefined
}

/** The computed fields of `type` out of the functions that take its row; of two with one name the last stays (2.4). */
export function buildComputed(
  context: ResultContext,
  type: string,
  functions: readonly AnnotatedFunction[],
): Noted<readonly Computed[]> {
  const built = gatherPresent(functions.map((fn) => buildOne(context, fn)))
  const lasts = new Map(built.value.map((computed) => [computed.facts.field, computed]))
  const losers = built.value.filter((computed) => lasts.get(computed.facts.field) !== computed)
  return noted(
    built.value.filter((computed) => lasts.get(computed.facts.field) === computed),
    [...built.diagnostics, ...losers.map(({ facts }) => tellTaken(facts, type))],
  )
}

const tellTaken = (facts: FunctionFacts, type: string): Diagnostic =>
  diagnose('field-taken', nameFunction(facts.schema, facts.function), {
    field: facts.field,
    type,
    winner: 'another function of the same row',
  })

function buildOne(context: ResultContext, fn: AnnotatedFunction): Noted<Computed | null> {
  const judged = judge(context, fn)
  if (judged.kind === 'hidden') return noted(null, [tellHidden(fn, judged.reason)])
  const { field, result } = judged
  return noted({
    facts: computedFacts(fn, field, result),
    sql: { field, schema: fn.schema, function: fn.name, json: result.json },
  })
}

const computedFacts = (fn: AnnotatedFunction, field: string, result: Result): FunctionFacts => ({
  id: objectId(fn.schema, fn.name),
  schema: fn.schema,
  function: fn.name,
  field,
  description: fn.description,
  volatile: fn.volatility === 'v',
  args: [],
  result: result.facts,
  execute: execution(fn),
})
