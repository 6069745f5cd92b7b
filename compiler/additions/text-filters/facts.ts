import type { Form, FormOperator } from '../../../runtime/sql/form.ts'
import { scalarTable } from '../../../runtime/sql/scalars.ts'

const similar = (symbol: string, help: string): FormOperator => ({
  help,
  takes: 'String',
  extension: 'pg_trgm',
  render: (value, operand, _, home = '') => `${value} operator(${home}.${symbol}) ${operand}::text`,
})

const own: Form['own'] = {
  ieq: {
    help: 'Equal to this text, upper and lower case alike.',
    takes: 'String',
    cast: 'text',
    render: (value, operand) => `pg_catalog.lower(${value}) = pg_catalog.lower(${operand})`,
  },
  iin: {
    help: 'Equal to one of these texts, upper and lower case alike.',
    takes: 'String',
    list: true,
    cast: 'text',
    // The text of an array contains no letters besides its elements.
    render: (value, list) => `pg_catalog.lower(${value}) = any (pg_catalog.lower(${list})::text[])`,
  },
  similar: similar('%', 'Shares enough trigrams with this text (pg_trgm.similarity_threshold).'),
  wordSimilar: similar(
    '%>',
    'Some words of it share enough trigrams with this text (pg_trgm.word_similarity_threshold).',
  ),
}

const comparedText: Form = {
  name: 'comparedText',
  keys: ['textFilters'],
  pgTypes: ['text', 'varchar', 'bpchar'],
  optional: { name: 'pg_trgm', type: 'gtrgm' },
  types: ['TextFilter'],
  subject: 'a text',
  usual: scalarTable.String.operators,
  scalar: 'String',
  own,
}

export const textForms = [
  comparedText,
  {
    ...comparedText,
    name: 'searchedAndComparedText',
    also: 'searchedText',
    types: ['SearchedTextFilter'],
    subject: 'a text that is searched',
  },
] as const satisfies readonly Form[]
