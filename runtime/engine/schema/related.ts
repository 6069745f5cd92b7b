import type { GraphQLInputType } from 'graphql'
import type { NamePart } from '../../contract/name-parts.ts'
import type { Related } from '../related.ts'
import type { SchemaTypes } from './types.ts'

interface InputMember {
  readonly type: GraphQLInputType
  readonly description: string
}

export type InputField = readonly [name: string, config: InputMember]

declare module '../input-members.ts' {
  interface FilterMember {
    readonly input: (types: SchemaTypes) => InputMember
  }
  interface OrderMember {
    readonly input: (types: SchemaTypes) => InputMember
  }
}

/** An input of a type of the related rows: `many` are those that belong to a row. */
export const relatedInput =
  ({ relation, target }: Related, one: readonly [NamePart, string], many: readonly [NamePart, string]) =>
  (types: SchemaTypes): InputMember => {
    const [part, description] = relation.shape === 'many' ? many : one
    return { type: types.part(target, part) as GraphQLInputType, description }
  }
