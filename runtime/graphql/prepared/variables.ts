import {
  coerceInputValue,
  getVariableValues,
  isInputType,
  isNonNullType,
  Kind,
  typeFromAST,
  valueFromAST,
  valueFromASTUntyped,
  type GraphQLInputType,
  type GraphQLSchema,
  type TypeNode,
  type VariableDefinitionNode,
} from 'graphql'
import { parts } from '../../contract/name-parts.ts'
import type { RoleView } from '../../engine/schema/schema.ts'
import { withoutPrototypes } from '../protocol/json.ts'
import { asRefusal, type Operation } from '../operation/operation.ts'
import type { Variables } from '../plan/input.ts'
import { isJsonObject } from '../../lib/json-object.ts'

type Given = Readonly<Record<string, unknown>>

/** What planning knows of a request's variables. @throws Refusal for values that do not fit their declared types */
export type ReadVariables = (given: Given) => Variables

export function readVariables({ schema }: RoleView, operation: Operation): ReadVariables {
  const definitions = operation.node.variableDefinitions ?? []
  if (!operation.strict) return (given) => ({ values: withDefaults(definitions, given), untyped: true })
  const read = readFitting(schema, definitions)
  return (given) => ({ values: read(given, () => coerceTelling(schema, definitions, given)), untyped: false })
}

/** Coerced values; what `otherwise` gives stands for those that do not all fit. */
export type ReadFitting = <Otherwise extends Given | null>(
  given: Given,
  otherwise: () => Otherwise,
) => Given | Otherwise

/** Ends of the names of types in whose values the order of members counts. */
const inOrder = [parts.orderBy, parts.groupBy, parts.groupOrder, parts.groupKeyOrder]

/** All that does not depend on the request is found once. */
export function readFitting(schema: GraphQLSchema, definitions: readonly VariableDefinitionNode[]): ReadFitting {
  const declared = definitions.map((definition) => declaredOf(schema, definition))
  const orders = definitions.filter(({ type }) => inOrder.some((part) => namedTypeOf(type).endsWith(part)))
  return (given, otherwise) => {
    const coerced = coerce(declared, given) ?? otherwise()
    if (coerced === null || orders.length === 0) return coerced
    return { ...coerced, ...ordersAsGiven(orders, coerced, withDefaults(orders, given)) }
  }
}

interface Declared {
  readonly name: string
  /** Null: it is no type of a variable. */
  readonly type: GraphQLInputType | null
  /** What stands for a value that is not given; undefined leaves the variable out. */
  readonly byDefault: unknown
}

function declaredOf(schema: GraphQLSchema, { variable, type: node, defaultValue }: VariableDefinitionNode): Declared {
  const type = typeFromAST(schema, node)
  if (!isInputType(type)) return { name: variable.name.value, type: null, byDefault: undefined }
  const byDefault = defaultValue === undefined ? undefined : valueFromAST(defaultValue, type)
  return { name: variable.name.value, type, byDefault }
}

/** Null when some value does not fit, without telling which. */
function coerce(declared: readonly Declared[], given: Given): Given | null {
  try {
    return coerceFitting(declared, given)
  } catch (error) {
    if (error === misfit) return null
    throw error
  }
}

/** Thrown at the first value that does not fit: a long list may hold nothing but mistakes. */
const misfit = new Error('A value does not fit its type.')
const refuseMisfit = (): never => {
  throw misfit
}

function coerceFitting(declared: readonly Declared[], given: Given): Given {
  // Without a prototype, since a variable may have the name of one's member.
  const values = Object.create(null) as Record<string, unknown>
  for (const { name, type, byDefault } of declared) {
    if (type === null) refuseMisfit()
    else if (Object.hasOwn(given, name))
      values[name] = coerceInputValue(withoutPrototypes(given[name]), type, refuseMisfit)
    else if (byDefault !== undefined) values[name] = byDefault
    else if (isNonNullType(type)) refuseMisfit()
  }
  return values
}

/** As many as the reference implementation reports when it executes; a long list may hold nothing but faults. */
const maxErrors = 50

/** The same in the reference implementation, which finds the words for what does not fit; it looks up types each time. */
function coerceTelling(schema: GraphQLSchema, definitions: readonly VariableDefinitionNode[], given: Given): Given {
  const result = getVariableValues(schema, definitions, withoutPrototypes(given) as typeof given, { maxErrors })
  if (result.errors !== undefined) throw asRefusal('BAD_VARIABLES', result.errors)
  return result.coerced
}

/**
 * The reference implementation sorts an object's keys by their type; in an order they count in the order given
 * (spec/graphql.md 5.4).
 */
function ordersAsGiven(orders: readonly VariableDefinitionNode[], coerced: Given, given: Given): Given {
  const names = orders.map(({ variable }) => variable.name.value)
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

function withDefaults(definitions: readonly VariableDefinitionNode[], given: Given): Given {
  const defaults = definitions.flatMap(({ variable, defaultValue }) =>
    defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)] as const],
  )
  return { ...Object.fromEntries(defaults), ...given }
}
