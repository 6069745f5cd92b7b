import {
  buildClientSchema,
  getIntrospectionQuery,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  type IntrospectionQuery,
} from 'graphql'
import { dataOf } from './answers.ts'
import type { AskOptions, AskedService } from './service.ts'

/** The result of introspection of a served API by the reference implementation's clients; introspection must be enabled. */
export async function introspect(service: AskedService, options?: AskOptions): Promise<GraphQLSchema> {
  const query = getIntrospectionQuery({
    schemaDescription: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    inputValueDeprecation: true,
  })
  return buildClientSchema(dataOf(await service.graphql(query, options)) as IntrospectionQuery)
}

/** Fields of an object, interface or input type, in order: `name: Type`, with arguments if wanted; none when there is no such type. */
export function fieldsOf(schema: GraphQLSchema, type: string): readonly string[] {
  const found = schema.getType(type)
  if (isInputObjectType(found)) return Object.values(found.getFields()).map((field) => `${field.name}: ${field.type}`)
  if (isObjectType(found) || isInterfaceType(found))
    return Object.values(found.getFields()).map((field) => `${field.name}: ${field.type}`)
  return []
}

/** Fields of a type by name, the values of an enum, or the types of a union. */
export function namesOf(schema: GraphQLSchema, type: string): readonly string[] {
  const found = schema.getType(type)
  if (isEnumType(found)) return found.getValues().map((value) => value.name)
  if (isUnionType(found)) return found.getTypes().map(({ name }) => name)
  return fieldsOf(schema, type).map((field) => field.slice(0, field.indexOf(':')))
}

const argumentText = ({ name, type }: GraphQLArgument): string => `${name}: ${type}`

/** `name(arg: Type!): Type`, or undefined when the type has no such field. */
export function signatureOf(schema: GraphQLSchema, type: string, name: string): string | undefined {
  const found = schema.getType(type)
  const field: GraphQLField<unknown, unknown> | undefined = isObjectType(found) ? found.getFields()[name] : undefined
  if (field === undefined) return undefined
  const args = field.args.length === 0 ? '' : `(${field.args.map(argumentText).join(', ')})`
  return `${field.name}${args}: ${field.type}`
}

/** The scalars that every schema has (spec/graphql.md 3.1). */
export const scalarNames: readonly string[] =
  'ID Int Float String Boolean Date Time Datetime BigInt UUID JSON Cursor BigFloat Opaque'.split(' ')
