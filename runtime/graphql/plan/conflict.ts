import type { EntityFacts } from '../../contract/manifest.ts'
import { badArgument, refusedAt } from '../protocol/failures.ts'
import { amongMeant } from './meant.ts'
import { planFilter } from './filter.ts'
import { absent, isGiven, memberOf, type Input } from './input.ts'
import { presetsOf } from './inputs.ts'
import type { Planner } from './planner.ts'
import type { OnConflict } from './plan-nodes.ts'

/** `onConflict` (spec/graphql.md 17): names of keys and columns are values of enums. */
export function planConflict(planner: Planner, entity: EntityFacts, input: Input): OnConflict | null {
  if (input.kind !== 'object') return null
  const given = new Map(input.fields)
  const [key, fields, filter] = ['constraint', 'updateFields', 'filter'].map((name) => given.get(name))
  // Only with validation off it may be missing.
  if (key?.kind !== 'leaf') throw badArgument('Invalid input for NonNull type')
  const update = fields?.kind === 'leaf' ? [...new Set(fields.value as readonly string[])] : []
  if (update.length === 0) return { key: String(key.value), update, filter: null }
  const condition = filter === undefined ? null : planFilter(planner, entity, filter)
  return {
    key: String(key.value),
    update,
    filter: amongMeant(planner.visible, entity, condition, (name) => given.get(name) ?? absent),
    ...presetsOf(planner, entity, 'update'),
  }
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
  const inputs = holders.map((holder) => memberOf(holder, 'onConflict'))
  const [first = null, ...others] = inputs.map((input) => planConflict(planner, entity, input))
  // Conditions have their own values in each request, so planning cannot compare them.
  const isConditional = inputs.some((input) => isGiven(memberOf(input, 'filter')))
  if (others.length > 0 && (isConditional || others.some((other) => wordOf(other) !== wordOf(first))))
    throw refusedAt(key, `Several objects with "${name}" take the same "onConflict", without "filter"`)
  return first
}

const wordOf = (conflict: OnConflict | null): string =>
  JSON.stringify(conflict === null ? null : [conflict.key, [...conflict.update].sort(), conflict.filter])
