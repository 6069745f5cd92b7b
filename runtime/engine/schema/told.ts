import { GraphQLError, type ValueNode } from 'graphql'
import { ValueFault } from '../values/fault.ts'

/** What is wrong with a value, as the reference implementation wants to be told. @throws GraphQLError at `node`, if there is one */
export function told<T>(read: () => T, node?: ValueNode): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof ValueFault ? new GraphQLError(error.message, node && { nodes: node }) : error
  }
}
