import type { Face } from '../heads.ts'

/**
 * True when at most one row has given values in the columns: a unique key lies within them. A subset suffices, the
 * primary key counts, and the Catalog holds neither partial indexes nor those over expressions (spec/graphql.md 8.3).
 */
export const isUnique = (relation: Face, columns: readonly string[]): boolean =>
  [relation.primaryKey ?? [], ...relation.uniques].some(
    (unique) => unique.length > 0 && unique.every((column) => columns.includes(column)),
  )
