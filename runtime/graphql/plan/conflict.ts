import type { EntityFacts } from '../../contract/manifest.ts'
import { refusedAt } from '../protocol/failures.ts'
import { isGiven, memberOf, type Args, type Input } from './input.ts'
import type { Planner } from './planner.ts'
import type { OnConflict } from './plan-nodes.ts'

declare module '../../engine/additions.ts' {
  interface SchemaAddition {
    /** The treatment of existing rows, from the arguments of an insert; null: they fail it. */
    readonly planConflict?: (planner: Planner, entity: EntityFacts, args: Args) => OnConflict | null
  }
}

export function conflictOf(planner: Planner, entity: EntityFacts, args: Args): OnConflict | null {
  const [found = null] = planner.visible.additions.flatMap((one) => one.planConflict?.(planner, entity, args) ?? [])
  return found
}

/**
 * The treatment of existing rows of a relation (spec/graphql.md 17.6): one statement serves all places.
 *
 * @param key response key of the field
 * @param name of the relation
 * @param holders the relation in each object that adds rows there
 * @throws Refusal if they disagree
 */
export function planSharedConflict(
  planner: Planner,
  key: string,
  name: string,
  entity: EntityFacts,
  holders: readonly Input[],
): OnConflict | null {
  const [first = null, ...others] = holders.map((holder) =>
    conflictOf(planner, entity, (name) => memberOf(holder, name)),
  )
  // Conditions have their own values in each request, so planning cannot compare them.
  const isConditional = holders.some((holder) => isGiven(memberOf(memberOf(holder, 'onConflict'), 'filter')))
  if (others.length > 0 && (isConditional || others.some((other) => wordOf(other) !== wordOf(first))))
    throw refusedAt(key, `Several objects with "${name}" take the same "onConflict", without "filter"`)
  return first
}

const wordOf = (conflict: OnConflict | null): string =>
  JSON.stringify(conflict === null ? null : [conflict.key, [...conflict.update].sort(), conflict.filter])
