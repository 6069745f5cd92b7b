import { isFields, type Fields } from '../json.ts'
import { readers, type Reader, type ReaderName } from './readers.ts'

/**
 * The facts of a field for requests: the types of its arguments, its object type, its reader. Fields of unconverted
 * values without arguments need no entry.
 */
export interface FieldFacts {
  /** GraphQL types of the arguments by name. */
  readonly args?: Readonly<Record<string, string>>
  /** The object type of its value. A function, because types refer to each other in cycles. */
  readonly of?: TypeFacts
  /** Present if `of` contains types instead of fields, of which the value has one. */
  readonly either?: true
  readonly as?: ReaderName
  /** Present on a member that is not a field of the schema: the rows of a page without its edges. */
  readonly rows?: true
}

export type TypeFacts = () => Readonly<Record<string, FieldFacts>>

/** A requested field: its arguments, and the selection if its value is an object. */
interface Asked {
  readonly args: Fields
  readonly select: unknown
}

export interface Request {
  readonly document: string
  readonly variables: Fields
  readonly read: Reader
}

interface Printed {
  readonly text: string
  /** Null if the value is passed on unchanged. */
  readonly read: Reader | null
}

/** The variables of a document, in order of mention. */
interface Variables {
  readonly types: string[]
  readonly values: Record<string, unknown>
}

export type Operation = 'query' | 'mutation' | 'subscription'

/** Makes the request for a root field. Throws TypeError for input that the declarations exclude. */
export function requestOf(operation: Operation, name: string, facts: FieldFacts, given: Fields): Request {
  const variables: Variables = { types: [], values: {} }
  const { text, read } = printField(name, facts, givenTo(facts, given), variables)
  const declared = variables.types.length === 0 ? '' : `(${variables.types.join(', ')})`
  return {
    document: `${operation} ${name}${declared} { ${text} }`,
    variables: variables.values,
    read: read ?? ((value) => value),
  }
}

/** The arguments, with the selection if there is one. */
function givenTo({ of }: FieldFacts, given: Fields): Asked {
  if (of === undefined) return { args: given, select: true }
  const { select, ...args } = given
  return { args, select }
}

/** The value of a field's name within a selection. */
const chosenOf = (facts: FieldFacts, choice: unknown): Asked =>
  facts.args !== undefined && isFields(choice) ? givenTo(facts, choice) : { args: {}, select: choice }

/** @param key of the answer */
function printField(
  name: string,
  facts: FieldFacts,
  { args, select }: Asked,
  variables: Variables,
  key: string = name,
): Printed {
  const called = `${key === name ? '' : `${key}: `}${nameOf(name)}${printArguments(name, facts, args, variables)}`
  if (facts.of === undefined)
    return { text: called, read: facts.as === undefined ? null : eachValue(readers[facts.as]) }
  const { text, read } = (facts.either === true ? printTypes : printSelection)(facts.of(), select, variables)
  return facts.rows === true
    ? { text: `${key}: edges { node { ${text} } }`, read: eachValue((edge) => nodeOf(edge, read)) }
    : { text: `${called} { ${text} }`, read: read && eachValue(read) }
}

type Chosen = readonly (readonly [name: string, choice: unknown])[]

function chosenIn(select: unknown): Chosen {
  if (!isFields(select)) throw new TypeError('What is selected of an object must be an object')
  return Object.entries(select).filter(([, choice]) => choice !== undefined)
}

const printSelection = (type: ReturnType<TypeFacts>, select: unknown, variables: Variables): Printed =>
  printFields(type, chosenIn(select), variables, (name) => name)

/** @param keyOf the key of a field in the answer */
function printFields(
  type: ReturnType<TypeFacts>,
  chosen: Chosen,
  variables: Variables,
  keyOf: (name: string) => string,
): Printed {
  const printed = chosen.map(([name, choice]) => {
    const facts = Object.hasOwn(type, name) ? (type[name] ?? {}) : {}
    const key = keyOf(name)
    return { name, key, ...printField(name, facts, chosenOf(facts, choice), variables, key) }
  })
  const members = printed.filter(({ name, key, read }) => read !== null || key !== name)
  return {
    // GraphQL has no empty selection.
    text: printed.map(({ text }) => text).join(' ') || '__typename',
    read: members.length === 0 ? null : (object) => readMembers(object, members),
  }
}

/**
 * The selections for each possible type of an object. A field in several of them has a separate key for each: GraphQL
 * allows one key for fields of different types at no place of an answer.
 */
function printTypes(types: ReturnType<TypeFacts>, select: unknown, variables: Variables): Printed {
  const chosen = chosenIn(select).map(([name, choice]) => [name, chosenIn(choice)] as const)
  const timesOf = (wanted: string): number =>
    chosen.filter(([, fields]) => fields.some(([field]) => field === wanted)).length
  const printed = chosen.map(([name, fields], place) => {
    const type = (Object.hasOwn(types, name) ? types[name] : undefined)?.of
    if (type === undefined) throw new TypeError(`${name} is none of ${Object.keys(types).join(', ')}`)
    const keyOf = (field: string): string => (timesOf(field) > 1 ? `${field}__${place}` : field)
    return { name, ...printFields(type(), fields, variables, keyOf) }
  })
  const reads = new Map(printed.map(({ name, read }) => [name, read]))
  return {
    text: ['__typename', ...printed.map(({ name, text }) => `... on ${nameOf(name)} { ${text} }`)].join(' '),
    read: (object) => reads.get(String((object as Fields)['__typename']))?.(object) ?? object,
  }
}

function printArguments(field: string, { args: types = {} }: FieldFacts, args: Fields, variables: Variables): string {
  const given = Object.entries(args).filter(([, value]) => value !== undefined)
  const texts = given.map(([name, value]) => {
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    if (type === undefined) throw new TypeError(`${field} takes no argument ${name}`)
    const variable = `v${variables.types.length + 1}`
    variables.types.push(`$${variable}: ${type}`)
    variables.values[variable] = toWire(value)
    return `${name}: $${variable}`
  })
  return texts.length === 0 ? '' : `(${texts.join(', ')})`
}

/** Names come from an object's keys: an invalid name must not become part of a document. */
function nameOf(text: string): string {
  if (!/^[_A-Za-z][_0-9A-Za-z]*$/.test(text)) throw new TypeError(`${JSON.stringify(text)} is no name of a field`)
  return text
}

/** JSON has no bigints. */
function toWire(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(toWire)
  if (!isFields(value) || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toWire(member)]))
}

/** Applies the reader to every item of a list, and not to null. */
function eachValue(read: Reader): Reader {
  const readValue: Reader = (value) =>
    value === null ? null : Array.isArray(value) ? value.map(readValue) : read(value)
  return readValue
}

function nodeOf(edge: unknown, read: Reader | null): unknown {
  const { node } = edge as { readonly node: unknown }
  return read === null ? node : read(node)
}

interface Member {
  readonly name: string
  readonly key: string
  readonly read: Reader | null
}

function readMembers(object: unknown, members: readonly Member[]): unknown {
  const given = object as Fields
  const read = members.map(({ name, key, read: one }) => [name, one === null ? given[key] : one(given[key])] as const)
  const renamed = new Set(members.flatMap(({ name, key }) => (name === key ? [] : [key])))
  const others =
    renamed.size === 0 ? given : Object.fromEntries(Object.entries(given).filter(([key]) => !renamed.has(key)))
  return { ...others, ...Object.fromEntries(read) }
}
