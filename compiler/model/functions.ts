import type { Memo } from '../../runtime/lib/memo/memo.ts'
import { type Steps, groupBy } from '../../runtime/lib/steps.ts'
import type { Lookup } from '../../runtime/lib/memo/tables.ts'
import type { FunctionFacts, ObjectId, ResultFacts } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/annotated.ts'
import {
  collectFollowed,
  withDiagnostics,
  type WithDiagnostics,
  collectPresent,
} from '../catalog/diagnostics/diagnostics.ts'
import {
  readArguments,
  reservedProblem,
  type Arguments,
  functionFacts,
  hidden,
  judge,
  type Judged,
  hiddenDiagnostics,
  functionId,
  isDistinguished,
  isPseudo,
  resultContext,
  type FunctionScope,
  type Result,
  type ResultContext,
  type FunctionIdentity,
} from './signatures.ts'
import type { CallSql, EntitySql } from './model.ts'
import { nameFunction } from '../catalog/catalog.ts'
import type { ModelScope } from './scope.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import { nodeIdField, nodeIdDiagnostic } from './columns.ts'
import { additionsOfFunction, lookThrough, orderSql, servesShapes, sqlType } from './scalars.ts'

/** A function that is a field of Query or Mutation. */
export interface RootFunction {
  readonly facts: FunctionFacts
  readonly sql: CallSql
}

/** Schemas of infrastructure, not of an API (spec/graphql.md 9.1.1). */
const systemSchemas: ReadonlySet<string> = new Set(['graphql', 'graphql_public', 'auth', 'extensions'])

interface RootScope extends FunctionScope {
  readonly namesakes: Lookup<readonly PlacedFunction[]>
}

const functionIn = ({ value }: WithDiagnostics<RootFunction | null>): RootFunction | null => value

/** The root functions (spec/graphql.md 9.1), in the order of the list. Trigger functions are skipped silently. */
export function* buildFunctions(
  memo: Memo,
  scope: FunctionScope,
  functions: readonly PlacedFunction[],
): Steps<WithDiagnostics<readonly RootFunction[]>> {
  const namesakes = yield* memo.groups(sqlNames, functions)
  const list = yield* memo.each(rootFunction, functions, { ...scope, namesakes })
  return collectFollowed(memo, list, yield* memo.map(functionIn, list))
}

const sqlNames = ({ fn }: PlacedFunction): readonly string[] => [fn.name]

const notOfRoot: WithDiagnostics<null> = withDiagnostics(null)

function rootFunction({ fn, row }: PlacedFunction, scope: RootScope): WithDiagnostics<RootFunction | null> {
  const context = resultContext(scope)
  if (row !== undefined || isTrigger(context, fn)) return notOfRoot
  const others = (scope.namesakes.get(fn.name) ?? []).flatMap((one) => (one.fn === fn ? [] : [one.fn]))
  return buildFunction(context, fn, others)
}

const isTrigger = ({ scope }: ResultContext, fn: AnnotatedFunction): boolean =>
  isPseudo(scope, fn, 'trigger') || isPseudo(scope, fn, 'event_trigger')

function buildFunction(
  context: ResultContext,
  fn: AnnotatedFunction,
  namesakes: readonly AnnotatedFunction[],
): WithDiagnostics<RootFunction | null> {
  const overloaded = namesakes.length > 0
  const overloads = namesakes.filter(({ schema }) => schema === fn.schema)
  const args = readArguments(context, fn, 0, overloads)
  const judged = judgeRoot(context, fn, args, overloaded)
  if (judged.kind === 'hidden') return withDiagnostics(null, hiddenDiagnostics(fn, judged.reason))
  const id = functionId(fn, overloaded)
  const { facts, sql } = judged.args
  return withDiagnostics({
    facts: functionFacts(fn, id, judged, facts),
    sql: { id, schema: fn.schema, function: fn.name, args: sql, ...sqlResult(judged.result) },
  })
}

const sqlResult = ({ json, attributes }: Result): Pick<CallSql, 'json' | 'attributes'> => ({
  json,
  ...(attributes && { attributes }),
})

type Served = Extract<Judged, { kind: 'served' }> & { readonly args: Extract<Arguments, { kind: 'served' }> }

function judgeRoot(
  context: ResultContext,
  fn: AnnotatedFunction,
  args: Arguments,
  overloaded: boolean,
): Served | ReturnType<typeof hidden> {
  if (systemSchemas.has(fn.schema)) return hidden('its schema is not meant for the API')
  if (overloaded && !isDistinguished(context.scope, fn)) {
    return hidden('the served schemas hold another function of its name')
  }
  const judged = judge(context, fn)
  if (judged.kind === 'hidden') return judged
  const { facts } = judged.result
  if ((facts.kind === 'row' || facts.kind === 'set') && !hasKey(context, facts.entity)) {
    return hidden('it answers rows of a relation without a key')
  }
  if (args.kind === 'hidden') return hidden(args.reason)
  const reason = reservedProblem(context, facts, args)
  return reason === null ? { ...judged, args } : hidden(reason)
}

const hasKey = ({ namedRelations }: ResultContext, entity: ObjectId): boolean =>
  (namedRelations.get(entity)?.key.length ?? 0) > 0

/** The owner's name of a function, by the row of a computed field (null: none) and the id of its facts. */
export type FunctionNames = (row: ObjectId | null, id: ObjectId) => string

/** Facts lack the SQL argument types, which are part of its name. */
export function functionNames(scope: ModelScope, functions: readonly AnnotatedFunction[]): FunctionNames {
  const key = (row: ObjectId | null, id: ObjectId): string => JSON.stringify([row, id])
  const names = new Map(
    functions.flatMap((fn) => {
      const row = rowArgument(scope, fn) ?? null
      return functionIdentities(fn).map((id) => [key(row, id), nameFunction(fn)] as const)
    }),
  )
  return (row, id) => names.get(key(row, id)) ?? id
}

/** The possible ids of its facts: they depend on whether other functions have its name. */
export const functionIdentities = (fn: FunctionIdentity): readonly ObjectId[] => [
  functionId(fn, true),
  functionId(fn, false),
]

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
