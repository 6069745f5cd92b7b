import type { Form, FormOperator } from '../../../runtime/sql/form.ts'

const comparing = (symbol: string, type: string, help: string): FormOperator => ({
  help,
  takes: 'Opaque',
  extension: 'ltree',
  render: (value, operand, _, home = '') => `${value} operator(${home}.${symbol}) ${operand}::${home}.${type}`,
})

const ofAny = (write: (value: string, list: string, home: string) => string, help: string): FormOperator => ({
  help,
  takes: 'Opaque',
  list: true,
  extension: 'ltree',
  render: (value, list, _, home = '') => write(value, list, home),
})

export const ltreeForm: Form = {
  name: 'ltree',
  keys: ['ltreeFilters'],
  extension: { name: 'ltree', type: 'ltree' },
  types: ['LTreeFilter'],
  subject: 'a path of labels',
  usual: ['is'],
  scalar: 'Opaque',
  own: {
    eq: comparing('=', 'ltree', 'Equal to this path.'),
    neq: comparing('<>', 'ltree', 'Different from this path.'),
    in: ofAny(
      (value, list, home) => `${value} operator(${home}.=) any (${list}::${home}.ltree[])`,
      'Equal to one of these paths.',
    ),
    ancestorOf: comparing('@>', 'ltree', 'Leads to this path, or is it.'),
    descendantOf: comparing('<@', 'ltree', 'Begins with this path, or is it.'),
    matches: comparing('~', 'lquery', 'Matches this lquery, for example "*.europe.*{1}".'),
    matchesAny: ofAny(
      (value, list, home) => `${value} operator(${home}.?) ${list}::${home}.lquery[]`,
      'Matches one of these lqueries.',
    ),
    matchesText: comparing(
      '@',
      'ltxtquery',
      'Has labels as this ltxtquery wants them, for example "europe & !london".',
    ),
    depth: {
      help: 'Has so many labels.',
      takes: 'Int',
      extension: 'ltree',
      render: (value, operand, _, home = '') => `${home}.nlevel(${value}) = ${operand}::int4`,
    },
  },
}
