import type { ArgumentFacts, ObjectId, ResultFacts } from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction } from '../comments/annotated.ts'
import { readDefaults, requiredArgument } from './defaults.ts'
import { argumentField, isValidName } from './names.ts'
import { overloadsOf } from './overloads.ts'
import type { ResultContext } from './results.ts'
import { additionsOfFunction, isPlainOrList, typeFacts } from './scalars.ts'
import { inflects } from './scope.ts'
import { sqlType } from './sql-types.ts'
import { tableAdditions } from './table-additions.ts'
import type { ArgumentSql } from './model.ts'

/** The arguments of a function, or why the API cannot pass them. */
export type Arguments =
  | { readonly kind: 'served'; readonly facts: readonly ArgumentFacts[]; readonly sql: readonly ArgumentSql[] }
  | { readonly kind: 'hidden'; readonly reason: string }

/**
 * The arguments of a function (spec/graphql.md 9.2) from an index on: a leading row is not an argument. Unnamed ones
 * are called by their position (`functionShapes`, spec/graphql.md 17); they, and the ones before them, are passed by
 * position (PostgreSQL manual 4.3.3).
 *
 * @param others the other functions of its schema and name
 */
export function readArguments(
  context: ResultContext,
  fn: AnnotatedFunction,
  from: number,
  others: readonly AnnotatedFunction[],
): Arguments {
  const { scope, values } = context
  const asked = additionsOfFunction(scope, fn)
  const nameless = fn.args.findLastIndex((arg, index) => index >= from && arg.name === '')
  if (nameless >= 0 && !asked.functionShapes) return hidden('it has an argument without a name')
  const problem = argumentsProblem(context, fn, from)
  if (problem !== null) return hidden(problem)
  const overloads = overloadsOf(fn, others, Math.max(from, nameless + 1))
  if (overloads.meetAll) return hidden('a call with all of its arguments could mean another function of its name')
  const defaults = readDefaults(
    fn,
    fn.args.map((arg) => scope.types.get(arg.type)),
  )
  const all = fn.args.flatMap((arg, index) => {
    const value = values(arg.type, asked)
    const given = overloads.meetWithout(index) ? requiredArgument : defaults[index]
    if (index < from || value === null || given === undefined) return []
    const base = { field: fieldOf(context, fn, index), ...(index <= nameless && { positional: true as const }) }
    const { required, literal, printed } = given
    return {
      facts: {
        ...base,
        ...typeFacts(value),
        required,
        defaultValue: literal,
        ...(printed !== undefined && { databaseDefault: printed }),
      },
      sql: { ...base, name: arg.name, type: arg.typeText, ...sqlType(scope, arg.type, asked) },
    }
  })
  return { kind: 'served', facts: all.map(({ facts }) => facts), sql: all.map(({ sql }) => sql) }
}

const hidden = (reason: string): Arguments => ({ kind: 'hidden', reason })

const fieldOf = ({ scope }: ResultContext, fn: AnnotatedFunction, index: number): string =>
  argumentField(fn.args[index]?.name || `arg${index + 1}`, inflects(scope, fn.schema))

function argumentsProblem(context: ResultContext, fn: AnnotatedFunction, from: number): string | null {
  const { scope } = context
  const own = fn.args.slice(from)
  const names = own.map((_, index) => fieldOf(context, fn, from + index))
  const unmapped = own.findIndex((arg) => !isPlainOrList(scope, arg.type, additionsOfFunction(scope, fn)))
  if (unmapped >= 0) return `its argument ${JSON.stringify(own[unmapped]?.name || names[unmapped])} is of no plain type`
  const unusable = names.find((name) => !isValidName(name))
  if (unusable !== undefined) return `its argument ${JSON.stringify(unusable)} has no valid GraphQL name`
  return new Set(names).size < names.length ? 'two of its arguments have the same GraphQL name' : null
}

/** Arguments of every connection (spec/graphql.md 2.5). */
const connectionArguments: ReadonlySet<string> = new Set([
  'first',
  'last',
  'before',
  'after',
  'offset',
  'filter',
  'orderBy',
])

/** Further arguments of the connection of a relation. */
function reservedBy({ namedRelations }: ResultContext, entity: ObjectId): readonly string[] {
  const named = namedRelations.get(entity)
  if (named === undefined) return []
  return [
    ...(tableAdditions(named.relation, named.schema).distinctOn === true ? ['distinctOn'] : []),
    ...(named.outline.hidesDeleted ? ['deleted'] : []),
  ]
}

/** A set has the arguments of a connection besides its own (spec/graphql.md 2.5). */
export function reservedProblem(
  context: ResultContext,
  result: ResultFacts,
  args: Extract<Arguments, { kind: 'served' }>,
): string | null {
  if (result.kind !== 'set') return null
  const others = reservedBy(context, result.entity)
  const reserved = args.facts.find(({ field }) => connectionArguments.has(field) || others.includes(field))
  return reserved === undefined
    ? null
    : `its argument ${JSON.stringify(reserved.field)} is named like one that connections have`
}
