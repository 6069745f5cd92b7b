import { isNotNull } from '../../sql/nulls.ts'
import type { Sql } from '../../sql/tree.ts'
import { columnOf, type Scope } from './source.ts'

/** Rows whose key has a null are in no collection and related to none (spec/graphql.md 5.8). */

/**
 * The condition that a row has a key: of the columns of its key that may be null, none is.
 *
 * @param known columns that equal something, and so are not null
 */
export const ofKeyed = (scope: Scope, known: readonly string[] = []): readonly Sql[] =>
  scope.entity.key
    .filter((name) => !known.includes(name) && (scope.isMade === true || !columnOf(scope.builder, name).notNull))
    .map((name) => isNotNull(scope.column(name)))

/** The row as one that has a key, which an order then knows. */
export const havingKey = (scope: Scope): Scope => ({
  ...scope,
  ordered: (key) => ({
    ...scope.ordered(key),
    ...(typeof key === 'string' && scope.entity.key.includes(key) && { notNull: true }),
  }),
})

/** A row that a function made: no NOT NULL and no foreign key of its table holds for it. */
export const madeByFunction = (scope: Scope): Scope => ({
  ...scope,
  isMade: true,
  ordered: (key) => ({ ...scope.ordered(key), ...(typeof key === 'string' && { notNull: false }) }),
})
