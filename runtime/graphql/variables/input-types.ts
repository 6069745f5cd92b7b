import type { ScalarName } from '../../contract/scalar-names.ts'
import { isJsonObject } from '../../lib/json.ts'

/**
 * The type of a variable as plain data: enough to read values without a schema. Types are recursive (a filter contains
 * filters), so an object's fields are made on first use.
 */
export type InputType = NonNullInput | ListInput | NamedInput
export type NamedInput = ScalarInput | EnumInput | FieldsInput

/** `text` is the type as a document writes it. */
interface NonNullInput {
  readonly kind: 'non-null'
  readonly of: ListInput | NamedInput
  readonly text: string
}

interface ListInput {
  readonly kind: 'list'
  readonly of: InputType
  readonly text: string
}

interface ScalarInput {
  readonly kind: 'scalar'
  readonly text: ScalarName
}

export interface EnumInput {
  readonly kind: 'enum'
  readonly text: string
  /** By name: the value, such as a column's name. */
  readonly values: ReadonlyMap<string, string>
  readonly written: boolean
}

export interface FieldsInput {
  readonly kind: 'object'
  readonly text: string
  readonly fields: () => ReadonlyMap<string, FieldInput>
  /** Exactly one of the members must be given. */
  readonly oneOf: boolean
}

export interface FieldInput {
  readonly type: InputType
  /** The default; undefined: none. */
  readonly byDefault: unknown
}

export interface DeclaredVariable {
  readonly name: string
  readonly type: InputType
  /** The default; undefined leaves the variable out. */
  readonly byDefault: unknown
  /** Its position in the document; null: not shown. */
  readonly place: { readonly line: number; readonly column: number } | null
}

export const namedInput = (type: InputType): NamedInput =>
  type.kind === 'list' || type.kind === 'non-null' ? namedInput(type.of) : type

/**
 * Types of variables as JSON, and the variables' types built from them: the equivalent of a schema
 * (prepared/variables.ts) if there is none.
 */
export type InputTable = Readonly<Record<string, EnumRow | ObjectRow>>

interface EnumRow {
  readonly kind: 'enum'
  /** By name: the value. */
  readonly values: Readonly<Record<string, string>>
  readonly written: boolean
}

interface ObjectRow {
  readonly kind: 'object'
  /** In the order of the type. */
  readonly fields: Readonly<Record<string, FieldRow>>
  /** Absent: any of the members may be given. */
  readonly oneOf?: true
}

interface FieldRow {
  readonly type: string
  /** Absent: no default. */
  readonly default?: unknown
}

/** All types that can be reached from these; scalars need no row. */
export function inputTable(types: readonly InputType[]): InputTable {
  const rows = new Map<string, InputTable[string]>()
  const waiting = [...types]
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (type.kind === 'list' || type.kind === 'non-null') {
      waiting.push(type.of)
      continue
    }
    if (type.kind === 'scalar' || rows.has(type.text)) continue
    if (type.kind === 'enum') {
      rows.set(type.text, { kind: 'enum', values: Object.fromEntries(type.values), written: type.written })
      continue
    }
    const fields = [...type.fields()]
    rows.set(type.text, {
      kind: 'object',
      fields: Object.fromEntries(fields.map(fieldRow)),
      ...(type.oneOf && { oneOf: true as const }),
    })
    waiting.push(...fields.map(([, field]) => field.type))
  }
  return Object.fromEntries([...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const fieldRow = ([name, { type, byDefault }]: readonly [string, FieldInput]): readonly [string, FieldRow] => [
  name,
  { type: type.text, ...(byDefault !== undefined && { default: byDefault }) },
]

/** Types by their texts, such as `[notesFilter!]`. Each is made on first use. */
export function inputTypes(table: InputTable): (text: string) => InputType {
  const known = new Map<string, InputType>()
  const typeOf = (text: string): InputType => {
    const before = known.get(text)
    if (before !== undefined) return before
    const made = make(text)
    known.set(text, made)
    return made
  }
  const make = (text: string): InputType => {
    if (text.endsWith('!')) {
      const of = typeOf(text.slice(0, -1))
      if (of.kind === 'non-null') throw new Error('no type is non-null twice')
      return { kind: 'non-null', of, text }
    }
    if (text.startsWith('[')) return { kind: 'list', of: typeOf(text.slice(1, -1)), text }
    return named(text)
  }
  const named = (text: string): NamedInput => {
    const row = Object.hasOwn(table, text) ? table[text] : undefined
    // A table holds all types except the scalars, which are constant.
    if (row === undefined) return { kind: 'scalar', text: text as ScalarName }
    if (row.kind === 'enum') return { ...row, text, values: new Map(Object.entries(row.values)) }
    let fields: ReadonlyMap<string, FieldInput> | null = null
    const fieldOf = ([name, { type, default: byDefault }]: readonly [string, FieldRow]) =>
      [name, { type: typeOf(type), byDefault }] as const
    const oneOf = row.oneOf === true
    return { kind: 'object', text, oneOf, fields: () => (fields ??= new Map(Object.entries(row.fields).map(fieldOf))) }
  }
  return typeOf
}

/** Suffixes of type names whose values have ordered members. */
const inOrder = ['OrderBy', 'GroupBy', 'Order']

/**
 * Coercion sorts an object's members by their type; in an order they count in the given order (spec/graphql.md 5.4).
 * Values of other types stay unchanged.
 */
export const inGivenOrder = (type: InputType, coerced: unknown, given: unknown): unknown =>
  readsOrder(type) ? asGiven(coerced, given) : coerced

export const readsOrder = (type: InputType): boolean => {
  const { text } = namedInput(type)
  return inOrder.some((part) => text.endsWith(part))
}

function asGiven(coerced: unknown, given: unknown): unknown {
  if (Array.isArray(coerced)) {
    const items: readonly unknown[] = Array.isArray(given) ? given : [given]
    return coerced.map((item, index) => asGiven(item, items[index]))
  }
  if (!isJsonObject(coerced) || !isJsonObject(given)) return coerced
  return Object.fromEntries(Object.keys(given).map((name) => [name, asGiven(coerced[name], given[name])]))
}
