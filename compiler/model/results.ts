import type { ObjectId, ResultFacts } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/annotated.ts'
import type { Lookup } from '../../runtime/lib/memo/tables.ts'
import { attributesOf } from './composites.ts'
import type { NamedRelation } from './named-relations.ts'
import { additionsOfFunction, isPlainOrList, readValues, typeFacts, type Values, type ValueScope } from './scalars.ts'
import type { ModelScope } from './scope.ts'
import type { AttributeSql, JsonForm } from './model.ts'

/** The result of a function, and its conversion to JSON. */
export interface Result {
  readonly facts: ResultFacts
  readonly json: JsonForm
  /** Of a composite. */
  readonly attributes?: readonly AttributeSql[]
}

/** The lookups of functions. */
export interface FunctionScope extends ValueScope {
  readonly namedRelations: Lookup<NamedRelation>
}

export interface ResultContext {
  readonly scope: FunctionScope
  readonly values: Values
  readonly namedRelations: Lookup<NamedRelation>
}

export const resultContext = (scope: FunctionScope): ResultContext => ({
  scope,
  values: readValues(scope),
  namedRelations: scope.namedRelations,
})

const native: JsonForm = { kind: 'native' }

/** A set that promises one row is not a set (spec/graphql.md 9.1.6). */
const isSet = (fn: AnnotatedFunction): boolean => fn.returnsSet && fn.rows !== 1

/**
 * The result of a function (spec/graphql.md 9.1.5, 9.1.6), or null if it is not supported: enums, composites, arrays of
 * either, pseudo-types except void, sets of anything but rows, `returns table (...)`, rows of a type that is not in the
 * API.
 */
export function readResult(context: ResultContext, fn: AnnotatedFunction): Result | null {
  if (fn.returnsSet && fn.hasOutColumns) return null
  const entity = context.scope.rowTypes.get(fn.result)
  if (entity !== undefined) return rowResult(context, fn, entity)
  return isSet(fn) ? null : valueResult(context, fn)
}

const rowResult = ({ namedRelations }: ResultContext, fn: AnnotatedFunction, entity: ObjectId): Result | null =>
  namedRelations.get(entity) !== undefined ? { facts: { kind: isSet(fn) ? 'set' : 'row', entity }, json: native } : null

function valueResult({ scope, values }: ResultContext, fn: AnnotatedFunction): Result | null {
  if (isPseudo(scope, fn, 'void')) return fn.returnsSet ? null : { facts: { kind: 'void' }, json: native }
  const asked = additionsOfFunction(scope, fn)
  const value = values(fn.result, asked)
  if (value === null || !(value.type.kind === 'composite' || isPlainOrList(scope, fn.result, asked))) return null
  return {
    facts: { kind: 'value', ...typeFacts(value) },
    json: valueForm(fn, value.json),
    ...attributesOf(scope, values, fn.result, asked),
  }
}

/** Only sets of one value occur here; in a select list each of their values would make a row, and an empty set none. */
const valueForm = (fn: AnnotatedFunction, json: JsonForm): JsonForm =>
  json.kind === 'mapped' ? { kind: 'once', of: json } : fn.returnsSet ? { kind: 'only', of: json } : json

/** Whether the function's result is the pseudo-type of this name. */
export function isPseudo(scope: ModelScope, fn: AnnotatedFunction, name: string): boolean {
  const type = scope.types.get(fn.result)
  return type?.kind === 'p' && type.schema === 'pg_catalog' && type.name === name
}
