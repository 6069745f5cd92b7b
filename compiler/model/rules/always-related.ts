import type { AnnotatedRelation } from '../../comments/types.ts'
import type { Link } from '../links.ts'
import { isForwardNotNull } from './forward-not-null.ts'

/**
 * Whether every row of the child, whose link it is, has its parent and everybody sees it, so that joining the two loses no
 * row: Postgres holds the relation to it, where a comment only says so.
 */
export const isAlways = (link: Link, child: AnnotatedRelation): boolean =>
  !link.declared && isForwardNotNull(link, child)
