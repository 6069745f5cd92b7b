import type { AnnotatedRelation } from '../../comments/types.ts'
import type { Link } from '../links.ts'

/**
 * Whether a forward relation always has a row (spec/graphql.md 8.4): one column that is NOT NULL is enough, but
 * row-level security may hide the row. For keys that a comment declares, the local table's row-level security is looked
 * at instead. A constraint that is not validated, or that is one partition's share of a key, guarantees nothing.
 */
export function isForwardNotNull(link: Link, child: AnnotatedRelation): boolean {
  const secured = link.declared ? child : link.parent
  return (
    link.guaranteed &&
    !secured.rowSecurity &&
    child.columns.some((column) => column.notNull && link.columns.includes(column.name))
  )
}
