import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Relations through a table that connects rows (spec/graphql.md 17.7). */
export const manyToMany = { name: 'manyToMany', keys } satisfies Addition
