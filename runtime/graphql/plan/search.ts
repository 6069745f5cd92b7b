import type { ColumnFacts } from '../../contract/manifest.ts'
import { searchedForm } from '../../engine/searches.ts'
import { memberOf, slotOf, type Input } from './input.ts'
import type { RankKey, RowMember } from './plan-nodes.ts'
import type { Value } from './values.ts'

/** Orders and fields of text search (spec/graphql.md 17.1). */

const textValue = (input: Input, maxLength: number | null = null): Value => ({
  slot: slotOf(input),
  encoding: { kind: 'scalar', maxLength },
})

const rankConfig = (input: Input): Pick<RankKey, 'config'> =>
  input.kind === 'leaf' ? { config: textValue(input) } : {}

export function planRank(column: ColumnFacts, input: Input): RankKey {
  const form = searchedForm(column)
  if (form === undefined) throw new Error(`${column.column} is not searched`)
  const query: Value = {
    slot: slotOf(memberOf(input, 'query')),
    encoding: { kind: 'scalar', maxLength: null, counted: 'words' },
  }
  return { kind: 'rank', column: column.column, form, query, ...rankConfig(memberOf(input, 'config')) }
}

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
