import type { AnnotatedRelation } from '../../comments/types.ts'
import type { Link } from '../links.ts'

/**
 * Whether every row of the child, whose link it is, has its parent and everybody sees it, so that joining the two loses no row: the
 * constraint holds, no column of it can be null, and no row-level security hides the parent.
 */
export const isAlways = ({ declared, guaranteed, parent, columns }: Link, child: AnnotatedRelation): boolean =>
  !declared &&
  guaranteed &&
  !parent.rowSecurity &&
  columns.every((name) => child.columns.some((column) => column.name === name && column.notNull))
