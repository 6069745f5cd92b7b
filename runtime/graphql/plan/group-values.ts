import { groupFigureNames, type GroupFigure } from '../../contract/aggregates.ts'
import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import { figureColumns, measuredColumns } from '../../engine/related.ts'
import { byField } from '../../engine/visible.ts'
import { groupKeyId, notAKey, type KeyMember } from './group-keys.ts'
import { memberOf, slotOf, type Input } from './input.ts'
import type { Planner } from './planner.ts'
import type { GroupValue } from './plan-nodes.ts'
import type { Value } from './values.ts'

/** Values of groups by their ids (spec/graphql.md 17.2): each selected, compared or sorting value is computed once. */

/** The context in which the parts of groups are planned. */
export interface GroupPlan {
  readonly planner: Planner
  readonly entity: EntityFacts
  /** Whether the value with this id is a key of the groups. */
  readonly isKey: (id: string) => boolean
  /** Registers the value, once however often it is used, and returns its id. */
  readonly named: (value: GroupValue) => string
  /** Registers an argument that must be checked although no value depends on it. */
  readonly check: (value: Value) => void
}

export const asFigure = (name: string): GroupFigure | undefined => groupFigureNames.find((figure) => figure === name)

export const figureId = ({ named }: GroupPlan, name: GroupFigure, field: string, { column }: ColumnFacts): string =>
  named({ id: `${name}.${field}`, kind: 'figure', function: name, column })

export const countId = ({ named }: GroupPlan): string => named({ id: 'count', kind: 'count' })

/** The figures of a function that an input names, with the input of each. */
export function figuresIn<T>(
  { planner, entity }: GroupPlan,
  name: GroupFigure,
  input: Input,
  say: (field: string, column: ColumnFacts, value: Input) => readonly T[],
): readonly T[] {
  if (input.kind !== 'object') return []
  const columns = byField(figureColumns(planner.visible, entity, name))
  return input.fields.flatMap(([field, value]) => {
    const column = columns.get(field)
    return column === undefined ? [] : say(field, column, value)
  })
}

/** @throws Refusal if it is not a key of the groups */
export function demandKey({ isKey }: GroupPlan, member: KeyMember, path: readonly string[]): string {
  const id = groupKeyId(member, path)
  if (!isKey(id)) throw notAKey(member, path)
  return id
}

/** The percentiles that an input names, with the input of each. */
export function percentilesIn<T>(
  planned: GroupPlan,
  input: Input,
  say: (idOf: () => string, value: Input) => readonly T[],
): readonly T[] {
  const of = memberOf(input, 'of')
  if (of.kind !== 'object') return []
  const columns = byField(measuredColumns(planned.planner.visible, planned.entity))
  const at = partIn(memberOf(input, 'at'))
  return of.fields.flatMap(([field, value]) => {
    const column = columns.get(field)
    return column === undefined ? [] : say(() => percentileId(planned, at, field, column), value)
  })
}

export const partIn = (at: Input): Value => ({ slot: slotOf(at), encoding: { kind: 'part' } })

export const percentileId = ({ named }: GroupPlan, at: Value, field: string, { column }: ColumnFacts): string =>
  named({ id: `percentile.${JSON.stringify(at.slot)}.${field}`, kind: 'percentile', at, column })
