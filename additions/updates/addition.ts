import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Updates by keys, of many rows, and by operators (spec/graphql.md 17.4). */
export const updates = { name: 'updates', keys, marks: ['updates'], switches: ['updates'] } satisfies Addition
