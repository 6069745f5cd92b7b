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
import { isRequiredInput } from '../../../runtime/contract/required-input.ts'
import type { ScalarName } from '../../../runtime/contract/scalar-names.ts'
import { commentText } from '../../emit/js-text.ts'
import { typesOf, type Layout, type Module } from './layout.ts'
import { argumentsOf } from './page.ts'
import { numericScalars, scalarFacts, type Readings } from './scalars.ts'

/** Types of a schema as types of TypeScript. Names to import are reported to the printer. */
export interface TypeText {
  /** A field of an object: `readonly title: string`. */
  readonly field: (field: ClientField) => string
  /** A figure of an aggregate over these rows. */
  readonly figure: (row: GraphQLObjectType, field: ClientField) => string
  /** What is asked for and answered, as a generated method's types have it. */
  readonly answered: (field: ClientField) => string
  /** The arguments that a field takes; `{}` when there are none. */
  readonly takes: (field: ClientField) => string
  /** A field of an input: `readonly title?: sdk.Maybe<string>`. */
  readonly input: (field: GraphQLInputField | GraphQLArgument) => string
  /** What something of one of these types is selected of. */
  readonly either: (types: readonly GraphQLObjectType[]) => string
  /** One of an input that takes exactly one: `readonly title: string`. */
  readonly member: (field: GraphQLInputField) => string
}

export type ClientField = GraphQLField<unknown, unknown>

export interface TypeTextOptions {
  readonly layout: Layout
  readonly readings: Readings
  /** The identifier of a type that is mentioned, for the imports. */
  readonly mention: (type: string) => string
  /** The identifier of what the collections of a table take. */
  readonly mentionPage: (module: Module) => string
}

export function createTypeText({ layout, readings, mention, mentionPage }: TypeTextOptions): TypeText {
  const leaf = (type: GraphQLNamedType): string => {
    if (isEnumType(type)) return mention(type.name)
    const name = type.name as ScalarName
    return readings[name] ?? scalarFacts[name]?.output ?? 'unknown'
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
    `{ ${types.map((type) => `readonly ${type.name}: sdk.Of<${object(type)}>`).join('; ')} }`
  const takes = (field: ClientField): string => {
    const { page, own } = argumentsOf(layout, field)
    const further = own.length === 0 ? [] : [`{ ${own.map(input).join('; ')} }`]
    return [...(page === null ? [] : [mentionPage(page)]), ...further].join(' & ') || '{}'
  }
  const marked = (field: ClientField): string => {
    const named = getNamedType(field.type)
    const more = field.args.length === 0 ? '' : `, ${takes(field)}`
    if (isUnionType(named)) return nullable(field.type, `sdk.Either<${either(typesOf(layout.schema, named))}${more}>`)
    if (!isObjectType(named))
      return more === '' ? output(field.type, leaf) : `sdk.Computed<${output(field.type, leaf)}${more}>`
    if (isListType(isNonNullType(field.type) ? field.type.ofType : field.type))
      return nullable(field.type, `sdk.ListOf<${object(named)}${more}>`)
    return nullable(field.type, `sdk.Of<${object(named)}${more}>`)
  }
  const answered = ({ type }: ClientField): string => {
    const named = getNamedType(type)
    return isObjectType(named) ? nullable(type, `sdk.Of<${object(named)}>`) : output(type, leaf)
  }
  const input = (told: GraphQLInputField | GraphQLArgument): string => {
    const { name, type, defaultValue } = told
    const text = inputText(type, inputLeaf)
    if (isRequiredInput(told)) return `readonly ${name}: ${text}`
    if (!isNonNullType(type)) return `readonly ${name}?: sdk.Maybe<${text}>`
    return defaultValue === undefined ? `readonly ${name}: ${text}` : `readonly ${name}?: ${text} | undefined`
  }
  const member = ({ name, type }: GraphQLInputField): string => `readonly ${name}: ${inputText(type, inputLeaf)}`
  const field = (told: ClientField): string => `readonly ${told.name}: ${marked(told)}`
  const figure = (row: GraphQLObjectType, told: ClientField): string =>
    isNumber(row, told) ? `readonly ${told.name}: number | null` : field(told)
  return { field, figure, answered, takes, input, either, member }
}

/** Whether a figure is one of JSON's own numbers. */
export function isNumber(row: GraphQLObjectType, { name, type }: ClientField): boolean {
  const column = row.getFields()[name]
  const isText = column !== undefined && !numericScalars.has(getNamedType(column.type).name)
  return numericScalars.has(getNamedType(type).name) && !isText
}

const nullable = (type: GraphQLOutputType, text: string): string => (isNonNullType(type) ? text : `${text} | null`)

function output(type: GraphQLOutputType, leaf: (type: GraphQLNamedType) => string): string {
  if (isNonNullType(type)) return nonNullOutput(type.ofType, leaf)
  const text = nonNullOutput(type, leaf)
  return text === 'unknown' ? text : `${text} | null`
}

const nonNullOutput = (type: GraphQLOutputType, leaf: (type: GraphQLNamedType) => string): string =>
  isListType(type) ? `readonly ${inBrackets(output(type.ofType, leaf))}[]` : leaf(getNamedType(type))

/** `Maybe`, or the list, adds null. */
function inputText(type: GraphQLInputType, leaf: (type: GraphQLNamedType) => string): string {
  const bare = isNonNullType(type) ? type.ofType : type
  if (!isListType(bare)) return leaf(getNamedType(bare))
  const item = inputText(bare.ofType, leaf)
  return `readonly ${inBrackets(isNonNullType(bare.ofType) ? item : `${item} | null`)}[]`
}

const inBrackets = (text: string): string => (text.includes(' ') ? `(${text})` : text)

/** A comment of one line, and of one more where what it is about is deprecated; nothing where there is nothing to say. */
export function comment(text: string | null | undefined, deprecated?: string | null): string {
  const told = text === null || text === undefined || text === '' ? [] : [commentText(text)]
  if (deprecated === null || deprecated === undefined) return told.map((line) => `/** ${line} */\n`).join('')
  const lines = [...told, `@deprecated ${commentText(deprecated)}`].map((line) => ` * ${line}\n`)
  return `/**\n${lines.join('')} */\n`
}
