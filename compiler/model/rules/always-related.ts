import type { Link } from '../links.ts'

/**
 * Whether every row of the child has its parent and everybody sees it, so that joining the two loses no row: the
 * constraint holds, no column of it can be null, and no row-level security hides the parent.
 */
export const isAlways = ({ declared, guaranteed, child, parent, columns }: Link): boolean =>
  !declared &&
  guaranteed &&
  !parent.relation.rowSecurity &&
  columns.every((name) => child.relation.columns.some((column) => column.name === name && column.notNull))
