import { GraphQLDeprecatedDirective } from 'graphql'
import type { SchemaAddition } from '../../../runtime/engine/additions.ts'

export const deprecated: SchemaAddition = { name: 'deprecated', directives: [GraphQLDeprecatedDirective] }
