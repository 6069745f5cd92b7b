import { ValueFault } from '../../engine/values/fault.ts'
import { readScalar } from '../../engine/values/scalar-values.ts'
import { cut, meantNames, inspect } from '../../engine/values/words.ts'
import { isJsonObject } from '../../lib/json.ts'
import { Refusal, type FailureCode } from '../protocol/failures.ts'
import {
  inGivenOrder,
  readsOrder,
  type DeclaredVariable,
  type EnumInput,
  type InputType,
  type FieldsInput,
  namedInput,
} from './input-types.ts'
import { parts } from '../../contract/name-parts.ts'
import { decodeCursor, decodeNodeId } from '../plan/cursors-and-node-ids.ts'

type Given = Readonly<Record<string, unknown>>

/** The limit of graphql-js on execution; a long list may consist of errors only. */
const mostFaults = 50

const tooMany = 'Too many errors processing variables, error limit reached. Execution aborted.'

/** A request's values for the variables of an operation. @throws Refusal in the words of graphql-js */
export function createVariableReader(declared: readonly DeclaredVariable[]): (given: Given) => Given {
  const ordered = orderedFor(declared)
  return (given) => {
    const coerced = coerceVariables(declared, given, mostFaults)
    if (coerced.kind === 'faults') throw variablesRefusal(coerced)
    return ordered === null ? coerced.values : ordered(coerced.values, given)
  }
}

/** The same without messages: null at the first value that does not fit. */
export function createFittingReader(declared: readonly DeclaredVariable[]): (given: Given) => Given | null {
  const ordered = orderedFor(declared)
  return (given) => {
    const coerced = coerceVariables(declared, given, 0)
    if (coerced.kind === 'faults') return null
    return ordered === null ? coerced.values : ordered(coerced.values, given)
  }
}

/** Null: no variable has ordered members. */
function orderedFor(declared: readonly DeclaredVariable[]): ((values: Given, given: Given) => Given) | null {
  const orders = declared.filter(({ type }) => readsOrder(type))
  if (orders.length === 0) return null
  return (values, given) => {
    const ordered = orders.filter(({ name }) => Object.hasOwn(given, name))
    if (ordered.length === 0) return values
    return {
      ...values,
      ...Object.fromEntries(ordered.map(({ name, type }) => [name, inGivenOrder(type, values[name], given[name])])),
    }
  }
}

const code = 'BAD_VARIABLES' satisfies FailureCode

function variablesRefusal({ faults, tooMany: more }: { faults: readonly VariableFault[]; tooMany: boolean }): Refusal {
  const errors = faults.map(({ message, variable: { place } }) => ({
    message,
    ...(place !== null && { locations: [place] }),
    extensions: { code } as const,
  }))
  return new Refusal(code, more ? [...errors, { message: tooMany, extensions: { code } }] : errors)
}

type Path = readonly (string | number)[]

/** Receives each value that does not fit; it may throw to stop. */
type OnFault = (path: Path, value: unknown, sentence: string) => void

/** An error in a request's variables, and the position of the variable's declaration. */
interface VariableFault {
  readonly message: string
  readonly variable: DeclaredVariable
}

/** Coerced values; or their errors, in the words of graphql-js. */
type Coerced =
  | { readonly kind: 'values'; readonly values: Given }
  | { readonly kind: 'faults'; readonly faults: readonly VariableFault[]; readonly tooMany: boolean }

class TooManyFaults extends Error {}

/**
 * The values of a request's variables by their declared types (GraphQL specification 6.1.2; graphql-js 16,
 * execution/values).
 * @param most the maximum number of errors
 */
function coerceVariables(declared: readonly DeclaredVariable[], given: Given, most: number): Coerced {
  // Without a prototype, because a variable may have the name of one of its members.
  const values = Object.create(null) as Record<string, unknown>
  const faults: VariableFault[] = []
  const report = (variable: DeclaredVariable, message: string): void => {
    if (faults.length >= most) throw new TooManyFaults()
    faults.push({ message: `Variable "$${variable.name}" ${message}`, variable })
  }
  try {
    for (const variable of declared) readVariable(variable, given, values, (message) => report(variable, message))
  } catch (error) {
    if (!(error instanceof TooManyFaults)) throw error
    return { kind: 'faults', faults, tooMany: true }
  }
  return faults.length === 0 ? { kind: 'values', values } : { kind: 'faults', faults, tooMany: false }
}

