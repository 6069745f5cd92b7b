import type { GraphQLArgumentConfig, GraphQLDirective, GraphQLNamedType } from 'graphql'
import type { EntityFacts, Manifest } from '../contract/manifest.ts'

export type RowArguments = Readonly<Record<string, GraphQLArgumentConfig & { readonly description: string }>>

/** The part of an addition (spec/graphql.md 17) in the schemas of roles. */
export interface SchemaAddition {
  /** The fact of manifests with something for it. */
  readonly fact: keyof Manifest
  readonly directives?: readonly GraphQLDirective[]
  /** Types that do not depend on relations. */
  readonly types?: readonly GraphQLNamedType[]
  /** Further arguments of fields that find rows of a relation, or any row by its node id. */
  readonly rowArguments?: (of: EntityFacts | Manifest) => RowArguments
  /** Whether inputs of the relation with exactly one possible member are marked. */
  readonly marksAlternatives?: (entity: EntityFacts) => boolean
}
