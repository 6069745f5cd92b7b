import type { RelationFacts } from '../../../runtime/contract/manifest.ts'
import { isIdentified, isUnique } from '../../catalog/catalog.ts'
import { unlinked, type Link, type RelationScope } from '../../model/foreign-keys.ts'
import type { NamedRelation } from '../../model/named-relations.ts'
import { isValidName } from '../../model/names.ts'
import { forwardField, isReachable, preferWhole } from '../../model/relations.ts'

/** Two keys of one relation, which connects the rows that they refer to (spec/graphql.md 17.7). */
interface Crossing {
  /** The key towards this side, and the one towards the other. */
  readonly near: Link
  readonly far: Link
}

/** The relations at the other ends of relations that connect rows. */
export const crossings = ({ id }: NamedRelation, { relationLinks }: RelationScope): readonly RelationFacts[] =>
  (relationLinks.get(id) ?? unlinked).reverse
    .filter(({ child }) => child.crosses && isReachable(child))
    .flatMap((near) =>
      preferWhole((relationLinks.get(near.child.id) ?? unlinked).forward, forwardField)
        .filter((far) => isCrossing(near, far))
        .map((far) => crossingRelation({ near, far })),
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

const crossingRelation = ({ near, far }: Crossing): RelationFacts => ({
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
