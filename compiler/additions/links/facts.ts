import type { RelationFacts, WayFacts } from '../../../runtime/contract/manifest.ts'
import type { ConditionFacts } from '../../../runtime/contract/stated.ts'
import type { LinkSetting, LinkStep } from './decode.ts'
import {
  diagnose,
  collectPresent,
  withDiagnostics,
  type WithDiagnostics,
} from '../../catalog/diagnostics/diagnostics.ts'
import { nameRelation, isIdentified, isUnique } from '../../catalog/catalog.ts'
import { additionsOfTable, buildColumns, nodeIdField } from '../../model/columns.ts'
import { forwardField, leadingBack, leadingOn, reverseField } from '../../model/relations.ts'
import { isCondition } from '../../model/conditions.ts'
import { unlinked, type RelationScope } from '../../model/foreign-keys.ts'
import { isValidName } from '../../model/names.ts'
import type { NamedRelation, RelationOutline } from '../../model/named-relations.ts'
import { readValues } from '../../model/scalars.ts'

/** Relations that a relation's comment defines by a path (spec/graphql.md 17.8). */
export const linkedRelations = (
  named: NamedRelation,
  scope: RelationScope,
): WithDiagnostics<readonly RelationFacts[]> =>
  collectPresent(named.relation.settings.links.map((link) => linkedRelation(named, scope, link)))

function linkedRelation(
  named: NamedRelation,
  scope: RelationScope,
  { name, path }: LinkSetting,
): WithDiagnostics<RelationFacts | null> {
  const lost = (reason: string): WithDiagnostics<null> =>
    withDiagnostics(null, [diagnose('link-unusable', nameRelation(named.relation), { name, reason })])
  if (!isValidName(name) || name === nodeIdField) return lost('its name is none that a field can have')
  const hops: Hop[] = []
  let from = named
  for (const step of path) {
    const found = hopFrom(from, scope, step)
    if (typeof found === 'string') return lost(found)
    hops.push(found.hop)
    from = found.to
  }
  return withDiagnostics(relationOver(name, hops))
}

/** One key on the path, in the direction of the path. */
interface Hop {
  readonly from: RelationOutline
  readonly to: RelationOutline
  /** Equal columns of both, in pairs. */
  readonly local: readonly string[]
  readonly foreign: readonly string[]
  readonly where: readonly ConditionFacts[]
}

/** The target of a step, or why it has none. */
function hopFrom(
  { id, outline, relation }: NamedRelation,
  scope: RelationScope,
  { field, conditions }: LinkStep,
): { readonly hop: Hop; readonly to: NamedRelation } | string {
  const { forward, reverse } = scope.relationLinks.get(id) ?? unlinked
  // Of two relations with one field name the last one is used (spec/graphql.md 2.4).
  const found = [
    ...leadingOn(forward).map((link) => ({
      name: forwardField(link),
      to: link.parent,
      local: link.columns,
      foreign: link.foreignColumns,
    })),
    ...leadingBack(reverse).map((link) => ({
      name: reverseField(link),
      to: link.child,
      local: link.foreignColumns,
      foreign: link.columns,
    })),
  ].findLast(({ name }) => name === field)
  const to = found === undefined ? undefined : scope.namedRelations.get(found.to.id)
  if (found === undefined || to === undefined)
    return `${nameRelation(relation)} has no relation ${JSON.stringify(field)}`
  const columns =
    conditions.length === 0 ? [] : buildColumns(scope, readValues(scope), to, new Set(), additionsOfTable(to), []).value
  const isUsable = isCondition(to.relation, columns, scope)
  const wrong = conditions.find((condition) => !isUsable(condition))
  if (wrong !== undefined) {
    return `rows of ${nameRelation(to.relation)} cannot be filtered by ${JSON.stringify(wrong.operator)} on ${JSON.stringify(wrong.column)}`
  }
  const { local, foreign } = found
  return { hop: { from: outline, to: to.outline, local, foreign, where: conditions }, to }
}

function relationOver(field: string, hops: readonly Hop[]): RelationFacts | null {
  const [first, last] = [hops[0], hops.at(-1)]
  if (first === undefined || last === undefined) return null
  return {
    field,
    shape: hops.every(({ to, foreign }) => isUnique(to, foreign)) ? 'one' : 'many',
    direction: 'reverse',
    target: last.to.id,
    local: first.local,
    foreign: last.foreign,
    notNull: false,
    unique: hops.every(({ to, foreign }) => isIdentified(to, foreign)),
    way: wayOver(hops),
  }
}

const conditionsOf = ({ where }: Hop): Pick<WayFacts, 'where'> => (where.length === 0 ? {} : { where })

function wayOver(hops: readonly Hop[]): WayFacts {
  const through = hops.slice(1).flatMap((next, place) => {
    const hop = hops[place]
    return hop === undefined ? [] : [{ entity: hop.to.id, near: hop.foreign, far: next.local, ...conditionsOf(hop) }]
  })
  const last = hops.at(-1)
  return { through, ...(last && conditionsOf(last)), ...(mayRepeat(hops) && { repeats: true as const }) }
}

/**
 * Whether several paths may lead from one row to another. From either end, intermediate rows are unique as far as keys
 * identify them; so is a last one between these that both its neighbours identify together.
 */
function mayRepeat(hops: readonly Hop[]): boolean {
  const forth = leading(hops, ({ to, foreign }) => isIdentified(to, foreign))
  const back = leading(hops.toReversed(), ({ from, local }) => isIdentified(from, local))
  const open = hops.length - 1 - forth - back
  const [near, far] = [hops[forth], hops[forth + 1]]
  const isPair = near !== undefined && far !== undefined && isIdentified(near.to, [...near.foreign, ...far.local])
  return open > 1 || (open === 1 && !isPair)
}

/** The number of leading items with a property. */
function leading<T>(items: readonly T[], isSo: (item: T) => boolean): number {
  const end = items.findIndex((item) => !isSo(item))
  return end === -1 ? items.length : end
}
