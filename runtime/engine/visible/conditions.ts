import type { ColumnFacts, EntityFacts } from '../../contract/manifest.ts'
import type { ConditionFacts } from '../../contract/stated.ts'
import type { Names } from '../../contract/type-names.ts'
import { byField, type VisibleColumns } from './columns.ts'
import type { VisibleTypes } from './types.ts'

/** A condition of a comment, with its column and field. */
export interface StatedCondition extends Pick<ConditionFacts, 'operator' | 'value'> {
  readonly field: string
  readonly column: ColumnFacts
}

/** The part of a role's view that decides filterable columns. */
export type Filtering = Pick<VisibleColumns, 'filterable'> & Pick<VisibleTypes, 'enum'> & { readonly names: Names }

/** Conditions of a comment on columns that the role can filter by. */
export function statedConditions(
  visible: Filtering,
  entity: EntityFacts,
  stated: readonly ConditionFacts[],
): readonly StatedCondition[] {
  if (stated.length === 0) return []
  const fields = [...byField(visible.filterable(entity))]
  return stated.flatMap(({ column: name, operator, value }) =>
    fields.flatMap(([field, column]) => {
      const item = column.type?.kind === 'enum' ? visible.enum(column.type.id) : undefined
      const isOpaque = item !== undefined && !visible.names.ownsEnum(item) && operator !== 'is'
      return column.column === name && !isOpaque ? [{ field, column, operator, value }] : []
    }),
  )
}

/** The default conditions of a relation's collections (spec/graphql.md 17.5). */
export const defaultFilterOf = (visible: Filtering, entity: EntityFacts): readonly StatedCondition[] =>
  statedConditions(visible, entity, entity.defaultFilter ?? [])
