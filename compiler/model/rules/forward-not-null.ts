import type { AnnotatedRelation } from '../../comments/annotated.ts'
import type { Link } from '../links.ts'

/**
 * Whether every row of the link's child has its parent and every role sees it (spec/graphql.md 0, decision 18), so that
 * the field is NonNull and an inner join loses no row: all columns are NOT NULL, because Postgres ignores a key with a
 * null, but row-level security may hide the row, it may be soft-deleted, or its own key may have a null. A comment's
 * key is not enforced; a constraint that is not validated, or that is one partition's share of a key, guarantees
 * nothing. Under MATCH FULL one NOT NULL column would be enough; nullable is right there, too.
 */
export const isForwardNotNull = (
  { declared, guaranteed, parent, columns, foreignColumns }: Link,
  child: AnnotatedRelation,
): boolean =>
  !declared &&
  guaranteed &&
  !parent.rowSecurity &&
  !parent.hidesDeleted &&
  parent.looseKey.every((name) => foreignColumns.includes(name)) &&
  columns.every((name) => child.columns.some((column) => column.name === name && column.notNull))
