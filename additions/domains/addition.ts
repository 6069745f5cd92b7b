import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Domains as the type underneath (spec/graphql.md 17). */
export const domains = { name: 'domains', keys } satisfies Addition
