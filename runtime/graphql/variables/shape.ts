import { parts } from '../../contract/name-parts.ts'
import { changeParts } from '../../contract/related-change-forms.ts'
import { decodeCursor, decodeNodeId } from '../plan/cursors-and-node-ids.ts'
import { Refusal } from '../protocol/failures.ts'
import { namedInput, type DeclaredVariable, type InputType } from './variable-types.ts'

/**
 * The shape of a request's variables: everything about them that decides the statements. Requests with the same
 * document and shape share their statements; the rest of the variables are parameters.
 */
export type ShapeOf = (variables: Readonly<Record<string, unknown>>) => string

/** What planning reads of a variable's value, beyond its form; the `size` of a page is written into statements. */
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
  const areRows = isRowInput(item.text) || [parts.rowInput, parts.keyInput].some((part) => item.text.endsWith(part))
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
export const isRelatedChange = (name: string): boolean => changeParts.some((part) => name.endsWith(parts[part]))

/** Whether the type with this name describes rows to insert. */
export const isRowInput = (name: string): boolean => name.endsWith(parts.insertInput)
