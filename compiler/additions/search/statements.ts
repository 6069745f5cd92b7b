import type { Ordered } from '../../../runtime/graphql/statements/cursor.ts'
import { nameOrParameter, valueParameter } from '../../../runtime/graphql/statements/parameters.ts'
import type { RankKey, RowMember } from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { Scope } from '../../../runtime/graphql/statements/source.ts'
import { applied, sql, written, type Sql } from '../../../runtime/sql/tree.ts'
import { configOf, queries, vectors } from './facts.ts'

/** Ranks and excerpts of text search (spec/graphql.md 17.1). */

const configsOf = ({ config }: Pick<RankKey, 'config'>): readonly Sql[] =>
  config === undefined ? [] : [applied((name) => `${name}::regconfig`, nameOrParameter(config))]

/** The query of some words in a given text search configuration. */
const queryOf = (words: string, config?: string): string =>
  `pg_catalog.${queries.search.name}(${configOf(config)}${words}::text)`

/** @param column the searched value */
export function rankOf(key: RankKey, column: Sql): Ordered {
  const vectorOf = vectors[key.form === 'vector' ? 'vector' : 'searchedText']
  const write = ([value = '', words = '', config]: readonly string[]): string =>
    `pg_catalog.ts_rank(${vectorOf(value, configOf(config))}, ${queryOf(words, config)})`
  return {
    value: written(write, [column, valueParameter(key.query), ...configsOf(key)]),
    notNull: false,
    isArray: false,
    operand: (value) => sql`${value}::float4`,
    // json and jsonb print small numbers differently.
    cursor: (value) => sql`to_jsonb(${value})`,
    longest: Infinity,
  }
}

/** Excerpts of a text with the matches between marks. */
export function rowValue(member: RowMember, scope: Scope): Sql | null {
  if (member.kind !== 'headline') return null
  const marks = [member.start, member.stop, member.whole].map(valueParameter)
  const options = written(([start = '', stop = '', whole = '']) => headlineOptions(start, stop, whole), marks)
  const write = ([value = '', words = '', given = '', config]: readonly string[]): string =>
    `pg_catalog.ts_headline(${configOf(config)}${value}, ${queryOf(words, config)}, ${given})`
  return written(write, [scope.column(member.column), valueParameter(member.query), options, ...configsOf(member)])
}

/** Null means the default of Postgres; a mark is quoted, with its quotes doubled. */
function headlineOptions(start: string, stop: string, whole: string): string {
  const mark = (name: string, text: string): string =>
    `'${name}="' || pg_catalog.replace(${text}::text, '"', '""') || '"'`
  const all = `'HighlightAll=' || ${whole}::bool`
  return `pg_catalog.concat_ws(', ', ${mark('StartSel', start)}, ${mark('StopSel', stop)}, ${all})`
}
