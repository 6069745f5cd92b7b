import { GraphQLError, type ValueNode } from 'graphql'
import { ValueFault } from '../values/fault.ts'

/** Converts a value fault to the error of graphql-js. @throws GraphQLError at `node`, if there is one */
export function asGraphqlError<T>(read: () => T, node?: ValueNode): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof ValueFault ? new GraphQLError(error.message, node && { nodes: node }) : error
  }
}
