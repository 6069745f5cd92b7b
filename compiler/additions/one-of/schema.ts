import { GraphQLOneOfDirective } from 'graphql'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'

export const oneOf: SchemaAddition = {
  name: 'oneOf',
  directives: [GraphQLOneOfDirective],
  marksAlternatives: (entity) => entity.oneOf === true,
}