function readVariable(
  { name, type, byDefault }: DeclaredVariable,
  given: Given,
  values: Record<string, unknown>,
  report: (message: string) => void,
): void {
  if (!Object.hasOwn(given, name)) {
    if (byDefault !== undefined) values[name] = byDefault
    else if (type.kind === 'non-null') report(`of required type "${type.text}" was not provided.`)
    return
  }
  const value = given[name]
  if (value === null && type.kind === 'non-null') return report(`of non-null type "${type.text}" must not be null.`)
  // An object has a fault for each of its unknown members.
  let last: { readonly wrong: unknown; readonly shown: string } | null = null
  values[name] = coerceInput(value, type, (path, wrong, sentence) => {
    const at = path.length === 0 ? '' : ` at "${name}${path.map(written).join('')}"`
    if (last === null || last.wrong !== wrong) last = { wrong, shown: inspect(wrong) }
    report(`got invalid value ${last.shown}${at}; ${sentence}`)
  })
}

const written = (step: string | number): string => (typeof step === 'number' ? `[${step}]` : `.${step}`)

/** A value by its type; for a value that does not fit, calls `onFault` and returns undefined. */
function coerceInput(value: unknown, type: InputType, onFault: OnFault, path: Path = []): unknown {
  if (type.kind === 'non-null') {
    if (value !== null && value !== undefined) return coerceInput(value, type.of, onFault, path)
    onFault(path, value, `Expected non-nullable type "${type.text}" not to be null.`)
    return undefined
  }
  if (value === null || value === undefined) return null
  switch (type.kind) {
    case 'list':
      return Array.isArray(value)
        ? value.map((item, place) => coerceInput(item, type.of, onFault, [...path, place]))
        : [coerceInput(value, type.of, onFault, path)]
    case 'object':
      return coerceObject(value, type, onFault, path)
    case 'enum':
    case 'scalar':
      try {
        return type.kind === 'enum' ? readEnum(value, type) : readScalar[type.text](value)
      } catch (error) {
        if (!(error instanceof ValueFault)) throw error
        onFault(path, value, error.message)
        return undefined
      }
  }
}

function coerceObject(value: unknown, type: FieldsInput, onFault: OnFault, path: Path): unknown {
  if (!isJsonObject(value)) return onFault(path, value, `Expected type "${type.text}" to be an object.`)
  const fields = type.fields()
  const coerced: [string, unknown][] = []
  for (const [name, { type: inner, byDefault }] of fields) {
    if (Object.hasOwn(value, name)) coerced.push([name, coerceInput(value[name], inner, onFault, [...path, name])])
    else if (byDefault !== undefined) coerced.push([name, byDefault])
    else if (inner.kind === 'non-null')
      onFault(path, value, `Field "${name}" of required type "${inner.text}" was not provided.`)
  }
  for (const name of Object.keys(value)) {
    if (fields.has(name)) continue
    onFault(
      path,
      value,
      `Field "${cut(name)}" is not defined by type "${type.text}".${meantNames(name, [...fields.keys()])}`,
    )
  }
  if (type.oneOf) checkOne(value, type, coerced, onFault, path)
  return Object.fromEntries(coerced)
}

/** If there are two, the first is checked as well, as in graphql-js. */
function checkOne(
  value: unknown,
  { text }: FieldsInput,
  [first, ...others]: readonly (readonly [name: string, value: unknown])[],
  onFault: OnFault,
  path: Path,
): void {
  if (first === undefined || others.length > 0)
    onFault(path, value, `Exactly one key must be specified for OneOf type "${text}".`)
  if (first?.[1] === null) onFault([...path, first[0]], null, `Field "${first[0]}" must be non-null.`)
}

function readEnum(value: unknown, { text, values }: EnumInput): string {
  const names = [...values.keys()]
  const meant = (name: string): string => meantNames(name, names, 'the enum value ')
  if (typeof value !== 'string') {
    const shown = inspect(value)
    throw new ValueFault(`Enum "${text}" cannot represent non-string value: ${shown}.${meant(shown)}`)
  }
  const found = values.get(value)
  if (found === undefined)
    throw new ValueFault(`Value "${cut(value)}" does not exist in "${text}" enum.${meant(value)}`)
  return found
}

/**
 * The shape of a request's variables: everything about them that decides the statements. Requests with the same
 * document and shape share their statements; the rest of the variables are parameters.
 */
export type ShapeOf = (variables: Readonly<Record<string, unknown>>) => string

