import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'
import { relationFacts } from './facts.ts'

/** The rows of a relation's collections where no filter is given (spec/graphql.md 17.5). */
export const defaultFilter = { name: 'defaultFilter', keys, relationFacts } satisfies Addition
