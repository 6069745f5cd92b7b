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
  getNamedType,
  GraphQLInputObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLNamedType,
} from 'graphql'
import type { ScalarName } from '../../contract/scalar-names.ts'
import { isWritten } from '../../engine/meaning.ts'
import {
  inGivenOrder,
  type DeclaredVariable,
  type FieldInput,
  type InputType,
  type NamedInput,
} from '../variables/input-types.ts'
import type { Operation } from '../operation/operation.ts'
import { isKeyedInput, isRelatedChange, isRowInput, type Planned } from '../variables/read.ts'

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

/** Whether a row of the type may contain related ones. */
const isNesting = (type: GraphQLNamedType): boolean =>
  type instanceof GraphQLInputObjectType &&
  Object.values(type.getFields()).some((field) => {
    const { name } = getNamedType(field.type)
    return isRelatedChange(name) || /(?:Parent|Child|Children)Input$/.test(name)
  })

/** Whether rows of the type are named within another row. */
const isBeside = ({ name }: GraphQLNamedType): boolean => isRelatedChange(name) || isKeyedInput(name)

/** Page sizes are written into statements; of an offset only its refusal matters, also if no page is read. */
const plannedArguments: ReadonlyMap<string, Planned> = new Map([
  ['first', 'size'],
  ['last', 'size'],
  ['offset', 'sign'],
])

/** If several places read one variable, the last of these determines most. */
const byDetail: readonly (Planned | undefined)[] = [undefined, 'count', 'sign', 'size', 'value']

/**
 * Variables whose value is written into statements (page sizes), may be refused (offsets) or decides what is selected
 * (directives, introspection). Those of the document's other operations count too, which makes shapes finer and never
 * coarser.
 *
 * @param limited whether there is a limit of rows for writes
 */
export function plannedVariables(
  schema: GraphQLSchema,
  operation: Operation,
  limited: boolean,
): ReadonlyMap<string, Planned> {
  const planned = new Map<string, Planned>()
  const info = new TypeInfo(schema)
  const isMeta = (name: string | undefined): boolean => name?.startsWith('__') === true
  const readsOf = (argument: string): Planned | undefined => {
    if (info.getDirective() != null || isMeta(info.getParentType()?.name) || isMeta(info.getFieldDef()?.name))
      return 'value'
    if (limited && argument === 'objects') return 'count'
    if (!isInt(info.getArgument()?.type)) return undefined
    const reads = plannedArguments.get(argument)
    // The number of rows read together depends on their values.
    return limited && (reads === 'size' || argument === 'atMost') ? 'value' : reads
  }
  const note = (name: string, reads: Planned): void => {
    if (byDetail.indexOf(reads) > byDetail.indexOf(planned.get(name))) planned.set(name, reads)
  }
  visit(
    operation.document,
    visitWithTypeInfo(info, {
      // Nested rows: their number decides which of the rows have a form of their own.
      Variable: ({ name }, _key, parent) => {
        const place = parent !== undefined && 'kind' in parent ? parent.kind : null
        const type = getNamedType(info.getInputType())
        if (place === Kind.VARIABLE_DEFINITION || type === undefined) return
        if (type.name === 'Boolean' && isRelatedChange(getNamedType(info.getParentInputType())?.name ?? ''))
          note(name.value, 'value')
        const isWithin = place !== Kind.ARGUMENT && (isRowInput(type.name) || (limited && isBeside(type)))
        if (isWithin || (limited && isNesting(type))) note(name.value, 'count')
      },
      Argument: ({ name, value }) => {
        if (value.kind !== Kind.VARIABLE) return
        const reads = readsOf(name.value)
        if (reads !== undefined) note(value.name.value, reads)
      },
    }),
  )
  return planned
}

const isInt = (type: GraphQLInputType | undefined): boolean => type !== undefined && getNamedType(type).name === 'Int'
