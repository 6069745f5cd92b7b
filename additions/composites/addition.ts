import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Values of composite types as objects (spec/graphql.md 17). */
export const composites = { name: 'composites', keys } satisfies Addition
