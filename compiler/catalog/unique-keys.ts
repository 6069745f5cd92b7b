import type { CatalogRelation, CatalogColumn } from './catalog.ts'

/**
 * True if at most one row has given values in the columns: they include a unique key. A subset suffices, the primary
 * key counts, and the Catalog contains neither partial indexes nor those over expressions (spec/graphql.md 8.3).
 */
export const isUnique = (
  { primaryKey, uniques }: Pick<CatalogRelation, 'primaryKey' | 'uniques'>,
  columns: readonly string[],
): boolean => someWithin([primaryKey ?? [], ...uniques], columns)

/**
 * Whether, moreover, queries find at most one such row, even with the rows of child tables. A statement for a single
 * row then needs no limit, which costs a step of its own, and joining it repeats nothing.
 */
export const isIdentified = (
  { identifying }: Pick<CatalogRelation, 'identifying'>,
  columns: readonly string[],
): boolean => someWithin(identifying, columns)

const someWithin = (uniques: readonly (readonly string[])[], columns: readonly string[]): boolean =>
  uniques.some((unique) => unique.length > 0 && unique.every((column) => columns.includes(column)))

interface Keyed extends Pick<CatalogRelation, 'uniques'> {
  readonly columns: readonly Pick<CatalogColumn, 'name' | 'notNull'>[]
}

/** The first unique index whose columns are all NOT NULL: it identifies rows like a primary key. */
export function notNullKey({ columns, uniques }: Keyed): readonly string[] | null {
  const notNull = new Set(columns.filter((column) => column.notNull).map(({ name }) => name))
  return uniques.find((names) => names.every((name) => notNull.has(name))) ?? null
}
