import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Whether a table has fields of Query (spec/graphql.md 17). */
export const root = { name: 'root', keys } satisfies Addition
