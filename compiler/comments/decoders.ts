import { isJsonObject } from '../../runtime/lib/json.ts'

/**
 * Decoders of a setting's JSON (spec/graphql.md 13.1, 13.2). A decoder gets null for an absent setting. A refusal makes
 * every request fail: a `load` one with its text after `Error while loading schema, check comment directives.`, a
 * `cast` one with Postgres' own text for a failing cast. A faulty setting of the additions (spec/graphql.md 17) makes
 * no request fail: it is off, and reported.
 */
export type Decoded<T> =
  /** `remarks`: sentences about malformed parts, which count as absent. */
  | { readonly ok: true; readonly value: T; readonly remarks?: readonly string[] }
  | { readonly ok: false; readonly refusal: 'load' | 'cast'; readonly reason: string }

export type Decoder<T> = (value: JsonValue) => Decoded<T>

const accept = <T>(value: T): Decoded<T> => ({ ok: true, value })
const refuseLoad = (reason: string): Decoded<never> => ({ ok: false, refusal: 'load', reason })
const refuseCast = (reason: string): Decoded<never> => ({ ok: false, refusal: 'cast', reason })

/** The text of a value as with `->>`: strings without quotes, null for JSON null. */
const textOrJson = (value: JsonValue): string | null =>
  value === null ? null : typeof value === 'string' ? value : JSON.stringify(value)

/** Only JSON true switches it on. */
export const onlyTrue: Decoder<boolean> = (value) => ({
  ...accept(value === true),
  remarks: value === null || typeof value === 'boolean' ? [] : [`${JSON.stringify(value)} is neither true nor false`],
})

export const scalarText: Decoder<string | null> = (value) => accept(textOrJson(value))

/** A string or null. */
export const optionalString: Decoder<string | null> = (value) => (value === null ? accept(null) : requiredString(value))

const maxInteger = 2_147_483_647

/** An integer or its text, at least 0; other texts fail as Postgres' cast to integer does. */
export const pageSize: Decoder<number | null> = (value) => {
  const text = textOrJson(value)
  if (text === null) return accept(null)
  if (!/^\s*[+-]?\d+\s*$/u.test(text)) return refuseCast(`invalid input syntax for type integer: "${text}"`)
  const size = Number(text)
  if (size > maxInteger || size < -maxInteger - 1) return refuseCast(`value "${text}" is out of range for type integer`)
  return size < 0 ? refuseLoad(`invalid value: integer \`${size}\`, expected u64`) : accept(size)
}

/** A list of strings or null. */
export const optionalStrings: Decoder<readonly string[] | null> = (value) =>
  value === null ? accept(null) : requiredStrings(value)

const requiredString: Decoder<string> = (value) =>
  typeof value === 'string' ? accept(value) : refuseLoad(invalidType(value, 'a string'))

const requiredStrings: Decoder<readonly string[]> = (value) => listOf(requiredString)(value)

/** A list whose elements are decoded one by one; the first refusal is the result. */
const listOf =
  <T>(decode: Decoder<T>): Decoder<readonly T[]> =>
  (value) => {
    if (!isJsonList(value)) return refuseLoad(invalidType(value, 'a sequence'))
    const items = value.map(decode)
    const failed = items.find((item) => !item.ok)
    return failed ?? accept(items.flatMap((item) => (item.ok ? [item.value] : [])))
  }

/** An object of strings, as pairs in its order, or null. */
export const optionalMap: Decoder<readonly (readonly [string, string])[] | null> = (value) => {
  if (value === null) return accept(null)
  if (!isJsonObject(value)) return refuseLoad(invalidType(value, 'a map'))
  const failed = Object.values(value)
    .map(requiredString)
    .find((item) => !item.ok)
  return failed === undefined || failed.ok ? accept(Object.entries(value) as [string, string][]) : failed
}

/** A foreign key that a comment declares (spec/graphql.md 13.2). */
export interface DeclaredForeignKey {
  readonly localColumns: readonly string[]
  readonly foreignSchema: string
  readonly foreignTable: string
  readonly foreignColumns: readonly string[]
  readonly localName: string | null
  readonly foreignName: string | null
}

const declaredForeignKey: Decoder<DeclaredForeignKey> = (value) => {
  if (!isJsonObject(value)) return refuseLoad(invalidType(value, 'struct TableDirectiveForeignKey'))
  const localName = optionalString(member(value, 'local_name'))
  const localColumns = requiredMember(value, 'local_columns', requiredStrings)
  const foreignName = optionalString(member(value, 'foreign_name'))
  const foreignSchema = requiredMember(value, 'foreign_schema', requiredString)
  const foreignTable = requiredMember(value, 'foreign_table', requiredString)
  const foreignColumns = requiredMember(value, 'foreign_columns', requiredStrings)
  if (!localName.ok) return localName
  if (!localColumns.ok) return localColumns
  if (!foreignName.ok) return foreignName
  if (!foreignSchema.ok) return foreignSchema
  if (!foreignTable.ok) return foreignTable
  if (!foreignColumns.ok) return foreignColumns
  return accept({
    localColumns: localColumns.value,
    foreignSchema: foreignSchema.value,
    foreignTable: foreignTable.value,
    foreignColumns: foreignColumns.value,
    localName: localName.value,
    foreignName: foreignName.value,
  })
}

const requiredMember = <T>(object: JsonMembers, key: string, decode: Decoder<T>): Decoded<T> =>
  Object.hasOwn(object, key) ? decode(member(object, key)) : refuseLoad(`missing field \`${key}\``)

/** A list of declared foreign keys or null. */
export const optionalForeignKeys: Decoder<readonly DeclaredForeignKey[] | null> = (value) =>
  value === null ? accept(null) : listOf(declaredForeignKey)(value)

/** The wording that existing clients know, from Rust's serde. */
const invalidType = (value: JsonValue, expected: string): string =>
  `invalid type: ${kindWord(value)}, expected ${expected}`

function kindWord(value: JsonValue): string {
  if (value === null) return 'null'
  if (isJsonList(value)) return 'sequence'
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`
  if (typeof value === 'boolean') return `boolean \`${value}\``
  if (typeof value === 'number') return `${Number.isInteger(value) ? 'integer' : 'floating point'} \`${value}\``
  return 'map'
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonMembers

export interface JsonMembers {
  readonly [key: string]: JsonValue
}

export const isJsonList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

/** The member, or null if absent: an absent setting reads like a null one. */
export const member = (object: JsonMembers, key: string): JsonValue =>
  Object.hasOwn(object, key) ? (object[key] ?? null) : null
