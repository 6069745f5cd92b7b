import { infix, type Form, type FormOperator, type OperandMembers } from '../../../runtime/sql/form.ts'

const pathQuery: OperandMembers = { type: 'JSONPathQuery', names: ['path', 'variables'], besideAs: 'jsonb' }

/** As an operator it can use an index; variables require the function. Neither fails on unsuitable values. */
const jsonPath = (symbol: string, name: string, help: string): FormOperator => ({
  help,
  takes: 'String',
  members: pathQuery,
  cast: 'jsonpath',
  render: (value, path, variables) =>
    variables === undefined
      ? `${value} ${symbol} ${path}`
      : `pg_catalog.${name}(${value}, ${path}, ${variables}, true)`,
})

const ofKeys = (symbol: string, help: string): FormOperator => ({
  ...infix(symbol, help, 'String', 'text[]'),
  list: true,
  counted: 'items',
})

export const jsonForm: Form = {
  name: 'json',
  keys: ['jsonFilters'],
  pgTypes: ['json', 'jsonb'],
  types: ['JSONFilter', 'JSONPathFilter', 'JSONPathQuery'],
  subject: 'a JSON value',
  usual: ['eq', 'in', 'is', 'neq'],
  scalar: 'JSON',
  readAs: 'jsonb',
  own: {
    contains: { ...infix('@>', 'Contains this value.', 'JSON', 'jsonb'), counted: 'json' },
    containedBy: { ...infix('<@', 'This value contains it.', 'JSON', 'jsonb'), counted: 'json' },
    hasKey: infix('?', 'Has this key, or this text among its elements.', 'String', 'text'),
    hasAnyKey: ofKeys('?|', 'Has one of these keys, or one of these texts among its elements.'),
    hasAllKeys: ofKeys('?&', 'Has every one of these keys, or every one of these texts among its elements.'),
    pathExists: jsonPath('@?', 'jsonb_path_exists', 'The SQL/JSON path finds something in it.'),
    pathMatches: jsonPath('@@', 'jsonb_path_match', 'The predicate of the SQL/JSON path is true of it.'),
  },
}
