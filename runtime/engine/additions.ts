import type { GraphQLArgumentConfig, GraphQLDirective, GraphQLInputObjectType, GraphQLNamedType } from 'graphql'
import type { EntityFacts, Manifest } from '../contract/manifest.ts'
import { partTable, type PartsAddition, type PartTable } from '../contract/name-parts.ts'
import type { Marker } from '../contract/stated.ts'
import type { ScalarName } from '../contract/scalar-names.ts'
import { formsOf, type Form } from '../sql/form.ts'

export type RowArguments = Readonly<Record<string, GraphQLArgumentConfig & { readonly description: string }>>

/**
 * The part of an addition (spec/graphql.md 17) in the schemas of roles. Stages that make or read them declare further
 * members here.
 */
export interface SchemaAddition extends PartsAddition {
  /** The fact of manifests, or of relations with types of it, that something has it. */
  readonly name: string
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
  readonly forms?: readonly FilterForm[]
}

/** A form with its types. Later stages declare here what they need of one. */
export interface FilterForm extends Form {
  /** The filter of values of a scalar; absent: the operators are all that it has. */
  readonly filter?: (scalar: ScalarName) => GraphQLInputObjectType | undefined
  /** The types that `types` names, but for a filter of operators only. */
  readonly inputs?: readonly GraphQLInputObjectType[]
}

export interface EngineAdditions {
  readonly list: readonly SchemaAddition[]
  readonly parts: PartTable
  readonly forms: ReadonlyMap<string, FilterForm>
}

export const engineAdditions = (list: readonly SchemaAddition[]): EngineAdditions => ({
  list,
  parts: partTable(list.map((one) => (one.types ? { ...one, typeNames: one.types.map(({ name }) => name) } : one))),
  forms: formsOf(list),
})
