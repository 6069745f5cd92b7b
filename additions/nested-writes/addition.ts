import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Inserts with related rows (spec/graphql.md 17.6). */
export const nestedWrites = { name: 'nestedWrites', keys, switches: ['nestedWrites'] } satisfies Addition