/** The parts of a variable's value that planning reads, beyond its form; the `size` of a page is written into statements. */
export type Planned = 'value' | 'size' | 'sign' | 'count'

/**
 * @param planned the variables of which planning reads more than the form, by name
 * @param areHoles whether statements have holes for page sizes: only whether there are rows counts then, not how many
 */
export function shapeOf(
  declared: readonly DeclaredVariable[],
  planned: ReadonlyMap<string, Planned>,
  areHoles = false,
): ShapeOf {
  const readers = declared.map(({ name, type }) => {
    switch (planned.get(name)) {
      case 'value':
        return { name, read: textOf }
      case 'size':
        return { name, read: areHoles ? sizeOf : textOf }
      case 'sign':
        return { name, read: signOf }
      case 'count':
        return { name, read: (value: unknown) => formOf(type, value, true) }
      case undefined:
        return { name, read: readerOf(type) }
    }
  })
  return (variables) => {
    let shape = ''
    for (const { name, read } of readers) shape += Object.hasOwn(variables, name) ? `${read(variables[name])};` : '-;'
    return shape
  }
}

const textOf = (value: unknown): string => JSON.stringify(value) ?? ''

const sizeOf = (value: unknown): string => (value === 0 ? '0' : signOf(value))

const signOf = (value: unknown): string => (value === null ? 'n' : Number(value) < 0 ? '-v' : 'v')

/**
 * A variable's own type decides how it is read, because another operation of the document may use the same name for
 * something else. The shape contains, of a cursor, the number of its elements and which are null; of a node id, the
 * relation that it names; of other values, their form.
 */
function readerOf(type: InputType): (value: unknown) => string {
  const { text } = namedInput(type)
  if (text === 'Cursor') return tokenReader(cursorShape)
  if (text === 'ID') return tokenReader(nodeShape)
  return (value) => formOf(type, value)
}

/**
 * Planning refuses an unreadable cursor or id after the errors that come first (spec/graphql.md 5.2), and not at all if
 * the field is skipped. Absence has a form of its own.
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
 * Presence and nulls of a value, to the depth of its type; enums that are written into statements count with their
 * value.
 * @param counted whether the number of rows in a list counts
 */
function formOf(type: InputType, value: unknown, counted = false): string {
  if (type.kind === 'non-null') return formOf(type.of, value, counted)
  if (value === null || value === undefined) return 'n'
  if (type.kind === 'list') return listForm(type.of, value, counted)
  if (type.kind === 'object') {
    const fields = type.fields()
    const members = Object.entries(value as Record<string, unknown>).map(([name, member]) => {
      const field = fields.get(name)
      return field === undefined ? name : `${name}:${memberForm(type.text, field.type, member, counted)}`
    })
    return `{${members.join(',')}}`
  }
  return type.kind === 'enum' && type.written ? textOf(value) : 'v'
}

/** Disconnecting and deleting rows are different statements. */
const memberForm = (owner: string, type: InputType, value: unknown, counted: boolean): string =>
  type.kind === 'scalar' && type.text === 'Boolean' && isRelatedChange(owner)
    ? textOf(value)
    : formOf(type, value, counted)

/**
 * Several objects of one form have that form alone as their shape: rows to insert or to change are one parameter,
 * however many there are. Rows that name no column are written one by one, like those with nested rows. Input about
 * existing rows may contain conditions, in which nulls count.
 */
function listForm(type: InputType, value: unknown, counted: boolean): string {
  const item = namedInput(type)
  if (item.kind === 'enum' && item.written) return textOf(value)
  if (item.kind !== 'object') return 'v'
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  const areRows = isRowInput(item.text) || isKeyedInput(item.text)
  if (areRows && !counted && items.length > 0) {
    const [first = '', ...others] = items.map((one) => formOf(type, one).replaceAll(':n', ':v'))
    const isOne = others.every((form) => form === first)
    if (isOne && first !== '{}' && !first.includes('onConflict:{') && (others.length === 0 || !first.includes('['))) {
      return `${others.length === 0 ? '' : '*'}${first}`
    }
  }
  return `[${items.map((one) => formOf(type, one, areRows || counted)).join(',')}]`
}

/** Whether the type with this name describes changes of related rows. */
export const isRelatedChange = (name: string): boolean => /(?:Parent|Child|Children)Change$/.test(name)

export const isRowInput = (name: string): boolean => name.endsWith(parts.insertInput)

/** Whether the type with this name names rows by their keys. */
export const isKeyedInput = (name: string): boolean => /(?:Row|Key)Input$/.test(name)
