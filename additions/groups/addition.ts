import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Counts and figures by values of fields (spec/graphql.md 17.2). */
export const groups = { name: 'groups', keys, marks: ['groups'], switches: ['groups'] } satisfies Addition
