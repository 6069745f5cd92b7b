import { connectKeysOf, type LookupColumn } from '../contract/lookups.ts'
import type { ColumnFacts, EntityFacts } from '../contract/manifest.ts'
import { relationsBut, type Related } from './related.ts'
import { isGeo, type RoleVisibility } from './view.ts'
import { byField, hasType } from './visible.ts'

/** The fields of `nestedWrites` for a role (spec/graphql.md 17.6). */

export function nestedRelations(visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, Related> {
  if (!nests(visible, entity)) return new Map()
  const related = relationsBut(visible, entity, [...byField(visible.insertable(entity)).keys()])
  return new Map(
    [...related].filter(([, one]) => {
      const { relation, target } = one
      if (!joinedPlainly(visible, entity, one)) return false
      return relation.direction === 'forward'
        ? standInInput(visible, entity, relation.local, 'insert') &&
            (inserts(visible, target) || connectKeys(visible, target).length > 0)
        : standInInput(visible, target, relation.foreign, 'insert') && inserts(visible, target)
    }),
  )
}

/** Whether the joined values can be passed as texts; rows of a connecting relation are inserted with it. */
export const joinedPlainly = (visible: RoleVisibility, entity: EntityFacts, { relation, target }: Related): boolean =>
  relation.way === undefined && carries(visible, entity, relation.local) && carries(visible, target, relation.foreign)

/** Written rows are read by their key, after all writes. */
export const nests = (visible: RoleVisibility, entity: EntityFacts): boolean =>
  entity.nestedWrites === true &&
  entity.kind === 'table' &&
  entity.unique &&
  visible.manifest.distributed === undefined &&
  carries(visible, entity, entity.key) &&
  namedColumns(entity, entity.key).every((column) => visible.readsColumn(entity, column))

export const inserts = (visible: RoleVisibility, entity: EntityFacts): boolean => visible.insertable(entity).length > 0

/** The keys by which the role can name a row, the primary one first. */
export const connectKeys = (visible: RoleVisibility, entity: EntityFacts): readonly (readonly LookupColumn[])[] =>
  connectKeysOf(entity).filter((columns) => columns.every(({ column }) => visible.findsBy(entity, column)))

/** Whether a row may be inserted without the column, because a related row may give its value. */
export const isLinked = (visible: RoleVisibility, entity: EntityFacts, { column }: ColumnFacts): boolean =>
  entity.relations.some(
    ({ direction, local, target }) =>
      direction === 'forward' &&
      local.includes(column) &&
      (entity.nestedWrites === true || visible.entity(target)?.nestedWrites === true),
  )

const namedColumns = (entity: EntityFacts, names: readonly string[]): readonly ColumnFacts[] =>
  names.flatMap((name) => entity.columns.find(({ column }) => column === name) ?? [])

/** Whether values of all of them can be passed as texts. */
const carries = (visible: RoleVisibility, entity: EntityFacts, names: readonly string[]): boolean =>
  namedColumns(entity, names).filter(
    (column) =>
      hasType(column) &&
      column.type.kind !== 'composite' &&
      !column.type.list &&
      !isGeo(column.type) &&
      visible.seesType(column),
  ).length === names.length

export const standInInput = (
  visible: RoleVisibility,
  entity: EntityFacts,
  names: readonly string[],
  command: 'insert' | 'update',
): boolean => {
  const columns = command === 'insert' ? visible.insertable(entity) : visible.updatable(entity)
  const inputs = new Set([...byField(columns).values()].map(({ column }) => column))
  return names.every((name) => inputs.has(name))
}
