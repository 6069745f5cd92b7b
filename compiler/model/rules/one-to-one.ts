import type { CatalogRelation } from '../../catalog/catalog.ts'

/**
 * True when at most one row has given values in the columns: a unique key lies within them. A subset suffices, the
 * primary key counts, and the Catalog holds neither partial indexes nor those over expressions (spec/graphql.md 8.3).
 */
export const isUnique = (
  { primaryKey, uniques }: Pick<CatalogRelation, 'primaryKey' | 'uniques'>,
  columns: readonly string[],
): boolean => someWithin([primaryKey ?? [], ...uniques], columns)

/**
 * Whether, moreover, no query finds several such rows, as it might with what tables that inherit hold. What is written for
 * a single row then needs no limit, which costs a step of its own, and joining it repeats nothing.
 */
export const isIdentified = (
  { identifying }: Pick<CatalogRelation, 'identifying'>,
  columns: readonly string[],
): boolean => someWithin(identifying, columns)

const someWithin = (uniques: readonly (readonly string[])[], columns: readonly string[]): boolean =>
  uniques.some((unique) => unique.length > 0 && unique.every((column) => columns.includes(column)))
