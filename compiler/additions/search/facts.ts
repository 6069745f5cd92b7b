import { configOf, queries, queryMembers, vectors, type SearchedForm } from '../../../runtime/sql/search-form.ts'
import type { Form, FormOperator } from '../../../runtime/sql/form.ts'
import { scalarTable } from '../../../runtime/sql/scalars.ts'

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
