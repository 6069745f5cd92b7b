import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'
import './facts.ts'

/** Reasons why fields and values are deprecated (spec/graphql.md 17.5). */
export const deprecated = { name: 'deprecated', keys, marks: ['deprecated'] } satisfies Addition
