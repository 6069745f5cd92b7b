import type { GraphQLEnumType, GraphQLField } from 'graphql'
import type { EntityFacts, FunctionFacts, LookupFacts, RelationFacts } from '../contract/manifest.ts'
import type { RowKey } from '../contract/lookups.ts'
import type { Related } from './related.ts'

/** The meaning of selecting a field. Every field of a role's schema carries it, so planning looks no name up twice. */
export type FieldMeaning =
  | { readonly kind: 'collection'; readonly entity: EntityFacts }
  /** The rows of all of these in one order. */
  | { readonly kind: 'collections'; readonly of: readonly EntityFacts[] }
  /** `by`: a unique key other than the primary one. */
  | {
      readonly kind: 'by-key'
      readonly entity: EntityFacts
      readonly args: readonly string[]
      readonly by?: LookupFacts
    }
  | { readonly kind: 'node' }
  | { readonly kind: 'call'; readonly function: FunctionFacts }
  | { readonly kind: 'insert' | 'update' | 'delete'; readonly entity: EntityFacts }
  | ChangeByKey
  | { readonly kind: 'node-id' }
  | { readonly kind: 'column'; readonly column: string }
  | { readonly kind: 'attribute'; readonly attribute: string }
  | { readonly kind: 'relation'; readonly relation: RelationFacts; readonly target: EntityFacts }
  /** The row of the first of these relations with a row. */
  | { readonly kind: 'union'; readonly of: readonly Related[] }
  /** On an edge: the row through which it is reached. */
  | { readonly kind: 'between'; readonly entity: EntityFacts }
  | { readonly kind: 'computed'; readonly function: FunctionFacts }
  | { readonly kind: 'headline'; readonly column: string }
  /** `pages`: a page of its results, or one for `each` of its members, of the size that this argument has. */
  | { readonly kind: 'member'; readonly member: WrapperMember; readonly pages?: EntityFacts; readonly each?: 'atMost' }

export type WrapperMember =
  | 'edges'
  | 'pageInfo'
  | 'totalCount'
  | 'aggregate'
  | 'cursor'
  | 'node'
  | 'hasNextPage'
  | 'hasPreviousPage'
  | 'startCursor'
  | 'endCursor'
  | 'count'
  | 'sum'
  | 'avg'
  | 'min'
  | 'max'
  | 'affectedCount'
  | 'records'
  | keyof AddedMembers

/** Further ones, by name: each addition declares those that it brings. */
export interface AddedMembers {}

/** A field of Mutation for one row, or for rows, by a key. */
export interface ChangeByKey {
  readonly kind: 'update-row' | 'delete-row' | 'update-rows'
  readonly entity: EntityFacts
  readonly key: RowKey
}

// graphql-js copies extensions by their string keys.
const key = 'catalograph'

export const withMeaning = (meaning: FieldMeaning): Record<string, FieldMeaning> => ({ [key]: meaning })

/** The extensions object of an enum whose values are written into statements, such as columns and directions. */
export const writtenEnum: Readonly<Record<string, true>> = { [`${key}Written`]: true }

export const isWritten = (type: GraphQLEnumType): boolean => type.extensions[`${key}Written`] === true

/** The meaning of a field of our schemas; only introspection fields have none. */
export function meaningOf(field: GraphQLField<unknown, unknown>): FieldMeaning {
  const meaning = (field.extensions as Record<string, FieldMeaning | undefined>)[key]
  if (meaning === undefined) throw new Error(`the field ${field.name} carries no meaning`)
  return meaning
}
