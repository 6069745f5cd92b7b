import type { EntityFacts } from '../../contract/manifest.ts'
import type { Meant } from '../../contract/stated.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import type { ColumnChange } from './column-changes.ts'
import { absent, type Args } from './input.ts'
import type { Filter } from './plan-nodes.ts'

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** The rows of a relation that a field means; undefined: all. */
    readonly meant?: (entity: EntityFacts, args: Args) => Meant | undefined
    /** Whether the field of a collection of several relations means no row of this one. */
    readonly meansNone?: (entity: EntityFacts, args: Args) => boolean
    /** The new values of rows that are marked and not removed. */
    readonly planMark?: (visible: RoleVisibility, entity: EntityFacts) => readonly ColumnChange[]
  }
}

const noArguments: Args = () => absent

/** The arguments of a field that takes a key, whose columns keep their names. */
export const butKey =
  (key: readonly string[], args: Args): Args =>
  (name) =>
    key.includes(name) ? absent : args(name)

export function planMeant(
  { additions }: RoleVisibility,
  entity: EntityFacts,
  args: Args = noArguments,
): { readonly meant?: Meant } {
  const meant = additions.map((one) => one.meant?.(entity, args)).find((one) => one !== undefined)
  return meant === undefined ? {} : { meant }
}

/** A condition on the rows of a relation, of those that are meant. */
export function amongMeant(
  visible: RoleVisibility,
  entity: EntityFacts,
  filter: Filter | null,
  args: Args,
): Filter | null {
  const { meant } = planMeant(visible, entity, args)
  if (meant === undefined) return filter
  const isMeant: Filter = { kind: 'meant', of: meant }
  return filter === null ? isMeant : { kind: 'all', of: [filter, isMeant] }
}

export const meansSome = ({ additions }: RoleVisibility, entity: EntityFacts, args: Args): boolean =>
  !additions.some((one) => one.meansNone?.(entity, args))

export const planMark = (visible: RoleVisibility, entity: EntityFacts): readonly ColumnChange[] =>
  visible.additions.flatMap((one) => one.planMark?.(visible, entity) ?? [])
