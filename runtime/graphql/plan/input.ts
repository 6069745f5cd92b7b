import {
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  isLeafType,
  Kind,
  type GraphQLArgument,
  type GraphQLInputType,
  type ObjectFieldNode,
  type ObjectValueNode,
  type ValueNode,
} from 'graphql'
import { isJsonObject } from '../../lib/json.ts'
import { badArgument } from '../protocol/failures.ts'
import { parseLooseLiteral, parseLooseValue } from './loose-leaves.ts'
import type { Slot } from './values.ts'

/**
 * An argument for planning: its shape is known, its leaves are slots with their value in this request. Literals and
 * variables are treated alike from here on.
 */
export type Input =
  | { readonly kind: 'absent' }
  | { readonly kind: 'null' }
  /** A scalar or enum value, or a list of them. */
  | { readonly kind: 'leaf'; readonly slot: Slot; readonly value: unknown }
  | { readonly kind: 'list'; readonly slot: Slot; readonly items: readonly Input[] }
  | {
      readonly kind: 'object'
      readonly slot: Slot
      readonly fields: readonly (readonly [name: string, input: Input])[]
    }

/** The arguments of a field by name. */
export type Args = (name: string) => Input

export const absent: Input = { kind: 'absent' }
const nothing: Input = { kind: 'null' }

export type ObjectInput = Extract<Input, { kind: 'object' }>

/** The objects of a list, or the single object. */
export function objectsIn(given: Input): readonly ObjectInput[] {
  const items = given.kind === 'list' ? given.items : [given]
  return items.flatMap((item) => (item.kind === 'object' ? [item] : []))
}

/** The member of an object; null if absent. */
export const memberOf = (input: Input | undefined, name: string): Input =>
  (input?.kind === 'object' ? input.fields.find(([field]) => field === name)?.[1] : undefined) ?? nothing

export interface Variables {
  /** Values by name, coerced to their declared types; an absent variable has no entry. */
  readonly values: Readonly<Record<string, unknown>>
  /**
   * True if variables have no usable types (validation off): their values are read by the type of their position and
   * become constants.
   */
  readonly untyped: boolean
}

const constant = (value: unknown): Slot => ({ kind: 'constant', value })

/** The input of an argument from its node in the document (undefined: not given). */
export function toInput(argument: GraphQLArgument, node: ValueNode | undefined, variables: Variables): Input {
  const type = typeOfPlace(argument, variables)
  const input = node === undefined ? absent : fromNode(type, node, variables)
  if (
    !(argument.type instanceof GraphQLNonNull) ||
    (input.kind !== 'absent' && (input.kind !== 'null' || type === argument.type))
  )
    return input
  return fromValue(argument.type, argument.defaultValue, constant(argument.defaultValue), false)
}

/** With validation off, null stands for the default if there is one (spec/graphql.md 10.4, decision 19). */
const typeOfPlace = ({ type, defaultValue }: GraphQLArgument, { untyped }: Variables): GraphQLInputType =>
  untyped && defaultValue !== undefined && type instanceof GraphQLNonNull ? type.ofType : type

const nullRefused = (): Error => badArgument('Invalid input for NonNull type')

function fromNode(type: GraphQLInputType, node: ValueNode, variables: Variables): Input {
  if (type instanceof GraphQLNonNull) {
    const input = fromNode(type.ofType, node, variables)
    if (input.kind === 'null') throw nullRefused()
    return input
  }
  if (node.kind === Kind.VARIABLE) return fromVariable(type, node.name.value, variables)
  if (node.kind === Kind.NULL) return nothing
  if (type instanceof GraphQLList) return fromListNode(type, node, variables)
  if (type instanceof GraphQLInputObjectType) return fromObjectNode(type, node, variables)
  const value = variables.untyped ? parseLooseLiteral(type, node) : type.parseLiteral(node, undefined)
  return { kind: 'leaf', slot: constant(value), value }
}

function fromVariable(type: GraphQLInputType, name: string, variables: Variables): Input {
  if (!Object.hasOwn(variables.values, name)) return absent
  const value = variables.values[name]
  if (variables.untyped) return fromValue(type, value, constant(value), true)
  return fromValue(type, value, { kind: 'variable', path: [name] }, false)
}

function fromListNode(type: GraphQLList<GraphQLInputType>, node: ValueNode, variables: Variables): Input {
  const nodes = node.kind === Kind.LIST ? node.values : [node]
  // An absent variable in a list is null (GraphQL specification 3.12, input coercion).
  const items = nodes.map((item) => {
    const input = fromNode(type.ofType, item, variables)
    if (input.kind !== 'absent') return input
    if (type.ofType instanceof GraphQLNonNull) throw nullRefused()
    return nothing
  })
  return listInput(type, items, null)
}

