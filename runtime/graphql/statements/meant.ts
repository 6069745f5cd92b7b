import type { Meant } from '../../contract/stated.ts'
import { sql, type Sql } from '../../sql/tree.ts'
import { columnOf, type Scope } from './source.ts'

/**
 * The condition that a row is one that a field means, in the form that a partial index needs.
 *
 * @param meant absent: all rows are
 */
export function ofMeant(scope: Scope, meant: Meant | undefined): readonly Sql[] {
  if (meant === undefined) return []
  const { column, mark, isMarked } = meant
  const value = scope.column(column)
  if (mark === 'time') return [isMarked ? sql`${value} is not null` : sql`${value} is null`]
  if (columnOf(scope.builder, column).notNull) return [isMarked ? value : sql`not ${value}`]
  return [isMarked ? sql`${value} is true` : sql`${value} is not true`]
}
