import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** An insert that updates rows that exist (spec/graphql.md 17). */
export const upsert = { name: 'upsert', keys, switches: ['upsert'] } satisfies Addition
