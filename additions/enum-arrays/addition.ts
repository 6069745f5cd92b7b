import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Arrays of enums with filters and mapped names (spec/graphql.md 17). */
export const enumArrays = { name: 'enumArrays', keys, switches: ['enumArrays'] } satisfies Addition
