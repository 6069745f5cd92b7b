import { rowKeysOf, type RowKey } from '../contract/lookups.ts'
import type { ColumnFacts, EntityFacts } from '../contract/manifest.ts'
import { changeOperatorNames, takenAs, type ChangeOperatorName } from '../sql/change-operators.ts'
import type { RoleVisibility } from './view.ts'
import { byField } from './visible.ts'

/** The fields of `updates` for a role (spec/graphql.md 17.4). */

/** The columns of an operator, by field: their values are read and written. */
export const changeable = (
  visible: RoleVisibility,
  entity: EntityFacts,
  operator: ChangeOperatorName,
): ReadonlyMap<string, ColumnFacts> =>
  entity.updates === true
    ? byField(visible.takeovers(entity).filter(({ type }) => takenAs(operator, type) !== null))
    : new Map()

/** The operators that some column takes. */
export const usableOperators = (visible: RoleVisibility, entity: EntityFacts): readonly ChangeOperatorName[] =>
  changeOperatorNames.filter((name) => changeable(visible, entity, name).size > 0)

const reserved: ReadonlySet<string> = new Set(['set', ...changeOperatorNames])

export const standsBesideSet = ({ columns }: RowKey): boolean => columns.every(({ field }) => !reserved.has(field))

/** The key that identifies one row of many; null: none. */
export const rowKey = (visible: RoleVisibility, entity: EntityFacts): RowKey | null =>
  usableKeys(visible, entity).find((key) => key.isPrimary && standsBesideSet(key)) ?? null

/** The keys by which the role can change rows, the primary one first. */
export const usableKeys = (visible: RoleVisibility, entity: EntityFacts): readonly RowKey[] =>
  rowKeysOf(entity).filter(({ columns }) => columns.every(({ column }) => visible.findsBy(entity, column)))
