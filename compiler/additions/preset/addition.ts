import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Columns that are set to an expression of the caller (spec/graphql.md 17.5). */
export const preset = { name: 'preset', keys } satisfies Addition
