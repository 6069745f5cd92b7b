import type { CatalogColumn, CatalogRelation } from './catalog.ts'

interface Keyed extends Pick<CatalogRelation, 'uniques'> {
  readonly columns: readonly Pick<CatalogColumn, 'name' | 'notNull'>[]
}

/** The first unique index whose columns are all NOT NULL: it identifies rows like a primary key. */
export function notNullKey({ columns, uniques }: Keyed): readonly string[] | null {
  const notNull = new Set(columns.filter((column) => column.notNull).map(({ name }) => name))
  return uniques.find((names) => names.every((name) => notNull.has(name))) ?? null
}
