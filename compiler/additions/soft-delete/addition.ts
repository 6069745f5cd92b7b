import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Deletes that mark rows (spec/graphql.md 17.5). */
export const softDelete = { name: 'softDelete', keys, marks: ['softDelete'] } satisfies Addition
