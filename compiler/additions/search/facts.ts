import { formOf } from '../../../runtime/contract/facts.ts'
import type { ColumnFacts } from '../../../runtime/contract/manifest.ts'
import type { Form, FormOperator, OperandMembers } from '../../../runtime/sql/form.ts'
import { scalarTable } from '../../../runtime/sql/scalars.ts'

/** None of these fails on any text (PostgreSQL manual 12.3.2); the configuration may be missing. */
export const queries = {
  search: {
    name: 'websearch_to_tsquery',
    help: 'Found by this query as search engines write it: words, "phrases", or, -without.',
  },
  searchPhrase: { name: 'phraseto_tsquery', help: 'Has these words one after another.' },
  searchPlain: { name: 'plainto_tsquery', help: 'Has all of these words.' },
} as const

const queryMembers: OperandMembers = {
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

const searching = (form: SearchedForm): Form['own'] =>
  Object.fromEntries(
    Object.entries(queries).map(([operator, { name, help }]): [string, FormOperator] => [
      operator,
      {
        help,
        takes: 'String',
        members: queryMembers,
        cast: 'text',
        render: (value, query, named) => {
          const config = configOf(named)
          return `${vectors[form](value, config)} @@ pg_catalog.${name}(${config}${query})`
        },
      },
    ]),
  )

const vector: Form = {
  name: 'vector',
  keys: ['search'],
  pgTypes: ['tsvector'],
  types: ['TSVectorFilter', 'SearchQuery', 'SearchRank'],
  subject: 'a text search vector',
  usual: ['eq', 'is'],
  scalar: 'Opaque',
  own: searching('vector'),
}

const searchedText: Form = {
  name: 'searchedText',
  keys: ['search'],
  pgTypes: ['text', 'varchar', 'bpchar'],
  types: ['SearchedStringFilter', 'SearchQuery', 'SearchRank'],
  subject: 'a text that is searched',
  usual: scalarTable.String.operators,
  scalar: 'String',
  own: searching('searchedText'),
}

export const searchForms = [vector, searchedText] as const

/** Undefined for other columns. */
export function searchedForm({ type }: ColumnFacts): SearchedForm | undefined {
  const form = formOf(type)
  if (form === 'vector') return form
  return form === 'searchedText' || form === 'searchedAndComparedText' ? 'searchedText' : undefined
}
