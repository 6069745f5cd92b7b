import type { OperandMembers } from './form.ts'

/** Full text search (`search`). */

/** None of these fails on any text (PostgreSQL manual 12.3.2); the configuration may be missing. */
export const queries = {
  search: {
    name: 'websearch_to_tsquery',
    help: 'Found by this query as search engines write it: words, "phrases", or, -without.',
  },
  searchPhrase: { name: 'phraseto_tsquery', help: 'Has these words one after another.' },
  searchPlain: { name: 'plainto_tsquery', help: 'Has all of these words.' },
} as const

export const queryMembers: OperandMembers = {
  type: 'SearchQuery',
  names: ['query', 'config'],
  besideAs: 'regconfig',
  isName: true,
}

export const configOf = (named: string | undefined): string => (named === undefined ? '' : `${named}, `)

/** The tsvector of a value in a configuration, which is text and a comma, or empty. */
export const vectors = {
  vector: (value: string): string => value,
  searchedText: (value: string, config: string): string => `pg_catalog.to_tsvector(${config}${value})`,
} as const

export type SearchedForm = keyof typeof vectors

/** The rank of a value for a query; null if it is null. */
export const rankSql =
  (form: SearchedForm) =>
  (value: string, query: string, named?: string): string => {
    const config = configOf(named)
    return `pg_catalog.ts_rank(${vectors[form](value, config)}, pg_catalog.${queries.search.name}(${config}${query}::text))`
  }

/** Excerpts of a text with the matches between marks. */
export function headlineSql(value: string, query: string, options: string, named?: string): string {
  const config = configOf(named)
  return `pg_catalog.ts_headline(${config}${value}, pg_catalog.${queries.search.name}(${config}${query}::text), ${options})`
}

/** Null means the default of Postgres; a mark is quoted, with its quotes doubled. */
export function headlineOptions(start: string, stop: string, whole: string): string {
  const mark = (name: string, text: string): string =>
    `'${name}="' || pg_catalog.replace(${text}::text, '"', '""') || '"'`
  const all = `'HighlightAll=' || ${whole}::bool`
  return `pg_catalog.concat_ws(', ', ${mark('StartSel', start)}, ${mark('StopSel', stop)}, ${all})`
}
