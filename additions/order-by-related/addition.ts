import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Orders by related rows (spec/graphql.md 17). */
export const orderByRelated = { name: 'orderByRelated', keys, switches: ['orderByRelated'] } satisfies Addition
