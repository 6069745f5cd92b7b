import type { ColumnFacts, EntityFacts } from '../contract/manifest.ts'
import { groupBy } from '../lib/steps.ts'
import { enumFields } from './related.ts'
import type { RoleVisibility } from './view.ts'

/** Columns that can be compared with another column of the row (spec/graphql.md 17.1), by field. */
export function comparedColumns(visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, ColumnFacts> {
  if (entity.columnFilters !== true) return new Map()
  const columns = enumFields(visible.filterable(entity).filter(({ order }) => order))
  const families = groupBy([...columns.values()], ({ comparison = '' }) => comparison)
  return new Map([...columns].filter(([, { comparison = '' }]) => (families.get(comparison) ?? []).length > 1))
}
