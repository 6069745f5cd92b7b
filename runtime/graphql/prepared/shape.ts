import {
  getNamedType,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  isInputType,
  Kind,
  typeFromAST,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  type VariableDefinitionNode,
} from 'graphql'
import { parts } from '../../contract/name-parts.ts'
import { isWritten } from '../../engine/meaning.ts'
import { Refusal } from '../protocol/failures.ts'
import type { Operation } from '../operation/operation.ts'
import { decodeCursor, decodeNodeId } from '../plan/cursors-and-node-ids.ts'

/**
 * The shape of a request's variables: everything about them that decides the statements. Requests with one document and one shape
 * share their statements; what is left of the variables are parameters.
 */
export type ShapeOf = (variables: Readonly<Record<string, unknown>>) => string

/** What planning reads of a variable's value, beyond its form. */
export type Planned = 'value' | 'sign' | 'count'

/** @param planned the variables of which planning reads more than the form, by their names */
export function shapeOf(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  planned: ReadonlyMap<string, Planned>,
): ShapeOf {
  const readers = definitions.map((definition) => {
    const name = definition.variable.name.value
    const type = typeFromAST(schema, definition.type)
    const reads = planned.get(name)
    if (!isInputType(type) || reads === 'value') return { name, read: textOf }
    if (reads === 'count') return { name, read: (value: unknown) => formOf(type, value, true) }
    return { name, read: reads === 'sign' ? signOf : readerOf(type) }
  })
  return (variables) => {
    let shape = ''
    for (const { name, read } of readers) shape += Object.hasOwn(variables, name) ? `${read(variables[name])};` : '-;'
    return shape
  }
}

const textOf = (value: unknown): string => JSON.stringify(value) ?? ''

const signOf = (value: unknown): string => (value === null ? 'n' : Number(value) < 0 ? '-v' : 'v')

/**
 * A variable's own type decides how it is read, since another operation of the document may use the same name for
 * something else. The shape holds, of a cursor, the number of its elements and which are null; of a node id, the
 * relation that it names; of other values, their form.
 */
function readerOf(type: GraphQLInputType): (value: unknown) => string {
  const { name } = getNamedType(type)
  if (name === 'Cursor') return tokenReader(cursorShape)
  if (name === 'ID') return tokenReader(nodeShape)
  return (value) => formOf(type, value)
}

/**
 * Planning refuses an unreadable token after the faults that come first (spec/graphql.md 5.2), and not at all where the
 * field is skipped. A missing token is different from every token.
 */
const tokenReader =
  (shape: (token: string) => string) =>
  (value: unknown): string => {
    if (value === null) return 'null'
    try {
      return shape(String(value))
    } catch (error) {
      if (error instanceof Refusal) return 'refused'
      throw error
    }
  }

const cursorShape = (token: string): string =>
  decodeCursor(token)
    .map((element) => (element === null ? 'n' : 'v'))
    .join('')

function nodeShape(token: string): string {
  const { schema, relation } = decodeNodeId(token)
  return JSON.stringify([schema, relation])
}

/**
 * Presence and nulls of a value, as deep as its type goes; enums that are written into statements count with their value.
 * @param counted whether it counts how many rows a list holds
 */
function formOf(type: GraphQLInputType, value: unknown, counted = false): string {
  if (type instanceof GraphQLNonNull) return formOf(type.ofType, value, counted)
  if (value === null || value === undefined) return 'n'
  if (type instanceof GraphQLList) return listForm(type.ofType, value, counted)
  if (type instanceof GraphQLInputObjectType) {
    const fields = type.getFields()
    const members = Object.entries(value as Record<string, unknown>).map(([name, member]) => {
      const field = fields[name]
      return field === undefined ? name : `${name}:${formOf(field.type, member, counted)}`
    })
    return `{${members.join(',')}}`
  }
  return type instanceof GraphQLEnumType && isWritten(type) ? textOf(value) : 'v'
}

/**
 * Several objects of one form have that form alone as their shape: rows to insert or to change are one parameter, however many there
 * are. Rows that name no column are written one by one, and so are those within which some are.
 */
function listForm(type: GraphQLInputType, value: unknown, counted: boolean): string {
  const item = getNamedType(type)
  if (item instanceof GraphQLEnumType && isWritten(item)) return textOf(value)
  if (!(item instanceof GraphQLInputObjectType)) return 'v'
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  const areRows = isRow(item) || item.name.endsWith(parts.rowInput)
  if (areRows && !counted && items.length > 0) {
    const [first = '', ...others] = items.map((one) => formOf(type, one).replaceAll(':n', ':v'))
    const isOne = others.every((form) => form === first)
    if (isOne && first !== '{}' && (others.length === 0 || !first.includes('['))) {
      return `${others.length === 0 ? '' : '*'}${first}`
    }
  }
  return `[${items.map((one) => formOf(type, one, areRows || counted)).join(',')}]`
}

const isRow = ({ name }: GraphQLNamedType): boolean => name.endsWith(parts.insertInput)

/** Whether a row of the type may have related ones in it. */
const isNesting = (type: GraphQLNamedType): boolean =>
  type instanceof GraphQLInputObjectType &&
  Object.values(type.getFields()).some((field) => {
    const { name } = getNamedType(field.type)
    return [parts.parentInput, parts.childInput, parts.childrenInput].some((part) => name.endsWith(part))
  })

/** Page sizes are written into statements; of an offset it counts whether it is refused, also where no page is read. */
const plannedArguments: ReadonlyMap<string, Planned> = new Map([
  ['first', 'value'],
  ['last', 'value'],
  ['offset', 'sign'],
])

/**
 * Variables whose value is written into statements (page sizes), is refused (offsets) or decides what is selected (directives,
 * introspection). Those of the document's other operations count too, which makes shapes finer and never coarser.
 *
 * @param limited whether it is refused to write too many rows
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
    return isInt(info.getArgument()?.type) ? plannedArguments.get(argument) : undefined
  }
  visit(
    operation.document,
    visitWithTypeInfo(info, {
      // Rows that are part of others: how many there are decides which of all have a form of their own.
      Variable: ({ name }, _key, parent) => {
        const place = parent !== undefined && 'kind' in parent ? parent.kind : null
        const type = getNamedType(info.getInputType())
        if (place === Kind.VARIABLE_DEFINITION || type === undefined || !isRow(type)) return
        if (place !== Kind.ARGUMENT || (limited && isNesting(type)))
          planned.set(name.value, planned.get(name.value) ?? 'count')
      },
      Argument: ({ name, value }) => {
        if (value.kind !== Kind.VARIABLE) return
        const reads = readsOf(name.value)
        if (reads !== undefined && planned.get(value.name.value) !== 'value') planned.set(value.name.value, reads)
      },
    }),
  )
  return planned
}

const isInt = (type: GraphQLInputType | undefined): boolean => type !== undefined && getNamedType(type).name === 'Int'
