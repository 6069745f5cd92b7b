import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Full text search (spec/graphql.md 17.1). */
export const search = { name: 'search', keys, switches: ['search'] } satisfies Addition
