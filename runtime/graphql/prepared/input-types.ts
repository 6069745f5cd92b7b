import {
  getLocation,
  isEnumType,
  isInputType,
  isListType,
  isNonNullType,
  isScalarType,
  parseType,
  typeFromAST,
  valueFromAST,
  valueFromASTUntyped,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLSchema,
  type TypeNode,
  type VariableDefinitionNode,
} from 'graphql'
import type { ScalarName } from '../../contract/scalar-names.ts'
import { isWritten } from '../../engine/meaning.ts'
import { inGivenOrder } from '../variables/orders.ts'
import type { DeclaredVariable, FieldInput, InputType, NamedInput } from '../variables/variable-types.ts'

/** The types of variables, from the schema of a role. */

/** Each document that uses a type asks for it. */
const known = new WeakMap<GraphQLNamedInputType, NamedInput>()

function inputType(type: GraphQLInputType): InputType {
  if (isNonNullType(type)) {
    const of = inputType(type.ofType)
    if (of.kind === 'non-null') throw new Error('no type is non-null twice')
    return { kind: 'non-null', of, text: String(type) }
  }
  if (isListType(type)) return { kind: 'list', of: inputType(type.ofType), text: String(type) }
  const before = known.get(type)
  if (before !== undefined) return before
  const made = namedType(type)
  known.set(type, made)
  return made
}

function namedType(type: GraphQLNamedInputType): NamedInput {
  // A schema has only the scalars of the table.
  if (isScalarType(type)) return { kind: 'scalar', text: type.name as ScalarName }
  if (isEnumType(type)) {
    const values = new Map(type.getValues().map(({ name, value }) => [name, String(value)]))
    return { kind: 'enum', text: type.name, values, written: isWritten(type) }
  }
  let fields: ReadonlyMap<string, FieldInput> | null = null
  return {
    kind: 'object',
    text: type.name,
    oneOf: type.isOneOf,
    fields: () =>
      (fields ??= new Map(
        Object.values(type.getFields()).map((field) => [
          field.name,
          { type: inputType(field.type), byDefault: field.defaultValue },
        ]),
      )),
  }
}

/** The type of a text such as `[notesFilter!]` in a valid document. */
export const inputTypeNamed = (schema: GraphQLSchema, text: string): InputType =>
  inputType(inputTypeOf(schema, parseType(text)))

function inputTypeOf(schema: GraphQLSchema, node: TypeNode): GraphQLInputType {
  const type = typeFromAST(schema, node)
  if (!isInputType(type)) throw new Error('validation leaves no variable of another type')
  return type
}

/** The variables of a valid operation. */
export const declaredVariables = (
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
): readonly DeclaredVariable[] => definitions.map((definition) => declared(schema, definition))

function declared(schema: GraphQLSchema, definition: VariableDefinitionNode): DeclaredVariable {
  const { variable, type: node, defaultValue } = definition
  const type = inputTypeOf(schema, node)
  const made = inputType(type)
  const { loc } = definition
  const place = loc === undefined ? null : getLocation(loc.source, loc.start)
  if (defaultValue === undefined) return { name: variable.name.value, type: made, byDefault: undefined, place }
  const byDefault = inGivenOrder(made, valueFromAST(defaultValue, type), valueFromASTUntyped(defaultValue))
  return { name: variable.name.value, type: made, byDefault, place }
}
