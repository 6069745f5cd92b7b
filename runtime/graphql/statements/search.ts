import { headlineOptions, headlineSql, rankSql } from '../../sql/search-form.ts'
import { applied, sql, written, type Sql } from '../../sql/tree.ts'
import type { RankKey, RowMember } from '../plan/plan-nodes.ts'
import { valueParameter, nameOrParameter } from './parameters.ts'
import type { Ordered } from './cursor.ts'

/** Ranks and excerpts of text search (spec/graphql.md 17.1). */

const configOf = ({ config }: Pick<RankKey, 'config'>): readonly Sql[] =>
  config === undefined ? [] : [applied((name) => `${name}::regconfig`, nameOrParameter(config))]

/** @param column the searched value */
export function rankOf(key: RankKey, column: Sql): Ordered {
  const rank = rankSql(key.form)
  const write = ([value = '', query = '', config]: readonly string[]): string => rank(value, query, config)
  return {
    value: written(write, [column, valueParameter(key.query), ...configOf(key)]),
    notNull: false,
    isArray: false,
    operand: (value) => sql`${value}::float4`,
    // json and jsonb print small numbers differently.
    cursor: (value) => sql`to_jsonb(${value})`,
    longest: Infinity,
  }
}

export function headlineOf(member: Extract<RowMember, { kind: 'headline' }>, column: Sql): Sql {
  const marks = [member.start, member.stop, member.whole].map(valueParameter)
  const options = written(([start = '', stop = '', whole = '']) => headlineOptions(start, stop, whole), marks)
  const write = ([value = '', query = '', given = '', config]: readonly string[]): string =>
    headlineSql(value, query, given, config)
  return written(write, [column, valueParameter(member.query), options, ...configOf(member)])
}
