import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Look-ups by unique keys (spec/graphql.md 17.3). */
export const uniqueKeys = { name: 'uniqueKeys', keys } satisfies Addition
