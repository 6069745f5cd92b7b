import { groupBy } from '../../runtime/lib/group-by.ts'
import { objectId } from '../../runtime/contract/object-id.ts'
import type { ArgumentFacts, FunctionFacts, ObjectId } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/types.ts'
import { gatherPresent, noted, type Noted } from '../report/noted.ts'
import { rowArgument } from './computed.ts'
import { readDefaults } from './defaults.ts'
import { hidden, judge, type Judged, tellHidden } from './judge.ts'
import { argumentField, isValidName } from './names.ts'
import { execution } from './privileges.ts'
import { isPseudo, type ResultContext } from './results.ts'
import { askedBy, isPlainOrList } from './scalars.ts'
import { inflects } from './scope.ts'
import { sqlType } from './sql-types.ts'
import { tableAdditions } from './table-additions.ts'
import type { CallSql } from './types.ts'

/** A function that is a field of Query or Mutation. */
export interface RootFunction {
  readonly facts: FunctionFacts
  readonly sql: CallSql
}

/** Schemas that hold machinery, not an API (spec/graphql.md 9.1.1). */
const systemSchemas: ReadonlySet<string> = new Set(['graphql', 'graphql_public', 'auth', 'extensions'])

/** Arguments that a connection has itself (2.5). */
const connectionArguments: ReadonlySet<string> = new Set([
  'first',
  'last',
  'before',
  'after',
  'offset',
  'filter',
  'orderBy',
])

/** The root functions (spec/graphql.md 9.1), in the order of the list. Trigger functions are passed over in silence. */
export function buildFunctions(
  context: ResultContext,
  functions: readonly AnnotatedFunction[],
): Noted<readonly RootFunction[]> {
  const variants = groupBy(functions, (fn) => fn.name)
  const isOverloaded = (fn: AnnotatedFunction): boolean => (variants.get(fn.name)?.length ?? 0) > 1
  return gatherPresent(
    functions
      .filter((fn) => rowArgument(context.scope, fn) === undefined && !isTrigger(context, fn))
      .map((fn) => buildFunction(context, fn, isOverloaded(fn))),
  )
}

const isTrigger = ({ scope }: ResultContext, fn: AnnotatedFunction): boolean =>
  isPseudo(scope, fn, 'trigger') || isPseudo(scope, fn, 'event_trigger')

function buildFunction(context: ResultContext, fn: AnnotatedFunction, overloaded: boolean): Noted<RootFunction | null> {
  const args = fn.args.map((arg) => argumentField(arg.name, inflects(context.scope, fn.schema)))
  const judged = judgeRoot(context, fn, args, overloaded)
  if (judged.kind === 'hidden') return noted(null, [tellHidden(fn, judged.reason)])
  const id = objectId(fn.schema, fn.name)
  return noted({
    facts: {
      id,
      schema: fn.schema,
      function: fn.name,
      field: judged.field,
      description: fn.description,
      volatile: fn.volatility === 'v',
      args: argumentFacts(context, fn, args),
      result: judged.result.facts,
      execute: execution(fn),
    },
    sql: callSql(context, fn, id, args, judged.result.json),
  })
}

function judgeRoot(
  context: ResultContext,
  fn: AnnotatedFunction,
  args: readonly string[],
  overloaded: boolean,
): Judged {
  if (systemSchemas.has(fn.schema)) return hidden('its schema is not meant for the API')
  if (overloaded) return hidden('the served schemas hold another function of its name')
  const judged = judge(context, fn)
  if (judged.kind === 'hidden') return judged
  const { facts } = judged.result
  if ((facts.kind === 'row' || facts.kind === 'set') && !hasKey(context, facts.entity)) {
    return hidden('it answers rows of a relation without a key')
  }
  const reason = argumentsProblem(context, fn, args) ?? (facts.kind === 'set' ? reservedProblem(args, reservedBy(context, facts.entity)) : null)
  return reason === null ? judged : hidden(reason)
}

const hasKey = ({ heads }: ResultContext, entity: ObjectId): boolean => (heads.get(entity)?.key.length ?? 0) > 0

function argumentsProblem({ scope }: ResultContext, fn: AnnotatedFunction, args: readonly string[]): string | null {
  if (fn.args.some((arg) => arg.name === '')) return 'it has an argument without a name'
  const unmapped = fn.args.find((arg) => !isPlainOrList(scope, arg.type, askedBy(scope, fn.schema)))
  if (unmapped !== undefined) return `its argument ${JSON.stringify(unmapped.name)} is of no plain type`
  const unusable = args.find((arg) => !isValidName(arg))
  if (unusable !== undefined) return `its argument ${JSON.stringify(unusable)} has no valid GraphQL name`
  return new Set(args).size < args.length ? 'two of its arguments have the same GraphQL name' : null
}

/** Arguments that the connection of a relation has besides. */
function reservedBy({ heads }: ResultContext, entity: ObjectId): readonly string[] {
  const head = heads.get(entity)
  return head !== undefined && tableAdditions(head.relation, head.schema).distinctOn === true ? ['distinctOn'] : []
}

function reservedProblem(args: readonly string[], others: readonly string[]): string | null {
  const reserved = args.find((arg) => connectionArguments.has(arg) || others.includes(arg))
  return reserved === undefined
    ? null
    : `its argument ${JSON.stringify(reserved)} is named like one that connections have`
}

function argumentFacts(
  { scope, values }: ResultContext,
  fn: AnnotatedFunction,
  names: readonly string[],
): readonly ArgumentFacts[] {
  const defaults = readDefaults(
    fn,
    fn.args.map((arg) => scope.types.get(arg.type)),
  )
  return fn.args.flatMap((arg, index) => {
    const value = values(arg.type, askedBy(scope, fn.schema))
    const given = defaults[index]
    const field = names[index]
    if (value === null || given === undefined || field === undefined) return []
    const { type, typeSchema } = value
    return [{ field, type, typeSchema, required: given.required, defaultValue: given.literal }]
  })
}

const callSql = (
  { scope }: ResultContext,
  fn: AnnotatedFunction,
  id: ObjectId,
  names: readonly string[],
  json: CallSql['json'],
): CallSql => ({
  id,
  schema: fn.schema,
  function: fn.name,
  args: fn.args.map((arg, index) => ({
    field: names[index] ?? arg.name,
    name: arg.name,
    type: arg.typeText,
    ...sqlType(scope, arg.type, askedBy(scope, fn.schema)),
  })),
  json,
})
