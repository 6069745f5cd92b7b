import type { GraphQLArgumentConfig, GraphQLDirective, GraphQLNamedType } from 'graphql'
import type { EntityAdditions, EntityFacts, Manifest } from '../contract/manifest.ts'
import { partTable, type PartsAddition, type PartTable } from '../contract/name-parts.ts'
import type { Marker } from '../contract/stated.ts'

export type RowArguments = Readonly<Record<string, GraphQLArgumentConfig & { readonly description: string }>>

/**
 * The part of an addition (spec/graphql.md 17) in the schemas of roles. Stages that make or read them declare further
 * members here.
 */
export interface SchemaAddition extends PartsAddition {
  /** The fact of manifests, or of relations with types of it, that something has it. */
  readonly name: keyof Manifest | keyof EntityAdditions
  readonly directives?: readonly GraphQLDirective[]
  /** Types that do not depend on relations. */
  readonly types?: readonly GraphQLNamedType[]
  /** Further arguments of fields that find rows of a relation, or any row by its node id. */
  readonly rowArguments?: (of: EntityFacts | Manifest) => RowArguments
  /**
   * The column that every read of the relation reads and every delete sets; null: it cannot be set, so nothing can be
   * deleted.
   */
  readonly marker?: (entity: EntityFacts) => Marker | null | undefined
  /** Whether inputs of the relation with exactly one possible member are marked. */
  readonly marksAlternatives?: (entity: EntityFacts) => boolean
}

/** All additions of an engine. */
export interface EngineAdditions {
  readonly list: readonly SchemaAddition[]
  readonly parts: PartTable
}

export const engineAdditions = (list: readonly SchemaAddition[]): EngineAdditions => ({
  list,
  parts: partTable(list.map((one) => (one.types ? { ...one, typeNames: one.types.map(({ name }) => name) } : one))),
})