/** Lists of leaves are leaves themselves: they are bound as a whole. */
function listInput(type: GraphQLList<GraphQLInputType>, items: readonly Input[], slot: Slot | null): Input {
  const whole: Slot = slot ?? { kind: 'list', items: items.map(slotOf) }
  const element = type.ofType instanceof GraphQLNonNull ? type.ofType.ofType : type.ofType
  if (isLeafType(element)) return { kind: 'leaf', slot: whole, value: items.map(inputValue) }
  return { kind: 'list', slot: whole, items }
}

function fromObjectNode(type: GraphQLInputObjectType, node: ValueNode, variables: Variables): Input {
  if (node.kind !== Kind.OBJECT) throw badArgument(`Invalid input for ${type.name} type`)
  const known = type.getFields()
  const fields = lastOfEach(node).map(({ name, value }) => {
    const field = known[name.value]
    if (field === undefined) throw badArgument(`Input for type ${type.name} contains extra keys ["${name.value}"]`)
    return [name.value, fromNode(field.type, value, variables)] as const
  })
  return objectInput(
    type,
    fields.filter(([, input]) => input.kind !== 'absent'),
    null,
  )
}

/** Only with validation off a key may occur twice; the last one counts (spec/graphql.md 11). */
const lastOfEach = ({ fields }: ObjectValueNode): readonly ObjectFieldNode[] => [
  ...new Map(fields.map((field) => [field.name.value, field])).values(),
]

function objectInput(
  { name, isOneOf }: GraphQLInputObjectType,
  fields: readonly (readonly [string, Input])[],
  slot: Slot | null,
): Input {
  // With validation on, the refusal came earlier.
  if (isOneOf && (fields.length !== 1 || fields[0]?.[1].kind === 'null'))
    throw badArgument(`Exactly one key must be specified for OneOf type "${name}".`)
  const whole: Slot = slot ?? { kind: 'object', fields: fields.map(([name, input]) => [name, slotOf(input)]) }
  return { kind: 'object', slot: whole, fields }
}

/** An input from a value; `raw` values still have to be parsed by their types. */
function fromValue(type: GraphQLInputType, value: unknown, slot: Slot, raw: boolean): Input {
  if (type instanceof GraphQLNonNull) {
    if (value === null || value === undefined) throw nullRefused()
    return fromValue(type.ofType, value, slot, raw)
  }
  if (value === null || value === undefined) return nothing
  if (type instanceof GraphQLList) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    const items = values.map((item, index) => fromValue(type.ofType, item, inner(slot, index, item), raw))
    return listInput(type, items, raw ? null : slot)
  }
  if (type instanceof GraphQLInputObjectType) return fromObject(type, value, slot, raw)
  const parsed = raw ? parseLooseValue(type, value) : value
  return { kind: 'leaf', slot: raw ? { kind: 'constant', value: parsed, sent: true } : slot, value: parsed }
}

function fromObject(type: GraphQLInputObjectType, value: unknown, slot: Slot, raw: boolean): Input {
  if (!isJsonObject(value)) throw badArgument(`Invalid input for ${type.name} type`)
  const known = type.getFields()
  const fields = Object.entries(value).map(([name, item]) => {
    const field = Object.hasOwn(known, name) ? known[name] : undefined
    if (field === undefined) throw badArgument(`Input for type ${type.name} contains extra keys ["${name}"]`)
    return [name, fromValue(field.type, item, inner(slot, name, item), raw)] as const
  })
  return objectInput(type, fields, raw ? null : slot)
}

const inner = (slot: Slot, step: string | number, value: unknown): Slot =>
  slot.kind === 'variable' ? { kind: 'variable', path: [...slot.path, step] } : constant(value)

export const isGiven = (input: Input): boolean => input.kind !== 'absent' && input.kind !== 'null'

export function slotOf(input: Input): Slot {
  return input.kind === 'absent' || input.kind === 'null' ? constant(null) : input.slot
}

export function inputValue(input: Input): unknown {
  switch (input.kind) {
    case 'absent':
      return undefined
    case 'null':
      return null
    case 'leaf':
      return input.value
    case 'list':
      return input.items.map(inputValue)
    case 'object':
      return Object.fromEntries(input.fields.map(([name, field]) => [name, inputValue(field)]))
  }
}
