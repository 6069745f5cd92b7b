import type { BoundStatement } from '../../contract/execution.ts'
import { arrayText } from '../../sql/array-text.ts'
import type { CountedElements } from '../../sql/operators.ts'
import type { Prepared } from '../prepared/document.ts'
import { badArgument, refuse } from '../protocol/failures.ts'
import type { Encoding, Slot, Value, InputStep } from '../plan/values.ts'
import type { Statement } from '../statements/statements.ts'
import { checkNodeId, decodeCursor, elementText, type Elements } from '../plan/cursors-and-node-ids.ts'

export type BoundVariables = Readonly<Record<string, unknown>>

/** Puts this request's values into a statement. @throws Refusal for values that cannot be used */
export const bind = (statement: Statement, variables: BoundVariables): BoundStatement => {
  const { name, tenants, unchanged } = statement
  const values = statement.values.map((value) => bindValue(value, variables))
  return statement.carriesCheck === true
    ? { name, text: statement.text, values, tenants, unchanged, carriesCheck: true }
    : { name, text: statement.text, values, tenants, unchanged }
}

/** The same for all statements of a request. */
export const bindAll = ({ statements, variables }: Prepared): readonly BoundStatement[] =>
  statements.statements.map((statement) => bind(statement, variables))

/** The text of a value, or null. */
export const bindValue = (value: Value, variables: BoundVariables): string | null =>
  encode(value.encoding, resolve(value.slot, variables))

/** The texts of a list's items. */
export function bindEach({ slot }: Value, variables: BoundVariables): readonly (string | null)[] {
  const value = resolve(slot, variables)
  return itemsOf(value).map((item) => (item === null || item === undefined ? null : String(item)))
}

function resolve(slot: Slot, variables: BoundVariables): unknown {
  switch (slot.kind) {
    case 'constant':
      return slot.value
    case 'tenant':
      return null
    case 'variable': {
      let value: unknown = variables
      for (const step of slot.path) value = (value as Record<string | number, unknown> | null | undefined)?.[step]
      return value
    }
    case 'list':
      return slot.items.map((item) => resolve(item, variables))
    case 'object':
      return Object.fromEntries(slot.fields.map(([name, field]) => [name, resolve(field, variables)]))
    case 'within':
      return objectsWithin(itemsOf(resolve(slot.of, variables)), slot.path)
    case 'outer-places':
      return outerPlaces(itemsOf(resolve(slot.of, variables)), slot.path)
    case 'inner-places':
      return innerPlaces(objectsWithin(itemsOf(resolve(slot.of, variables)), slot.path), slot.step)
  }
}

function encode(encoding: Encoding, value: unknown): string | null {
  if (value === null || value === undefined) return null
  switch (encoding.kind) {
    case 'scalar':
      return bounded(encoding.counted, value, checked(boundText(value), encoding.maxLength))
    case 'array':
      return bounded(encoding.counted, value, arrayLiteral(value, encoding.maxLength))
    case 'offset':
      if (Number(value) < 0) throw badArgument('`offset` must be an unsigned integer')
      return String(value)
    case 'most':
      if (Number(value) < 0) throw badArgument('`atMost` must be an unsigned integer')
      return String(value)
    case 'distance':
      if (Number(value) < 0) throw badArgument('`distance` must not be negative')
      return String(value)
    case 'part':
      if (!(Number(value) >= 0 && Number(value) <= 1)) throw badArgument('`at` must be from 0 to 1')
      return String(value)
    case 'width':
      if (!isAboveZero(String(value))) throw badArgument('A width must be a number above 0')
      return String(value)
    case 'cursor':
      return cursorElement(decodeCursor(String(value)), encoding)
    case 'node-key':
      return elementText(checkNodeId(String(value), encoding.entity)[encoding.index] ?? null, encoding.form)
    case 'records':
      return records(value, encoding.members)
    case 'each':
      return each(value, encoding)
    case 'count':
      return String(itemsOf(value).length)
    case 'each-given':
      return arrayText(itemsOf(value).map((item) => String(valueAt(item, encoding.path) !== undefined)))
  }
}

function cursorElement(elements: Elements, { index, form, of }: Extract<Encoding, { kind: 'cursor' }>): string | null {
  if (of !== undefined && elements[of.at] !== of.name) return null
  return elementText(elements[index] ?? null, form)
}

/** Of an operand whose elements Postgres compares with each one of a value's (spec/graphql.md 4.1). */
const mostElements = 1_000

