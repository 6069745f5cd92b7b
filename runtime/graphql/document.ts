import type { VariableDefinitionNode } from 'graphql'
import type { Engine } from '../engine/engine.ts'
import type { RoleView } from '../engine/schema/schema.ts'
import type { Lru } from '../lib/lru.ts'
import { parseOperation, toOperation, type Operation } from './operation.ts'
import type { Variables } from './plan/input.ts'
import { toPlan } from './plan/plan.ts'
import type { Plan } from './plan/types.ts'
import { checkRows } from './row-limit.ts'
import { shapeOf, type ShapeOf } from './shape.ts'
import { toStatements, type Statements } from './statements/statements.ts'
import { readVariables, type ReadVariables } from './variables.ts'

/** What is known of a document before its variables are: found once per engine, role and text. */
export interface Document {
  readonly writes: boolean
  readonly definitions: readonly VariableDefinitionNode[]
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
  const read = readVariables(view, operation)
  const again = (): Operation => parseOperation(view, text, operationName)
  const prepare = operation.strict
    ? prepareStrict(engine, view, operation, again, read, shapes)
    : prepareLenient(engine, view, operation, read)
  const definitions = operation.node.variableDefinitions ?? []
  return { writes, definitions, prepare, plan: (given) => planOf(view, again(), read(given)) }
}

/**
 * The tree of a document outweighs all else that is known of it, and only a shape that is new needs it: the first one finds it
 * there, any later one parses again.
 */
function prepareStrict(
  engine: Engine,
  view: RoleView,
  operation: Operation,
  again: () => Operation,
  read: ReadVariables,
  shapes: Shapes,
): Document['prepare'] {
  const shape: ShapeOf = shapeOf(view.schema, operation)
  let first: Operation | null = operation
  return (given) => {
    const variables = read(given)
    const key = shape(variables.values)
    const known = shapes.get(key)
    if (known !== undefined) return { statements: known, variables: variables.values }
    const parsed = first ?? again()
    first = null
    const statements = toStatements(engine, view.role, planOf(view, parsed, variables))
    shapes.set(key, statements)
    return { statements, variables: variables.values }
  }
}

/** Without validation, variables are read for the place where they stand, so every request is planned anew. */
function prepareLenient(
  engine: Engine,
  view: RoleView,
  operation: Operation,
  read: ReadVariables,
): Document['prepare'] {
  return (given) => {
    const variables = read(given)
    return { statements: toStatements(engine, view.role, planOf(view, operation, variables)), variables: {} }
  }
}

function planOf(view: RoleView, operation: Operation, variables: Variables): Plan {
  checkRows(view, operation, variables)
  return toPlan(view, operation, variables)
}
