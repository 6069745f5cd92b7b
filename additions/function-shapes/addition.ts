import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Functions of further shapes (spec/graphql.md 17). */
export const functionShapes = { name: 'functionShapes', keys } satisfies Addition
