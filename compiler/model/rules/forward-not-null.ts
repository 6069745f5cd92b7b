import type { AnnotatedRelation } from '../../comments/types.ts'
import type { Link } from '../links.ts'

/**
 * Whether a forward relation always has a row (spec/graphql.md 0, decision 18): all columns are NOT NULL, since Postgres does
 * not look at a key of which one is null, but row-level security may hide the row, or it may count as deleted. For keys that a comment declares, the
 * local table's row-level security is looked at instead. A constraint that is not validated, or that is one partition's
 * share of a key, guarantees nothing. Under MATCH FULL one NOT NULL column would be enough; nullable is right there, too.
 */
export function isForwardNotNull({ declared, guaranteed, parent, columns }: Link, child: AnnotatedRelation): boolean {
  const secured = declared ? child : parent
  return (
    guaranteed &&
    !secured.rowSecurity &&
    !parent.hidesDeleted &&
    columns.every((name) => child.columns.some((column) => column.name === name && column.notNull))
  )
}
