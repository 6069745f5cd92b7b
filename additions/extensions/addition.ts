import type { Addition } from '../addition.ts'
import { keys } from './decode.ts'

/** Whether objects of extensions are served (spec/graphql.md 17). */
export const extensions = { name: 'extensions', keys } satisfies Addition
