import type { AnnotatedFunction } from '../comments/annotated.ts'
import type { ArgumentFacts, Diagnostic, FunctionFacts, ObjectId } from '../../runtime/contract/manifest.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { nameFunction } from '../catalog/diagnostics/object-name.ts'
import { deprecation } from './deprecation.ts'
import { functionField, isValidName } from './names.ts'
import { execution } from './privileges.ts'
import { readResult, type Result, type ResultContext } from './results.ts'
import { inflects } from './scope.ts'

/** Whether a function can be a field of the root or of a row, and of which kind. */
export type Judged =
  | { readonly kind: 'served'; readonly field: string; readonly result: Result }
  | { readonly kind: 'hidden'; readonly reason: string }

/**
 * Procedures, aggregates, window and variadic functions are not fields (spec/graphql.md 9.1), nor are functions without
 * a valid name.
 */
export function judge(context: ResultContext, fn: AnnotatedFunction): Judged {
  if (fn.kind !== 'f') return hidden('only plain functions are served')
  if (fn.variadic) return hidden('it is variadic')
  const result = readResult(context, fn)
  if (result === null) return hidden('its result has no counterpart in GraphQL')
  const field = functionField(fn.settings.name, fn.name, inflects(context.scope, fn.schema))
  if (!isValidName(field)) return hidden(`${JSON.stringify(field)} is no valid GraphQL name`)
  return { kind: 'served', field, result }
}

export const hidden = (reason: string): Extract<Judged, { kind: 'hidden' }> => ({ kind: 'hidden', reason })

/** The facts of a served function. */
export const functionFacts = (
  fn: AnnotatedFunction,
  id: ObjectId,
  { field, result }: Extract<Judged, { kind: 'served' }>,
  args: readonly ArgumentFacts[],
): FunctionFacts => ({
  id,
  schema: fn.schema,
  function: fn.name,
  field,
  description: fn.description,
  ...deprecation(fn.settings.deprecated),
  volatile: fn.volatility === 'v',
  args,
  result: result.facts,
  execute: execution(fn),
})

/** Functions of extensions are not reported: hundreds of them are not meant for the API. */
export const hiddenDiagnostics = (fn: AnnotatedFunction, reason: string): readonly Diagnostic[] =>
  fn.ofExtension !== undefined ? [] : [diagnose('function-hidden', nameFunction(fn), { reason })]
