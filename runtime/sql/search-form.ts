import type { Form, FormOperator, OperandMembers } from './form.ts'
import { scalarTable } from './scalars.ts'

/** Full text search (`search`). */

/** None of these fails on any text (PostgreSQL manual 12.3.2); the configuration may be one that is not there. */
const queries = {
  search: {
    name: 'websearch_to_tsquery',
    help: 'Found by this query as search engines write it: words, "phrases", or, -without.',
  },
  searchPhrase: { name: 'phraseto_tsquery', help: 'Has these words one after another.' },
  searchPlain: { name: 'plainto_tsquery', help: 'Has all of these words.' },
} as const

const searchQuery: OperandMembers = {
  type: 'SearchQuery',
  names: ['query', 'config'],
  besideAs: 'regconfig',
  isName: true,
}

/** @param vectorOf the tsvector of a value in a configuration, which is text and a comma, or nothing */
const searching = (vectorOf: (value: string, config: string) => string): Form['own'] =>
  Object.fromEntries(
    Object.entries(queries).map(([operator, { name, help }]): [string, FormOperator] => [
      operator,
      {
        help,
        takes: 'String',
        members: searchQuery,
        cast: 'text',
        render: (value, query, named) => {
          const config = named === undefined ? '' : `${named}, `
          return `${vectorOf(value, config)} @@ pg_catalog.${name}(${config}${query})`
        },
      },
    ]),
  )

export const vectorForm: Form = {
  subject: 'a text search vector',
  usual: ['eq', 'is'],
  scalar: 'Opaque',
  own: searching((value) => value),
}

export const searchedTextForm: Form = {
  subject: 'a text that is searched',
  usual: scalarTable.String.operators,
  scalar: 'String',
  own: searching((value, config) => `pg_catalog.to_tsvector(${config}${value})`),
}
