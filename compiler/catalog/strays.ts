import type { RowOf } from './catalog-rows.ts'
import type { CatalogStray } from './catalog.ts'

/** pg_identify_object describes an object in more detail than COMMENT accepts. */
export const strayOf = ({ kind, name, comment }: RowOf<'strays'>): CatalogStray => ({
  object: `${kind.endsWith(' constraint') ? 'constraint' : kind === 'composite type column' ? 'column' : kind} ${name}`,
  comment,
})
