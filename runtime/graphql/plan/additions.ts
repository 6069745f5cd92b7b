import type { EntityFacts } from '../../contract/manifest.ts'
import type { Meant } from '../../contract/stated.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import type { ColumnChange } from './column-changes.ts'
import { absent, type Input } from './input.ts'
import type { Filter } from './plan-nodes.ts'

/** The part of an addition (spec/graphql.md 17) in plans. */
export interface PlanAddition {
  /** The rows of a relation that a field means; undefined: all. */
  readonly meant?: (entity: EntityFacts, args: Arguments) => Meant | undefined
  /** Whether the field of a collection of several relations means no row of this one. */
  readonly meansNone?: (entity: EntityFacts, args: Arguments) => boolean
  /** The new values of rows that are marked and not removed. */
  readonly mark?: (visible: RoleVisibility, entity: EntityFacts) => readonly ColumnChange[]
}

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    readonly plan?: PlanAddition
  }
}

/** The arguments of a field by name. */
export type Arguments = (name: string) => Input

const noArguments: Arguments = () => absent

/** The arguments of a field that takes a key, whose columns keep their names. */
export const butKey =
  (key: readonly string[], args: Arguments): Arguments =>
  (name) =>
    key.includes(name) ? absent : args(name)

export function planMeant(
  { additions }: RoleVisibility,
  entity: EntityFacts,
  args: Arguments = noArguments,
): { readonly meant?: Meant } {
  const meant = additions.map(({ plan }) => plan?.meant?.(entity, args)).find((one) => one !== undefined)
  return meant === undefined ? {} : { meant }
}

/** A condition on the rows of a relation, of those that are meant. */
export function amongMeant(
  visible: RoleVisibility,
  entity: EntityFacts,
  filter: Filter | null,
  args: Arguments,
): Filter | null {
  const { meant } = planMeant(visible, entity, args)
  if (meant === undefined) return filter
  const isMeant: Filter = { kind: 'meant', of: meant }
  return filter === null ? isMeant : { kind: 'all', of: [filter, isMeant] }
}

export const meansSome = ({ additions }: RoleVisibility, entity: EntityFacts, args: Arguments): boolean =>
  !additions.some(({ plan }) => plan?.meansNone?.(entity, args))

export const planMark = (visible: RoleVisibility, entity: EntityFacts): readonly ColumnChange[] =>
  visible.additions.flatMap(({ plan }) => plan?.mark?.(visible, entity) ?? [])
