import type { ColumnFacts } from '../../../runtime/contract/manifest.ts'
import type { FieldMeaning } from '../../../runtime/engine/meaning.ts'
import { memberOf, slotOf, type Input } from '../../../runtime/graphql/plan/input.ts'
import type { RankKey, RowMember } from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { Planner, SelectedField } from '../../../runtime/graphql/plan/planner.ts'
import type { Value } from '../../../runtime/graphql/plan/values.ts'
import { searchedForm } from './facts.ts'

/** Ranks and excerpts of text search (spec/graphql.md 17.1). */

const textValue = (input: Input, maxLength: number | null = null): Value => ({
  slot: slotOf(input),
  encoding: { kind: 'scalar', maxLength },
})

const rankConfig = (input: Input): Pick<RankKey, 'config'> =>
  input.kind === 'leaf' ? { config: textValue(input) } : {}

/** Postgres counts the bytes of a mark in 16 bits (its ts_utils.h). */
const longestMark = 1_000

export function planRowMember(planner: Planner, meaning: FieldMeaning, selected: SelectedField): RowMember | null {
  if (meaning.kind !== 'headline') return null
  const args = planner.args(selected)
  return {
    kind: 'headline',
    key: selected.key,
    column: meaning.column,
    query: textValue(args('query')),
    ...rankConfig(args('config')),
    start: textValue(args('start'), longestMark),
    stop: textValue(args('stop'), longestMark),
    whole: textValue(args('whole')),
  }
}

export function planRank(column: ColumnFacts, input: Input): RankKey {
  const form = searchedForm(column)
  if (form === undefined) throw new Error(`${column.column} is not searched`)
  const query: Value = {
    slot: slotOf(memberOf(input, 'query')),
    encoding: { kind: 'scalar', maxLength: null, counted: 'words' },
  }
  return { kind: 'rank', column: column.column, form, query, ...rankConfig(memberOf(input, 'config')) }
}
