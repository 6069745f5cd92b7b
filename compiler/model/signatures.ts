import type {
  ArgumentFacts,
  ObjectId,
  ResultFacts,
  Diagnostic,
  FunctionFacts,
} from '../../runtime/contract/manifest.ts'
import type { AnnotatedFunction, AnnotatedType } from '../comments/annotated.ts'
import { isOn } from '../comments/additions.ts'
import { argumentField, isValidName, functionField } from './names.ts'
import {
  additionsOfFunction,
  servesShapes,
  isPlainOrList,
  typeFacts,
  readValues,
  type Values,
  type ValueScope,
  sqlType,
} from './scalars.ts'
import { inflects, type ModelScope } from './scope.ts'
import type { ArgumentSql, AttributeSql, JsonForm } from './model.ts'
import type { Lookup } from '../../runtime/lib/memo/tables.ts'
import { attributesOf } from './attributes.ts'
import type { NamedRelation } from './named-relations.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { nameFunction, type Oid } from '../catalog/catalog.ts'
import { execution } from './privileges.ts'
import { objectId } from '../../runtime/contract/facts.ts'

/** The arguments of a function, or why the API cannot pass them. */
export type Arguments =
  | { readonly kind: 'served'; readonly facts: readonly ArgumentFacts[]; readonly sql: readonly ArgumentSql[] }
  | { readonly kind: 'hidden'; readonly reason: string }

/**
 * The arguments of a function (spec/graphql.md 9.2) from an index on: a leading row is not an argument. Unnamed ones
 * are called by their position (spec/graphql.md 17); they, and the ones before them, are passed by
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
  if (nameless >= 0 && !servesShapes(asked)) return hiddenArguments('it has an argument without a name')
  const problem = argumentsProblem(context, fn, from)
  if (problem !== null) return hiddenArguments(problem)
  const overloads = overloadsOf(fn, others, Math.max(from, nameless + 1))
  if (overloads.meetAll)
    return hiddenArguments('a call with all of its arguments could mean another function of its name')
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

const hiddenArguments = (reason: string): Arguments => ({ kind: 'hidden', reason })

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
    ...named.schema.collectionArguments.filter((name) => isOn(name, named.relation, named.schema)),
    ...named.outline.rowArguments,
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

export interface Result {
  readonly facts: ResultFacts
  readonly json: JsonForm
  /** Of a composite. */
  readonly attributes?: readonly AttributeSql[]
}

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
function readResult(context: ResultContext, fn: AnnotatedFunction): Result | null {
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

export function isPseudo(scope: ModelScope, fn: AnnotatedFunction, name: string): boolean {
  const type = scope.types.get(fn.result)
  return type?.kind === 'p' && type.schema === 'pg_catalog' && type.name === name
}

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
  ...fn.facts,
  volatile: fn.volatility === 'v',
  args,
  result: result.facts,
  execute: execution(fn),
})

/** Functions of extensions are not reported: hundreds of them are not meant for the API. */
export const hiddenDiagnostics = (fn: AnnotatedFunction, reason: string): readonly Diagnostic[] =>
  fn.ofExtension !== undefined ? [] : [diagnose('function-hidden', nameFunction(fn), { reason })]

/** An overload may be served under the name in its own comment (spec/graphql.md 17). */
export const isDistinguished = (scope: ModelScope, fn: AnnotatedFunction): boolean =>
  servesShapes(additionsOfFunction(scope, fn)) && fn.settings.name !== null

export type FunctionIdentity = Pick<AnnotatedFunction, 'schema' | 'name' | 'args'>

/** Identity of a function; that of an overload includes its argument types. */
export const functionId = ({ schema, name, args }: FunctionIdentity, overloaded: boolean): ObjectId =>
  overloaded ? JSON.stringify([schema, name, args.map(({ typeText }) => typeText).join(', ')]) : objectId(schema, name)

/**
 * Other functions of a schema and name. Postgres resolves a call by its arguments, and refuses one that several accept
 * without a cast, some of them by their defaults (PostgreSQL manual 10.3): types are compared by identity.
 */
interface Overloads {
  /** Whether a call with all arguments is refused. */
  readonly meetAll: boolean
  /** Whether some call without this argument, which has a default, is refused or resolves to a different overload. */
  readonly meetWithout: (index: number) => boolean
}

