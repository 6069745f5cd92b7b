import { getVariableValues, valueFromASTUntyped } from 'graphql'
import type { Engine } from '../engine/engine.ts'
import type { RoleView } from '../engine/schema/schema.ts'
import { createLru, type Lru } from '../lib/lru.ts'
import { asRefusal, toOperation, type Operation } from './operation.ts'
import type { Variables } from './plan/input.ts'
import { toPlan } from './plan/plan.ts'
import { shapeOf, type ShapeOf } from './shape.ts'
import { toStatements, type Statements } from './statements/statements.ts'

/** What is known of a document before its variables are: found once per engine, role and text. */
export interface Document {
  readonly operation: Operation
  readonly writes: boolean
  /** Statements and coerced variables for a request's variables. @throws Refusal */
  readonly prepare: (variables: Readonly<Record<string, unknown>>) => Prepared
}

export interface Prepared {
  readonly statements: Statements
  readonly variables: Readonly<Record<string, unknown>>
}

/** Statements per document kept ready: one for each shape of its variables. */
const maxShapes = 32

export function createDocument(engine: Engine, role: string, text: string, operationName: string | null): Document {
  const view = engine.view(role)
  const operation = toOperation(view, text, operationName)
  const writes = operation.node.operation === 'mutation'
  const prepare = operation.strict ? prepareStrict(engine, view, operation) : prepareLenient(engine, view, operation)
  return { operation, writes, prepare }
}

function prepareStrict(engine: Engine, view: RoleView, operation: Operation): Document['prepare'] {
  const shapes: Lru<string, Statements> = createLru(maxShapes)
  const shape: ShapeOf = shapeOf(view.schema, operation)
  return (given) => {
    const variables = coerce(view, operation, given)
    const key = shape(variables)
    const known = shapes.get(key)
    if (known !== undefined) return { statements: known, variables }
    const plan = toPlan(view, operation, { values: variables, untyped: false })
    const statements = toStatements(engine, view.role, plan)
    if (plan.keep) shapes.set(key, statements)
    return { statements, variables }
  }
}

/** Without validation, variables are read for the place where they stand, so every request is planned anew. */
function prepareLenient(engine: Engine, view: RoleView, operation: Operation): Document['prepare'] {
  return (given) => {
    const variables: Variables = { values: withDefaults(operation, given), untyped: true }
    return { statements: toStatements(engine, view.role, toPlan(view, operation, variables)), variables: {} }
  }
}

function coerce(view: RoleView, operation: Operation, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const definitions = operation.node.variableDefinitions ?? []
  if (definitions.length === 0) return {}
  const result = getVariableValues(view.schema, definitions, given)
  if (result.errors !== undefined) throw asRefusal('BAD_VARIABLES', result.errors)
  return result.coerced
}

function withDefaults(operation: Operation, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const defaults = (operation.node.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
    defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)] as const],
  )
  return { ...Object.fromEntries(defaults), ...given }
}
