import type { RelationFacts } from '../../runtime/contract/manifest.ts'
import type { Link, RelationLinks } from './links.ts'
import { isValidName, toOneField } from './names.ts'
import type { RelationOutline } from './named-relations.ts'
import { isIdentified, isUnique } from './rules/one-to-one.ts'
import { preferWhole } from './rules/whole-before-partitions.ts'

/** Two keys of one relation, which connects rows that they lead to (spec/graphql.md 17.7). */
export interface Crossing {
  /** The key that leads here, and the one that leads there. */
  readonly near: Link
  readonly far: Link
}

export const isReachable = (outline: RelationOutline): boolean => outline.key.length > 0

export const forwardField = (link: Link): string => link.foreignName ?? toOneField(link.columns, link.parent)

/** The links of a relation that come from relations with `manyToMany`. */
export const crossedBy = ({ reverse }: RelationLinks): readonly Link[] =>
  reverse.filter(({ child }) => child.crosses && isReachable(child))

/**
 * Where such relations lead on.
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
 * Whether at most one row connects two rows, and each of these may be connected with many. GraphQL has to spell both
 * names, so that where one side is reached through the relation, the other one is, too.
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
