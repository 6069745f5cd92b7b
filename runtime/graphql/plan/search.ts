import { slotOf, type Input } from './input.ts'
import type { RankKey, RowMember } from './plan-nodes.ts'
import type { Value } from './values.ts'

/** Excerpts of text search (spec/graphql.md 17.1). */

const textValue = (input: Input, maxLength: number | null = null): Value => ({
  slot: slotOf(input),
  encoding: { kind: 'scalar', maxLength },
})

export const rankConfig = (input: Input): Pick<RankKey, 'config'> =>
  input.kind === 'leaf' ? { config: textValue(input) } : {}

/** Postgres counts the bytes of a mark in 16 bits (its ts_utils.h). */
const longestMark = 1_000

export const planHeadline = (key: string, column: string, args: (name: string) => Input): RowMember => ({
  kind: 'headline',
  key,
  column,
  query: textValue(args('query')),
  ...rankConfig(args('config')),
  start: textValue(args('start'), longestMark),
  stop: textValue(args('stop'), longestMark),
  whole: textValue(args('whole')),
})
