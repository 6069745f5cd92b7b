import {
  GraphQLEnumType,
  GraphQLError,
  isSpecifiedScalarType,
  Kind,
  type GraphQLLeafType,
  type ValueNode,
} from 'graphql'
import { badArgument, Refusal } from '../protocol/failures.ts'

/**
 * Values with validation off (spec/graphql.md 11). The messages of our own scalars stay, because clients know them;
 * those of graphql-js and of enums are replaced by one text.
 */

/** A literal: an enum may be written as a string and a string as a bare word. */
export function parseLooseLiteral(type: GraphQLLeafType, node: ValueNode): unknown {
  if (type.name === 'String' && node.kind === Kind.ENUM) return node.value
  try {
    if (type instanceof GraphQLEnumType && node.kind === Kind.STRING) return type.parseValue(node.value)
    return type.parseLiteral(node, undefined)
  } catch (error) {
    if (type.name === 'Int' && node.kind === Kind.INT && isLong(BigInt(node.value))) return node.value
    throw refusedAt(node, leafFaultText(type, error))
  }
}

export function parseLooseValue(type: GraphQLLeafType, value: unknown): unknown {
  try {
    return type.parseValue(value)
  } catch (error) {
    if (type.name === 'Int' && isLong(value)) return String(value)
    throw badArgument(leafFaultText(type, error))
  }
}

/** In this mode Int accepts any integer of 64 bits; variables beyond the range of a number are bigints. */
const isLong = (value: unknown): boolean =>
  (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) ||
  (typeof value === 'number' && Number.isSafeInteger(value))

const leafFaultText = (type: GraphQLLeafType, error: unknown): string =>
  type instanceof GraphQLEnumType || isSpecifiedScalarType(type) || !(error instanceof GraphQLError)
    ? `Invalid input for ${type.name} type`
    : error.message

function refusedAt(node: ValueNode, message: string): Refusal {
  const { locations = [] } = new GraphQLError(message, { nodes: node })
  const code = 'BAD_ARGUMENT'
  const places = locations.map(({ line, column }) => ({ line, column }))
  return new Refusal(code, [{ message, locations: places, extensions: { code } }])
}
