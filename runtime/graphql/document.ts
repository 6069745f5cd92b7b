import { getVariableValues, Kind, valueFromASTUntyped, type TypeNode, type VariableDefinitionNode } from 'graphql'
import { parts } from '../contract/type-names.ts'
import type { Engine } from '../engine/engine.ts'
import type { RoleView } from '../engine/schema/schema.ts'
import type { Lru } from '../lib/lru.ts'
import { isJsonObject, withoutPrototypes } from './json.ts'
import { asRefusal, toOperation, type Operation } from './operation.ts'
import type { Variables } from './plan/input.ts'
import { toPlan } from './plan/plan.ts'
import type { Plan } from './plan/types.ts'
import { checkRows } from './row-limit.ts'
import { shapeOf, type ShapeOf } from './shape.ts'
import { toStatements, type Statements } from './statements/statements.ts'

/** What is known of a document before its variables are: found once per engine, role and text. */
export interface Document {
  readonly operation: Operation
  readonly writes: boolean
  /** Statements and coerced variables for a request's variables. @throws Refusal */
  readonly prepare: (variables: Readonly<Record<string, unknown>>) => Prepared
  /** What the statements are written from. @throws Refusal */
  readonly plan: (variables: Readonly<Record<string, unknown>>) => Plan
}

export interface Prepared {
  readonly statements: Statements
  readonly variables: Readonly<Record<string, unknown>>
}

/** A document's statements that are kept ready, one for each shape of its variables. */
export type Shapes = Pick<Lru<string, Statements>, 'get' | 'set'>

export function createDocument(
  engine: Engine,
  role: string,
  text: string,
  operationName: string | null,
  shapes: Shapes,
): Document {
  const view = engine.view(role)
  const operation = toOperation(view, text, operationName)
  const writes = operation.node.operation === 'mutation'
  const prepare = operation.strict
    ? prepareStrict(engine, view, operation, shapes)
    : prepareLenient(engine, view, operation)
  return { operation, writes, prepare, plan: (given) => planOf(view, operation, variablesOf(view, operation, given)) }
}

function prepareStrict(engine: Engine, view: RoleView, operation: Operation, shapes: Shapes): Document['prepare'] {
  const shape: ShapeOf = shapeOf(view.schema, operation)
  return (given) => {
    const variables = variablesOf(view, operation, given)
    const key = shape(variables.values)
    const known = shapes.get(key)
    if (known !== undefined) return { statements: known, variables: variables.values }
    const statements = toStatements(engine, view.role, planOf(view, operation, variables))
    shapes.set(key, statements)
    return { statements, variables: variables.values }
  }
}

/** Without validation, variables are read for the place where they stand, so every request is planned anew. */
function prepareLenient(engine: Engine, view: RoleView, operation: Operation): Document['prepare'] {
  return (given) => {
    const variables = variablesOf(view, operation, given)
    return { statements: toStatements(engine, view.role, planOf(view, operation, variables)), variables: {} }
  }
}

function planOf(view: RoleView, operation: Operation, variables: Variables): Plan {
  checkRows(view, operation, variables)
  return toPlan(view, operation, variables)
}

/** What planning knows of a request's variables. @throws Refusal for values that do not fit their declared types */
export const variablesOf = (
  view: RoleView,
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
): Variables =>
  operation.strict
    ? { values: coerce(view, operation, given), untyped: false }
    : { values: withDefaults(operation, given), untyped: true }

/** As many as the reference implementation tells of when it executes; a long list may hold nothing but mistakes. */
const maxErrors = 50

function coerce(
  view: RoleView,
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const definitions = operation.node.variableDefinitions ?? []
  if (definitions.length === 0) return {}
  const result = getVariableValues(view.schema, definitions, withoutPrototypes(given) as typeof given, { maxErrors })
  if (result.errors !== undefined) throw asRefusal('BAD_VARIABLES', result.errors)
  return { ...result.coerced, ...ordersAsGiven(definitions, result.coerced, withDefaults(operation, given)) }
}

/** The reference implementation sorts an object's keys by their type; in an order they count in the order given (5.4). */
function ordersAsGiven(
  definitions: readonly VariableDefinitionNode[],
  coerced: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const names = definitions.flatMap(({ type, variable }) =>
    namedTypeOf(type).endsWith(parts.orderBy) ? [variable.name.value] : [],
  )
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, asGiven(coerced[name], given[name])]),
  )
}

function asGiven(coerced: unknown, given: unknown): unknown {
  if (Array.isArray(coerced)) {
    const items: readonly unknown[] = Array.isArray(given) ? given : [given]
    return coerced.map((item, index) => asGiven(item, items[index]))
  }
  if (!isJsonObject(coerced) || !isJsonObject(given)) return coerced
  return Object.fromEntries(Object.keys(given).map((name) => [name, asGiven(coerced[name], given[name])]))
}

const namedTypeOf = (type: TypeNode): string =>
  type.kind === Kind.NAMED_TYPE ? type.name.value : namedTypeOf(type.type)

function withDefaults(
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const defaults = (operation.node.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
    defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)] as const],
  )
  return { ...Object.fromEntries(defaults), ...given }
}
