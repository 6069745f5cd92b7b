import { valueFromASTUntyped, type VariableDefinitionNode } from 'graphql'
import type { Engine } from '../../engine/engine.ts'
import type { RoleView } from '../../engine/schema/schema.ts'
import type { Lru } from '../../lib/caches.ts'
import { selectionsOf, type Patience } from '../operation/validation.ts'
import { parseOperation, toOperation, type Operation } from '../operation/operation.ts'
import type { Variables } from '../plan/input.ts'
import { toPlan } from '../plan/plan.ts'
import type { Plan } from '../plan/plan-nodes.ts'
import { countRows, rowLimitOf } from './row-limit.ts'
import { checkSum } from './row-terms.ts'
import { shapeOf, type Planned, createFittingReader, createVariableReader } from '../variables/read.ts'
import { declaredVariables, plannedVariables } from './variables.ts'
import { toStatements, type Statements } from '../statements/statements.ts'

type Given = Readonly<Record<string, unknown>>

/** The part of a known document that a request needs. */
export interface Known {
  readonly writes: boolean
  /** It is a subscription. */
  readonly streams: boolean
  readonly definitions: readonly VariableDefinitionNode[]
  /** Statements and coerced variables for a request; null in quick mode if it would take longer. @throws Refusal */
  readonly ready: (variables: Given) => Prepared | null
}

/** The facts about a document that do not depend on variables: computed once per engine, role and text. */
export interface Document extends Known {
  readonly sketch: Sketch
  /** Statements and coerced variables for a request's variables. @throws Refusal */
  readonly prepare: (variables: Given) => Prepared
  /** The source of the statements. @throws Refusal */
  readonly plan: (variables: Given) => Plan
}

export interface Prepared {
  readonly statements: Statements
  readonly variables: Given
  /** The cache key of the statements; null: they serve this request only. */
  readonly shape: string | null
}

/**
 * A document without its tree, which is sufficient with the statements of some shapes. It can be sent to another
 * thread.
 */
export interface Sketch {
  readonly writes: boolean
  readonly streams: boolean
  readonly strict: boolean
  readonly definitions: readonly VariableDefinitionNode[]
  /** The variables of which planning reads more than the form. */
  readonly planned: ReadonlyMap<string, Planned>
}

/** The cached statements of a document, one entry per shape of its variables. */
export type Shapes = Pick<Lru<string, Statements>, 'get' | 'set'>

export function createDocument(
  engine: Engine,
  role: string,
  text: string,
  operationName: string | null,
  shapes: Shapes,
  pace: Patience,
): Document {
  const view = engine.view(role)
  const operation = toOperation(view, text, operationName, pace)
  const sketch = sketchOf(engine, view, operation)
  const { writes, streams, definitions } = sketch
  const read = readVariables(view, operation)
  const again = (): Operation => parseOperation(view, text, operationName)
  const isMuch = muchFor(text, operation)
  const made = operation.strict
    ? prepareStrict(engine, view, sketch, { operation, again, read }, shapes)
    : prepareLenient(engine, view, operation, read)
  return {
    writes,
    streams,
    definitions,
    sketch,
    prepare: (given) => made(given, () => false) ?? impossible(),
    ready: (given) => made(given, isMuch),
    plan: (given) => planOf(engine, view, again(), read(given)),
  }
}

const impossible = (): never => {
  throw new Error('a caller without a time limit gets every problem')
}

/** Prepares, or returns null if `isMuch` is true for the values. */
type Make = (given: Given, isMuch: (given: Given) => boolean) => Prepared | null

/** Values times their places in a document that are planned and written within some milliseconds. */
const quickValues = 20_000

/** A variable is planned at each of its places, and the content of a fragment at each spread. */
function muchFor(text: string, { node, fragments }: Operation): (given: Given) => boolean {
  const places = text.split('$').length + (fragments.size === 0 ? 0 : selectionsOf(node, fragments))
  return (given) => places * weightOfValue(given) > quickValues
}

function weightOfValue(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let sum = 1
  for (const inner of Object.values(value)) sum += weightOfValue(inner)
  return sum
}

const sketchOf = ({ manifest }: Engine, { schema }: RoleView, operation: Operation): Sketch => ({
  writes: operation.node.operation === 'mutation',
  streams: operation.node.operation === 'subscription',
  strict: operation.strict,
  definitions: operation.node.variableDefinitions ?? [],
  planned: operation.strict ? plannedVariables(schema, operation, rowLimitOf(manifest) !== null) : new Map(),
})

interface Readers {
  readonly operation: Operation
  readonly again: () => Operation
  readonly read: ReadVariables
}

/**
 * The tree of a document outweighs everything else known of it, and only a new shape needs it: the first shape uses the
 * parsed tree, later ones parse again.
 */
function prepareStrict(
  engine: Engine,
  view: RoleView,
  { definitions, planned }: Sketch,
  { operation, again, read }: Readers,
  shapes: Shapes,
): Make {
  const shapeFor = shapeOf(declaredVariables(view.schema, definitions), planned)
  let first: Operation | null = operation
  return (given, isMuch) => {
    const variables = read(given)
    const shape = shapeFor(variables.values)
    const known = shapes.get(shape)
    if (known !== undefined) return { statements: known, variables: variables.values, shape }
    if (isMuch(given)) return null
    const parsed = first ?? again()
    first = null
    const statements = toStatements(engine, view.role, planOf(engine, view, parsed, variables))
    shapes.set(shape, statements)
    return { statements, variables: variables.values, shape }
  }
}

/** Without validation, variables are read by the type of their position, so every request is planned again. */
function prepareLenient(engine: Engine, view: RoleView, operation: Operation, read: ReadVariables): Make {
  return (given, isMuch) => {
    if (isMuch(given)) return null
    const variables = read(given)
    const statements = toStatements(engine, view.role, planOf(engine, view, operation, variables))
    return { statements, variables: {}, shape: null }
  }
}

/** A document from its sketch. Errors of variables are reported where the text is parsed. */
export function createKnown({ schema }: RoleView, sketch: Sketch, shapes: Shapes): Known {
  const { writes, streams, definitions } = sketch
  if (!sketch.strict) return { writes, streams, definitions, ready: () => null }
  const declared = declaredVariables(schema, definitions)
  const read = createFittingReader(declared)
  const shapeFor = shapeOf(declared, sketch.planned)
  return {
    writes,
    streams,
    definitions,
    ready: (given) => {
      const variables = read(given)
      if (variables === null) return null
      const shape = shapeFor(variables)
      const statements = shapes.get(shape)
      return statements === undefined ? null : { statements, variables, shape }
    },
  }
}

function planOf({ manifest }: Engine, view: RoleView, operation: Operation, variables: Variables): Plan {
  const limit = rowLimitOf(manifest)
  if (limit !== null) checkSum(limit, countRows(view, operation, variables))
  return toPlan(view, operation, variables)
}

/** Reads a request's variables for planning. @throws Refusal for values that do not fit their declared types */
export type ReadVariables = (given: Given) => Variables

export function readVariables({ schema }: RoleView, operation: Operation): ReadVariables {
  const definitions = operation.node.variableDefinitions ?? []
  if (!operation.strict) return (given) => ({ values: withDefaults(definitions, given), untyped: true })
  const read = createVariableReader(declaredVariables(schema, definitions))
  return (given) => ({ values: read(given), untyped: false })
}

function withDefaults(definitions: readonly VariableDefinitionNode[], given: Given): Given {
  const defaults = definitions.flatMap(({ variable, defaultValue }) =>
    defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)] as const],
  )
  return { ...Object.fromEntries(defaults), ...given }
}
