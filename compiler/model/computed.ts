import { groupBy } from '../../runtime/lib/steps.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { FunctionFacts, ObjectId, ResultFacts } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/annotated.ts'
import { collectPresent, withDiagnostics, type WithDiagnostics } from '../catalog/diagnostics/diagnostics.ts'
import { nameFunction } from '../catalog/catalog.ts'
import {
  readArguments,
  reservedProblem,
  functionFacts,
  judge,
  hiddenDiagnostics,
  functionId,
  type Result,
  type ResultContext,
} from './signatures.ts'
import { nodeIdField, nodeIdDiagnostic } from './columns.ts'
import { additionsOfFunction, lookThrough, orderSql, servesShapes, sqlType } from './scalars.ts'
import type { ModelScope } from './scope.ts'
import type { EntitySql } from './model.ts'

declare module './scope.ts' {
  interface ValueReading {
    /** Whether a computed field has a filter. */
    readonly filters?: (scope: ModelScope, fn: AnnotatedFunction, result: ResultFacts) => boolean
  }
}

/** A function of a row: a field of that row's type (spec/graphql.md 9.4). */
export interface Computed {
  readonly facts: FunctionFacts
  readonly sql: EntitySql['computed'][number]
}

/**
 * The served relation whose row is the function's only argument, or with further shapes its first one; such a
 * function is never a root field.
 */
export function rowArgument(scope: ModelScope, fn: AnnotatedFunction): ObjectId | undefined {
  const [first, ...others] = fn.args
  if (first === undefined || (others.length > 0 && !servesShapes(additionsOfFunction(scope, fn)))) return undefined
  return others.some(({ type }) => scope.rowTypes.get(type) !== undefined) ? undefined : scope.rowTypes.get(first.type)
}

export interface PlacedFunction {
  readonly fn: AnnotatedFunction
  /** Undefined: no row argument, so that it is a root field if any. */
  readonly row: ObjectId | undefined
}

export const placedFunction = (fn: AnnotatedFunction, scope: ModelScope): PlacedFunction => ({
  fn,
  row: rowArgument(scope, fn),
})

/**
 * The computed fields among the functions with a row argument. Several may claim one name: each role's view decides
 * (spec/graphql.md 2.4), and the other collisions are reported with it.
 */
export function buildComputed(
  context: ResultContext,
  functions: readonly AnnotatedFunction[],
): WithDiagnostics<readonly Computed[]> {
  const variants = groupBy(functions, ({ schema, name }) => objectId(schema, name))
  const overloadsOf = (fn: AnnotatedFunction): readonly AnnotatedFunction[] =>
    (variants.get(objectId(fn.schema, fn.name)) ?? []).filter((other) => other !== fn)
  return collectPresent(functions.map((fn) => buildOne(context, fn, overloadsOf(fn))))
}

function buildOne(
  context: ResultContext,
  fn: AnnotatedFunction,
  overloads: readonly AnnotatedFunction[],
): WithDiagnostics<Computed | null> {
  const id = functionId(fn, overloads.length > 0)
  const judged = judge(context, fn)
  if (judged.kind === 'hidden') return withDiagnostics(null, hiddenDiagnostics(fn, judged.reason))
  if (judged.field === nodeIdField)
    return withDiagnostics(null, [nodeIdDiagnostic(nameFunction(fn), 'it is no field of the row')])
  const args = readArguments(context, fn, 1, overloads)
  if (args.kind === 'hidden') return withDiagnostics(null, hiddenDiagnostics(fn, args.reason))
  const { result } = judged
  const problem = reservedProblem(context, result.facts, args)
  if (problem !== null) return withDiagnostics(null, hiddenDiagnostics(fn, problem))
  const filter = isFiltered(context, fn, result) ? filterType(context, fn) : null
  return withDiagnostics({
    facts: { ...functionFacts(fn, id, judged, args.facts), ...(filter && { filter: true as const }) },
    sql: {
      id,
      schema: fn.schema,
      function: fn.name,
      json: result.json,
      ...(result.attributes && { attributes: result.attributes }),
      ...(args.sql.length > 0 && { args: args.sql }),
      ...(filter && { filter }),
    },
  })
}

const isFiltered = ({ scope }: ResultContext, fn: AnnotatedFunction, { facts }: Result): boolean =>
  additionsOfFunction(scope, fn).readings.some(({ filters }) => filters?.(scope, fn, facts))

const filterType = ({ scope }: ResultContext, fn: AnnotatedFunction): Computed['sql']['filter'] => {
  const asked = additionsOfFunction(scope, fn)
  const type = lookThrough(scope, fn.result, asked)
  const texts = sqlType(scope, fn.result, asked)
  return type && { type: type.text, ...texts, ...(texts.geo === undefined && orderSql(scope, fn.result)) }
}
