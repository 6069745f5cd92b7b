import type { AnnotatedRelation } from '../../comments/annotated.ts'
import type { Link } from '../links.ts'

/**
 * Whether every row of the child, whose link it is, has its parent and everybody sees it (spec/graphql.md 0, decision 18), so
 * that the field is NonNull and joining the two loses no row: all columns are NOT NULL, since Postgres does not look at a key
 * of which one is null, but row-level security may hide the row, it may count as deleted, or its own key may have a null. What
 * a comment declares nobody holds rows to; a constraint that is not validated, or that is one partition's share of a key,
 * guarantees nothing. Under MATCH FULL one NOT NULL column would be enough; nullable is right there, too.
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