/** @param byPlace the number of arguments passed by position, others by name */
function overloadsOf(fn: AnnotatedFunction, others: readonly AnnotatedFunction[], byPlace: number): Overloads {
  const own = passable(fn, byPlace)
  const found = others.map((other) => passable(other, byPlace))
  const isShared = ({ types }: Passable, key: string): boolean =>
    own.types.has(key) && own.types.get(key) === types.get(key)
  return {
    meetAll: found.some(
      (other) => own.keys.every((key) => isShared(other, key)) && other.needed.every((key) => own.types.has(key)),
    ),
    meetWithout: (index) =>
      found.some((other) => {
        const passed = [...own.needed, ...other.needed]
        return !passed.includes(own.keys[index] ?? '') && passed.every((key) => isShared(other, key))
      }),
  }
}

interface Passable {
  /** By position or name. */
  readonly keys: readonly string[]
  readonly types: ReadonlyMap<string, Oid>
  /** Those without a default. */
  readonly needed: readonly string[]
}

function passable({ args, defaultCount }: AnnotatedFunction, byPlace: number): Passable {
  const keys = args.map(({ name }, place) => (place < byPlace ? `${place}` : `=${name}`))
  return {
    keys,
    types: new Map(args.map(({ type }, place) => [keys[place] ?? '', type])),
    needed: keys.slice(0, args.length - defaultCount),
  }
}

/** Whether an argument is optional, and its default in introspection. */
interface Default {
  readonly required: boolean
  readonly literal: string | null
  /** As Postgres prints it, if it has no GraphQL literal. */
  readonly printed?: string
}

/**
 * The defaults of a function's arguments: the last ones have them, as many as the catalogue counts (spec/graphql.md
 * 9.2). Their values come from the printed list, if it can be split into its items.
 */
function readDefaults(
  { defaults, defaultCount }: AnnotatedFunction,
  types: readonly (AnnotatedType | undefined)[],
): readonly Default[] {
  const all = defaults === null ? [] : expressionsIn(defaults)
  const printed = all.length === defaultCount ? all : []
  const first = types.length - defaultCount
  return types.map((type, index) => (index < first ? requiredArgument : readDefault(printed[index - first], type)))
}

const requiredArgument: Default = { required: true, literal: null }

/** A constant, a quoted name or any other character. */
const token = /E'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|[^]/gu

/** A printed list of expressions, split at the commas outside of constants, names and brackets. */
function expressionsIn(list: string): readonly string[] {
  const texts = ['']
  let open = 0
  for (const [piece] of list.matchAll(token)) {
    if (piece === '(' || piece === '[') open += 1
    if (piece === ')' || piece === ']') open -= 1
    if (piece === ',' && open === 0) texts.push('')
    else texts.push(`${texts.pop() ?? ''}${piece}`)
  }
  return texts.map((text) => text.trim())
}

function readDefault(printed: string | undefined, type: AnnotatedType | undefined): Default {
  if (printed === undefined) return { required: false, literal: null }
  const literal = type?.schema === 'pg_catalog' ? (literals.get(type.name)?.(printed) ?? null) : null
  return { required: false, literal, ...(literal === null && { printed }) }
}

type ReadLiteral = (printed: string) => string | null

const matchingLiteral =
  (pattern: RegExp): ReadLiteral =>
  (printed) =>
    pattern.test(printed) ? printed : null

const integer: ReadLiteral = (printed) =>
  /^(0|[1-9]\d*)$/u.test(printed) && Number(printed) <= 2_147_483_647 ? printed : null

const float = matchingLiteral(/^(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/u)

/** A quoted constant with its cast, as pg_get_expr prints it; quotes inside are doubled. */
const textLiteral: ReadLiteral = (printed) => {
  const quoted = /^'((?:[^']|'')*)'::text$/u.exec(printed)?.[1]
  return quoted === undefined ? null : JSON.stringify(quoted.replaceAll("''", "'"))
}

/** Types whose plain literals are shown, by their names in pg_catalog. */
const literals: ReadonlyMap<string, ReadLiteral> = new Map([
  ['int2', integer],
  ['int4', integer],
  ['bool', matchingLiteral(/^(true|false)$/u)],
  ['float4', float],
  ['float8', float],
  ['text', textLiteral],
])
