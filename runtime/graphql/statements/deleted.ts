import { sql, type Sql } from '../../sql/tree.ts'
import { columnOf, type Scope } from './source.ts'

/**
 * The condition that a row is soft-deleted, or is not (spec/graphql.md 17.5), in the form that a partial index needs.
 *
 * @param deleted absent: either
 */
export function ofDeleted(scope: Scope, deleted: boolean | undefined): readonly Sql[] {
  const { softDelete } = scope.entity
  if (softDelete == null || deleted === undefined) return []
  const value = scope.column(softDelete.column)
  if (softDelete.mark === 'time') return [deleted ? sql`${value} is not null` : sql`${value} is null`]
  if (columnOf(scope.builder, softDelete.column).notNull) return [deleted ? value : sql`not ${value}`]
  return [deleted ? sql`${value} is true` : sql`${value} is not true`]
}
