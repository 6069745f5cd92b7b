import {
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  typeFromAST,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  type VariableDefinitionNode,
} from 'graphql'
import type { ScalarName } from '../../contract/scalar-names.ts'

/** Makes an example value of a type, or undefined. */
export type Sample = (type: GraphQLInputType) => unknown

/** Example values on which the form of a statement does not depend. An ID or a Cursor depends on the table. */
export const sampleScalars: Readonly<Record<Exclude<ScalarName, 'ID' | 'Cursor'>, unknown>> = {
  Int: 1,
  Float: 1,
  String: '',
  Boolean: true,
  BigInt: '1',
  BigFloat: '1',
  UUID: '00000000-0000-0000-0000-000000000000',
  Date: '2000-01-01',
  Time: '00:00:00',
  Datetime: '2000-01-01T00:00:00Z',
  JSON: '{}',
  Opaque: '',
  GeoJSON: { type: 'Point', coordinates: [0, 0] },
}

/**
 * @param leaves values by the names of their types; for other enums the first value is used
 * @param object an input object, made of what `sample` gives for its fields
 */
export function sampling(
  leaves: Readonly<Record<string, unknown>>,
  object: (type: GraphQLInputObjectType, sample: Sample) => unknown = () => undefined,
): Sample {
  const sample: Sample = (type) => {
    if (isNonNullType(type)) return sample(type.ofType)
    if (isListType(type)) {
      const item = sample(type.ofType)
      return item === undefined ? undefined : [item]
    }
    if (isEnumType(type)) return leaves[type.name] ?? type.getValues()[0]?.name
    if (isInputObjectType(type)) return object(type, sample)
    return Object.hasOwn(leaves, type.name) ? leaves[type.name] : undefined
  }
  return sample
}

/** An example value for each of a document's variables. */
export const sampleVariables = (
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  sample: Sample,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    definitions.map(({ variable, type: node }) => {
      const type = typeFromAST(schema, node)
      return [variable.name.value, isInputType(type) ? sample(type) : undefined]
    }),
  )
