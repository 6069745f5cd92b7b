import { isFields, type Fields } from '../json.ts'
import { readers, type Reader, type ReaderName } from './readers.ts'

/**
 * A field of an object type, as far as a request has to know it: the types of its arguments, what its value is made of,
 * how it is read. Fields of values that are handed on as they came, and take nothing, need no entry.
 */
export interface FieldFacts {
  /** GraphQL types of the arguments by name. */
  readonly args?: Readonly<Record<string, string>>
  /** The object type of its value. Called late, because types refer to each other in circles. */
  readonly of?: TypeFacts
  readonly as?: ReaderName
  /** Present on what is no field of the schema: the rows of a page without its edges. */
  readonly rows?: true
}

export type TypeFacts = () => Readonly<Record<string, FieldFacts>>

/** What is asked of a field: its arguments, and what is selected where its value is an object. */
interface Asked {
  readonly args: Fields
  readonly select: unknown
}

/** A document of one field with its variables, and the reader of its value. */
export interface Request {
  readonly document: string
  readonly variables: Fields
  readonly read: Reader
}

interface Printed {
  readonly text: string
  /** Null where the value is handed on as it came. */
  readonly read: Reader | null
}

/** The variables of a document, in the order in which they are mentioned. */
interface Variables {
  readonly types: string[]
  readonly values: Record<string, unknown>
}

export type Operation = 'query' | 'mutation' | 'subscription'

/** Makes the request for a root field. Throws TypeError for what no declaration lets pass. */
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

/** Arguments with the selection beside them, where there is one. */
function givenTo({ of }: FieldFacts, given: Fields): Asked {
  if (of === undefined) return { args: given, select: true }
  const { select, ...args } = given
  return { args, select }
}

/** What stands at the name of a field within a selection. */
const chosenOf = (facts: FieldFacts, choice: unknown): Asked =>
  facts.args !== undefined && isFields(choice) ? givenTo(facts, choice) : { args: {}, select: choice }

function printField(name: string, facts: FieldFacts, { args, select }: Asked, variables: Variables): Printed {
  const called = nameOf(name) + printArguments(name, facts, args, variables)
  if (facts.of === undefined)
    return { text: called, read: facts.as === undefined ? null : eachValue(readers[facts.as]) }
  const { text, read } = printSelection(facts.of(), select, variables)
  return facts.rows === true
    ? { text: `${called}: edges { node { ${text} } }`, read: eachValue((edge) => nodeOf(edge, read)) }
    : { text: `${called} { ${text} }`, read: read && eachValue(read) }
}

function printSelection(type: ReturnType<TypeFacts>, select: unknown, variables: Variables): Printed {
  if (!isFields(select)) throw new TypeError('What is selected of an object must be an object')
  const chosen = Object.entries(select).filter(([, choice]) => choice !== undefined)
  const printed = chosen.map(([name, choice]): readonly [string, Printed] => {
    const facts = Object.hasOwn(type, name) ? (type[name] ?? {}) : {}
    return [name, printField(name, facts, chosenOf(facts, choice), variables)]
  })
  const reads = printed.flatMap(([name, { read }]) => (read === null ? [] : [[name, read] as const]))
  return {
    // GraphQL has no empty selection.
    text: printed.map(([, { text }]) => text).join(' ') || '__typename',
    read: reads.length === 0 ? null : (object) => readMembers(object, reads),
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

/** Names come from an object's keys: what is no name must not become part of a document. */
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

/** Reads what is there: every item of a list, and nothing of null. */
function eachValue(read: Reader): Reader {
  const readValue: Reader = (value) =>
    value === null ? null : Array.isArray(value) ? value.map(readValue) : read(value)
  return readValue
}

function nodeOf(edge: unknown, read: Reader | null): unknown {
  const { node } = edge as { readonly node: unknown }
  return read === null ? node : read(node)
}

function readMembers(object: unknown, reads: readonly (readonly [name: string, read: Reader])[]): unknown {
  const read = reads.map(([name, readMember]) => [name, readMember((object as Fields)[name])] as const)
  return { ...(object as Fields), ...Object.fromEntries(read) }
}
