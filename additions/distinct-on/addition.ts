import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** One row per value (spec/graphql.md 17). */
export const distinctOn = { name: 'distinctOn', keys, switches: ['distinctOn'] } satisfies Addition
