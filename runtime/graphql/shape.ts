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
  type GraphQLSchema,
} from 'graphql'
import { Refusal } from './failures.ts'
import type { Operation } from './operation.ts'
import { decodeCursor, decodeNodeId } from './tokens.ts'

/**
 * The shape of a request's variables: everything about them that decides the statements. Requests with one document and one shape
 * share their statements; what is left of the variables are parameters.
 */
export type ShapeOf = (variables: Readonly<Record<string, unknown>>) => string

/** How a variable takes part in deciding. */
type Role =
  /** Which members it has and which of them are null. */
  | 'form'
  /** Its value: page sizes are written into statements, directives decide what is selected. */
  | 'value'
  /** A cursor: how many elements it has and which are null. */
  | 'cursor'
  /** A node id: which relation it names. */
  | 'node'

export function shapeOf(schema: GraphQLSchema, operation: Operation): ShapeOf {
  const roles = rolesOf(schema, operation)
  const readers = (operation.node.variableDefinitions ?? []).map((definition) => {
    const name = definition.variable.name.value
    const type = typeFromAST(schema, definition.type)
    const role = roles.get(name) ?? 'form'
    return { name, read: isInputType(type) ? readerOf(role, type) : JSON.stringify }
  })
  return (variables) => {
    let shape = ''
    for (const { name, read } of readers) shape += Object.hasOwn(variables, name) ? `${read(variables[name])};` : '-;'
    return shape
  }
}

function readerOf(role: Role, type: GraphQLInputType): (value: unknown) => string {
  switch (role) {
    case 'form':
      return (value) => formOf(type, value)
    case 'value':
      return (value) => JSON.stringify(value) ?? ''
    case 'cursor':
      return (value) => (value === null ? 'n' : unlessRefused(() => cursorShape(String(value))))
    case 'node':
      return (value) => unlessRefused(() => nodeShape(String(value)))
  }
}

const cursorShape = (token: string): string => decodeCursor(token).map((element) => (element === null ? 'n' : 'v')).join('')

function nodeShape(token: string): string {
  const { schema, relation } = decodeNodeId(token)
  return JSON.stringify([schema, relation])
}

/** A token that cannot be read is refused by planning, after whatever comes first (5.2), and not at all where it is skipped. */
function unlessRefused(shape: () => string): string {
  try {
    return shape()
  } catch (error) {
    if (error instanceof Refusal) return 'x'
    throw error
  }
}

/** Presence and nulls of a value, as deep as its type goes; enums that are written into statements count with their value. */
function formOf(type: GraphQLInputType, value: unknown): string {
  if (type instanceof GraphQLNonNull) return formOf(type.ofType, value)
  if (value === null || value === undefined) return 'n'
  if (type instanceof GraphQLList) return listForm(type.ofType, value)
  if (type instanceof GraphQLInputObjectType) {
    const fields = type.getFields()
    const members = Object.entries(value as Record<string, unknown>).map(([name, member]) => {
      const field = fields[name]
      return field === undefined ? name : `${name}:${formOf(field.type, member)}`
    })
    return `{${members.join(',')}}`
  }
  if (type instanceof GraphQLEnumType && (type.name === 'OrderByDirection' || type.name === 'FilterIs')) return String(value)
  return 'v'
}

/** Lists of objects of one form are told by that form alone: rows to insert are one parameter, however many there are. */
function listForm(type: GraphQLInputType, value: unknown): string {
  if (!(getNamedType(type) instanceof GraphQLInputObjectType)) return 'v'
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  const forms = items.map((item) => formOf(type, item))
  const isInsert = getNamedType(type).name.endsWith('InsertInput')
  if (isInsert && forms.length > 0) {
    const named = forms.map((form) => form.replaceAll(':n', ':v'))
    if (named.every((form) => form === named[0])) return `*${named[0]}`
  }
  return `[${forms.join(',')}]`
}

const literalArguments: ReadonlySet<string> = new Set(['first', 'last'])

function rolesOf(schema: GraphQLSchema, operation: Operation): ReadonlyMap<string, Role> {
  const roles = new Map<string, Role>()
  const info = new TypeInfo(schema)
  const note = (name: string, role: Role): void => {
    // A variable may stand in several places; its value decides everything that its form could.
    if (roles.get(name) !== 'value') roles.set(name, role)
  }
  visit(
    operation.document,
    visitWithTypeInfo(info, {
      Argument: (node) => {
        if (node.value.kind !== Kind.VARIABLE) return
        const name = node.value.name.value
        const argument = info.getArgument()
        if (info.getDirective() != null || info.getParentType()?.name.startsWith('__') === true) note(name, 'value')
        else if (info.getFieldDef()?.name.startsWith('__') === true) note(name, 'value')
        else if (literalArguments.has(node.name.value) && isPageSize(argument?.type)) note(name, 'value')
        else if (argument !== null && argument !== undefined && getNamedType(argument.type).name === 'Cursor') note(name, 'cursor')
        else if (info.getFieldDef()?.name === 'node' && node.name.value === 'nodeId') note(name, 'node')
      },
    }),
  )
  return roles
}

const isPageSize = (type: GraphQLInputType | undefined): boolean => type !== undefined && getNamedType(type).name === 'Int'
