/**
 * Names of the fields that a relation adds to Query and Mutation (spec/graphql.md 1.5, 10.1). The runtime serves them,
 * and the compiler decides which of two relations gets a name.
 */

/** Lower-cases the first character only: `URL` becomes `uRL`. */
export function lowerFirst(name: string): string {
  const [first = ''] = name
  return first.toLowerCase() + name.slice(first.length)
}

/** Of a GraphQL name, which is ASCII, the other name that lowerFirst makes the same. */
export const upperFirst = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)

/** What stands before and after the base name; where nothing stands before it, it begins with a lower case letter. */
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

/** The base name as it stands in a field of this kind; undefined when the name is none. */
export function baseOfField(kind: RootField, field: string): string | undefined {
  const [before, after] = affixes[kind]
  const fits = field.length > before.length + after.length && field.startsWith(before) && field.endsWith(after)
  return fits ? field.slice(before.length, -after.length) : undefined
}
