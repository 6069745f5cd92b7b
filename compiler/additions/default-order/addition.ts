import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'
import { relationFacts } from './facts.ts'

/** The order of a relation's collections where none is asked for (spec/graphql.md 17.5). */
export const defaultOrder = { name: 'defaultOrder', keys, relationFacts } satisfies Addition
