import type { RowOf } from './rows.ts'
import type { CatalogStray } from './types.ts'

/** pg_identify_object says more of what an object is than COMMENT wants to be told. */
export const strayOf = ({ kind, name, comment }: RowOf<'strays'>): CatalogStray => ({
  object: `${kind.endsWith(' constraint') ? 'constraint' : kind === 'composite type column' ? 'column' : kind} ${name}`,
  comment,
})