const elements: Readonly<Record<CountedElements, (value: unknown, text: string) => number>> = {
  items: (value) => itemsOf(value).length,
  json: (_, text) => countJson(text),
  words: (_, text) => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0,
}

/** The commas outside of its strings, and one. It need not be valid, and is read once, however it ends. */
function countJson(text: string): number {
  let count = 1
  let isString = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') isString = !isString
    else if (isString && character === '\\') at += 1
    else if (!isString && character === ',') count += 1
  }
  return count
}

function bounded(counted: CountedElements | undefined, value: unknown, text: string): string {
  // A short text has few elements.
  if (counted === undefined || text.length < mostElements || elements[counted](value, text) <= mostElements) return text
  throw refuse('OPERAND_LIMIT_EXCEEDED', `An operand has more than ${mostElements} elements.`)
}

/** JavaScript prints the negative zero of a double without its sign. */
const boundText = (value: unknown): string => (Object.is(value, -0) ? '-0' : String(value))

/** In decimal digits, which every numeric type accepts. */
const isAboveZero = (text: string): boolean => /^\d{1,30}(?:\.\d{1,30})?$/.test(text) && /[1-9]/.test(text)

/**
 * Half of a surrogate pair has no form in UTF-8 and would be stored as another character. Lengths are counted in
 * characters as Postgres counts them (spec/graphql.md, decision 4): code points, not UTF-16 units.
 */
function checked(text: string, maxLength: number | null): string {
  if (loneSurrogate.test(text))
    throw badArgument('Invalid input for String type. Half of a surrogate pair is not a character')
  if (maxLength !== null && text.length > maxLength && [...text].length > maxLength) {
    throw badArgument(`Invalid input for String type. Maximum character length ${maxLength}`)
  }
  return text
}

const loneSurrogate = /\p{Surrogate}/u

function arrayLiteral(value: unknown, maxLength: number | null): string {
  return arrayText(
    itemsOf(value).map((item) => (item === null || item === undefined ? null : checked(boundText(item), maxLength))),
  )
}

/** The objects of an insert as JSON records; scalars are sent as texts, which json_to_recordset passes on unread. */
function records(value: unknown, members: Extract<Encoding, { kind: 'records' }>['members']): string {
  return JSON.stringify(
    itemsOf(value).map((object) => {
      const given = object as Readonly<Record<string, unknown>>
      return Object.fromEntries(
        members.map((member, index) => [`c${index}`, recordValue(given[member.name], member.maxLength)]),
      )
    }),
  )
}

function each(value: unknown, { path, list, maxLength }: Extract<Encoding, { kind: 'each' }>): string {
  const texts = itemsOf(value).map((item) => {
    const found = valueAt(item, path)
    if (found === null || found === undefined) return null
    return list ? arrayLiteral(found, null) : checked(boundText(found), maxLength)
  })
  return arrayText(texts)
}

function recordValue(value: unknown, maxLength: number | null): unknown {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.map((item) => recordValue(item, null))
  return checked(boundText(value), maxLength)
}

/** Access to nested objects in a request's input. */

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** Names that every object has, such as "toString", are fields only if they are given. */
const valueAt = (item: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) =>
      Object.hasOwn(Object(value), name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined,
    item,
  )

const objectsWithin = (objects: readonly unknown[], path: readonly InputStep[]): readonly unknown[] =>
  path.reduce<readonly unknown[]>((found, step) => found.flatMap((object) => pick(object, step)), objects)

/** For each object on a path, the number, from 1 on, of its parent object. */
const outerPlaces = (objects: readonly unknown[], path: readonly InputStep[]): readonly number[] => {
  const last = path.at(-1)
  const above = objectsWithin(objects, path.slice(0, -1))
  return last === undefined ? [] : above.flatMap((object, index) => pick(object, last).map(() => index + 1))
}

/** For each object, the number, from 1 on, of its child at the next step; null: none. */
const innerPlaces = (objects: readonly unknown[], step: InputStep): readonly (number | null)[] => {
  let place = 0
  return objects.map((object) => (pick(object, step).length === 0 ? null : (place += 1)))
}

function pick(object: unknown, { field, member, key }: InputStep): readonly unknown[] {
  const found = valueAt(object, [field, member])
  if (found === null || found === undefined) return []
  return itemsOf(found).filter((item) => key === undefined || namesAll(item, key))
}

const namesAll = (item: unknown, key: readonly string[]): boolean => {
  const names = Object.keys(Object(item))
  return names.length === key.length && key.every((name) => names.includes(name))
}
