import { objectId } from '../../runtime/contract/object-id.ts'
import type { FunctionFacts, ObjectId } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/types.ts'
import { gatherPresent, noted, type Noted } from '../report/noted.ts'
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

/**
 * The computed fields out of the functions that take a relation's row. Several may want one name: which of them has it
 * is for each role's view to say (2.4), and what is told of it is told with the other collisions.
 */
export const buildComputed = (
  context: ResultContext,
  functions: readonly AnnotatedFunction[],
): Noted<readonly Computed[]> => gatherPresent(functions.map((fn) => buildOne(context, fn)))

function buildOne(context: ResultContext, fn: AnnotatedFunction): Noted<Computed | null> {
  const judged = judge(context, fn)
  if (judged.kind === 'hidden') return noted(null, [tellHidden(fn, judged.reason)])
  const { field, result } = judged
  return noted({
    facts: computedFacts(fn, field, result),
    sql: { id: objectId(fn.schema, fn.name), schema: fn.schema, function: fn.name, json: result.json },
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
