import {
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql'
import type { PropertySignatureStructure } from 'ts-morph'
import { isRequiredInput } from '../../../runtime/contract/required-input.ts'
import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'
import { typesOf, type Layout, type Module } from './layout.ts'
import { argumentsOf } from './page.ts'
import { numericScalars, scalarFacts } from './source.ts'

export interface ClientMember extends Pick<PropertySignatureStructure, 'docs' | 'hasQuestionToken'> {
  readonly name: string
  readonly type: string
}

export type ClientField = GraphQLField<unknown, unknown>

export type TypeText = ReturnType<typeof createTypeText>

/**
 * Types of a schema as types of TypeScript.
 * @param mention reports a type for the imports, and returns its identifier
 * @param mentionPage the same for the page arguments of a table
 */
export function createTypeText(
  layout: Layout,
  mention: (type: string) => string,
  mentionPage: (module: Module) => string,
) {
  const leaf = (type: GraphQLNamedType): string => {
    if (isEnumType(type)) return mention(type.name)
    const name = type.name as ScalarName
    return layout.readings[name] ?? scalarFacts[name]?.output ?? 'unknown'
  }
  const inputLeaf = (type: GraphQLNamedType): string =>
    layout.moduleOf(type.name) === undefined
      ? (scalarFacts[type.name as ScalarName]?.input ?? 'unknown')
      : mention(type.name)
  const object = (type: GraphQLNamedType): string => {
    const part = layout.rowOf(type.name)
    if (type.name === 'PageInfo') return 'sdk.PageInfo'
    if (part?.kind === 'edge') return `sdk.Edge<${mention(part.row.name)}>`
    if (part?.kind === 'written') return `sdk.Written<${mention(part.row.name)}>`
    return mention(type.name)
  }
  const either = (types: readonly GraphQLObjectType[]): string =>
    objectType(types.map((type) => ({ name: type.name, type: `sdk.Of<${object(type)}>` })))
  const takes = (field: ClientField): string => {
    const { page, own } = argumentsOf(layout, field)
    const further = own.length === 0 ? [] : [objectType(own.map(input))]
    return [...(page === null ? [] : [mentionPage(page)]), ...further].join(' & ') || '{}'
  }
  const marked = (field: ClientField): string => {
    const named = getNamedType(field.type)
    const more = field.args.length === 0 ? '' : `, ${takes(field)}`
    if (isUnionType(named))
      return nullableText(field.type, `sdk.Either<${either(typesOf(layout.schema, named))}${more}>`)
    if (!isObjectType(named))
      return more === '' ? output(field.type, leaf) : `sdk.Computed<${output(field.type, leaf)}${more}>`
    if (isListType(isNonNullType(field.type) ? field.type.ofType : field.type))
      return nullableText(field.type, `sdk.ListOf<${object(named)}${more}>`)
    return nullableText(field.type, `sdk.Of<${object(named)}${more}>`)
  }
  const answered = ({ type }: ClientField): string => {
    const named = getNamedType(type)
    return isObjectType(named) ? nullableText(type, `sdk.Of<${object(named)}>`) : output(type, leaf)
  }
  const input = (given: GraphQLInputField | GraphQLArgument): ClientMember => {
    const { name, type, defaultValue } = given
    const text = inputText(type, inputLeaf)
    if (isRequiredInput(given)) return { name, type: text }
    if (!isNonNullType(type)) return { name, type: `sdk.Maybe<${text}>`, hasQuestionToken: true }
    return defaultValue === undefined
      ? { name, type: text }
      : { name, type: `${text} | undefined`, hasQuestionToken: true }
  }
  /** One field of an input that takes exactly one. */
  const member = ({ name, type }: GraphQLInputField): ClientMember => ({ name, type: inputText(type, inputLeaf) })
  const field = (given: ClientField): ClientMember => ({ name: given.name, type: marked(given) })
  const figure = (row: GraphQLObjectType, given: ClientField): ClientMember =>
    isNumber(row, given) ? { name: given.name, type: 'number | null' } : field(given)
  return { field, figure, answered, takes, input, either, member }
}

/** Whether a figure is a JSON number. */
export function isNumber(row: GraphQLObjectType, { name, type }: ClientField): boolean {
  const column = row.getFields()[name]
  const isText = column !== undefined && !numericScalars.has(getNamedType(column.type).name)
  return numericScalars.has(getNamedType(type).name) && !isText
}

const nullableText = (type: GraphQLOutputType, text: string): string => (isNonNullType(type) ? text : `${text} | null`)

function output(type: GraphQLOutputType, leaf: (type: GraphQLNamedType) => string): string {
  if (isNonNullType(type)) return nonNullOutput(type.ofType, leaf)
  const text = nonNullOutput(type, leaf)
  return text === 'unknown' ? text : `${text} | null`
}

const nonNullOutput = (type: GraphQLOutputType, leaf: (type: GraphQLNamedType) => string): string =>
  isListType(type) ? `${inBrackets(output(type.ofType, leaf))}[]` : leaf(getNamedType(type))

/** `Maybe`, or the list, adds null. */
function inputText(type: GraphQLInputType, leaf: (type: GraphQLNamedType) => string): string {
  const bare = isNonNullType(type) ? type.ofType : type
  if (!isListType(bare)) return leaf(getNamedType(bare))
  const item = inputText(bare.ofType, leaf)
  return `readonly ${inBrackets(isNonNullType(bare.ofType) ? item : `${item} | null`)}[]`
}

const inBrackets = (text: string): string => (text.includes(' ') ? `(${text})` : text)

export const objectType = (members: readonly ClientMember[]): string =>
  `{ ${members.map(({ name, type, hasQuestionToken }) => `readonly ${name}${hasQuestionToken === true ? '?' : ''}: ${type}`).join('; ')} }`
