import { keyTable } from '../compiler/comments/settings.ts'
import type { Addition } from './addition.ts'
import { allowlist } from './allowlist/addition.ts'
import { explain } from './explain/addition.ts'
import { limits } from './limits/addition.ts'
import { schemaReport } from './schema-report/addition.ts'

/** The additions (spec/graphql.md 17). Without its row and its folder there is no trace of one. */
export const additions: readonly Addition[] = Object.values({
  allowlist,
  explain,
  limits,
  schemaReport,
})

/** The keys of comments. */
export const commentKeys = keyTable(additions.flatMap(({ keys }) => keys))
