/**
 * Names of the fields that a relation adds to Query and Mutation (spec/graphql.md 1.5, 10.1). The runtime serves them,
 * and the compiler decides between two relations with one name.
 */

/** Lower-cases the first character only: `URL` becomes `uRL`. */
export function lowerFirst(name: string): string {
  const [first = ''] = name
  return first.toLowerCase() + name.slice(first.length)
}

/** The other name that lowerFirst maps to the same result; GraphQL names are ASCII. */
export const upperFirst = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)

/** Prefix and suffix of the base name; without a prefix, it begins with a lower case letter. */
const affixes = {
  collection: ['', 'Collection'],
  byKey: ['', 'ByPk'],
  insert: ['insertInto', 'Collection'],
  update: ['update', 'Collection'],
  delete: ['deleteFrom', 'Collection'],
  updateRows: ['update', 'Rows'],
} as const

export type RootField = keyof typeof affixes

/** The field of this kind for a relation with the base name. */
export function rootField(kind: RootField, base: string): string {
  const [before, after] = affixes[kind]
  return before + (before === '' ? lowerFirst(base) : base) + after
}

/** The base name in a field of this kind; undefined if the name is not such a field. */
export function baseOfField(kind: RootField, field: string): string | undefined {
  const [before, after] = affixes[kind]
  const fits = field.length > before.length + after.length && field.startsWith(before) && field.endsWith(after)
  return fits ? field.slice(before.length, -after.length) : undefined
}
