import type { RelationFacts } from '../../runtime/contract/manifest.ts'
import type { Link, RelationLinks } from './links.ts'
import { isValidName, toOneField } from './names.ts'
import type { RelationOutline } from './named-relations.ts'
import { isIdentified, isUnique } from './rules/one-to-one.ts'
import { preferWhole } from './rules/whole-before-partitions.ts'

/** Two keys of one relation, which connects the rows that they refer to (spec/graphql.md 17.7). */
export interface Crossing {
  /** The key towards this side, and the one towards the other. */
  readonly near: Link
  readonly far: Link
}

export const isReachable = (outline: RelationOutline): boolean => outline.key.length > 0

export const forwardField = (link: Link): string => link.foreignName ?? toOneField(link.columns, link.parent)

/** The links of a relation from relations with `manyToMany`. */
export const crossedBy = ({ reverse }: RelationLinks): readonly Link[] =>
  reverse.filter(({ child }) => child.crosses && isReachable(child))

/**
 * The relations at the other end of such links.
 *
 * @param others the links of their children, one after the other
 */
export const crossingsOf = (links: RelationLinks, ...others: readonly RelationLinks[]): readonly Crossing[] =>
  crossedBy(links).flatMap((near, place) =>
    preferWhole(others[place]?.forward ?? [], forwardField)
      .filter((far) => isCrossing(near, far))
      .map((far) => ({ near, far })),
  )

/**
 * Whether at most one row connects two rows, and each of these may be connected with many. Both names must be valid in
 * GraphQL, so that access from one side implies access from the other.
 */
const isCrossing = (near: Link, far: Link): boolean =>
  far !== near &&
  isReachable(far.parent) &&
  isIdentified(near.child, [...near.columns, ...far.columns]) &&
  [near, far].every(
    (link) =>
      isValidName(crossingField(link)) &&
      !isUnique(link.child, link.columns) &&
      isIdentified(link.parent, link.foreignColumns),
  )

const crossingField = (far: Link): string => `${forwardField(far)}Collection`

export const crossingRelation = ({ near, far }: Crossing): RelationFacts => ({
  field: crossingField(far),
  shape: 'many',
  direction: 'reverse',
  target: far.parent.id,
  local: near.foreignColumns,
  foreign: far.foreignColumns,
  notNull: false,
  unique: true,
  way: { through: [{ entity: near.child.id, near: near.columns, far: far.columns }], crosses: true },
})
