import { isNotNull } from '../../sql/nulls.ts'
import type { Sql } from '../../sql/tree.ts'
import { columnOf, type Scope } from './source.ts'

/** Rows with a null in their key are in no collection and related to none (spec/graphql.md 5.8). */

/**
 * The condition that a row has a key: its nullable key columns are not null.
 *
 * @param known columns that equal something, and so are not null
 */
export const ofKeyed = (scope: Scope, known: readonly string[] = []): readonly Sql[] =>
  scope.entity.key
    .filter((name) => !known.includes(name) && (scope.isMade === true || !columnOf(scope.builder, name).notNull))
    .map((name) => isNotNull(scope.column(name)))

/** Marks the row as having a key, for orders. */
export const havingKey = (scope: Scope): Scope => ({
  ...scope,
  ordered: (key) => ({
    ...scope.ordered(key),
    ...(typeof key === 'string' && scope.entity.key.includes(key) && { notNull: true }),
  }),
})

/** A row that a function returns: NOT NULL and foreign keys of its table do not apply. */
export const madeByFunction = (scope: Scope): Scope => ({
  ...scope,
  isMade: true,
  ordered: (key) => ({ ...scope.ordered(key), ...(typeof key === 'string' && { notNull: false }) }),
})
