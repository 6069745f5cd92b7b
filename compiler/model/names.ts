import { lowerFirst } from '../../runtime/contract/name-parts.ts'

/**
 * Names of the API from names of the database (spec/graphql.md 2.2, 2.3). `override` is the `name` setting, which is
 * used unchanged. A result may be an invalid GraphQL name: the caller checks it with isValidName and leaves the object
 * out.
 */

const validName = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/

/** Names of GraphQL (October 2021, 2.1.9), without those that begin with `__`, which belong to introspection. */
export const isValidName = (name: string): boolean => validName.test(name)

const enumReserved: ReadonlySet<string> = new Set(['true', 'false', 'null'])

/** GraphQL (October 2021, 2.9.6) reserves three words as enum values. */
export const isValidEnumValue = (name: string): boolean => isValidName(name) && !enumReserved.has(name)

/** The base name B of a relation, and the name of an enum. */
export const typeNameOf = (override: string | null, name: string, inflects: boolean): string =>
  override ?? (inflects ? inflect(name) : name)

export const columnField = (override: string | null, name: string, inflects: boolean): string =>
  override ?? (inflects ? lowerFirst(inflect(name)) : name)

/** One leading underscore is removed, so that a function may avoid the name of a column. */
export const functionField = (override: string | null, name: string, inflects: boolean): string =>
  override ?? argumentField(name.startsWith('_') ? name.slice(1) : name, inflects)

export const argumentField = (name: string, inflects: boolean): string => lowerFirst(inflects ? inflect(name) : name)

/** The target of a relation's field: its base name, and whether its schema inflects. */
interface Target {
  readonly name: string
  readonly schema: { readonly inflects: boolean }
}

/**
 * A to-one field (spec/graphql.md 2.3): named after the single column of the key or the referenced column, without its
 * suffix `_id` (`Id` without inflection), else after the target.
 */
export function toOneField(columns: readonly string[], target: Target): string {
  const suffix = target.schema.inflects ? '_id' : 'Id'
  const [column] = columns
  if (columns.length !== 1 || column === undefined || !column.endsWith(suffix)) return lowerFirst(target.name)
  return argumentField(column.slice(0, -suffix.length), target.schema.inflects)
}

const isAlphanumeric = (character: string): boolean => /^[\p{Alphabetic}\p{Nd}\p{Nl}\p{No}]$/u.test(character)

/**
 * GraphQL casing (spec/graphql.md 2.1): a character that does not follow an alphanumeric one goes to upper case, then
 * underscores are dropped. Nothing goes to lower case.
 */
export function inflect(name: string): string {
  let inflected = ''
  let afterAlphanumeric = false
  for (const character of name) {
    inflected += afterAlphanumeric ? character : character.toUpperCase()
    afterAlphanumeric = isAlphanumeric(character)
  }
  return inflected.replaceAll('_', '')
}
