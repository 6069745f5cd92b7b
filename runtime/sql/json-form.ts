import type { ScalarName } from '../contract/scalar-names.ts'
import { infix, type Form, type FormOperator, type OperandMembers } from './form.ts'

const pathQuery: OperandMembers = { type: 'JSONPathQuery', names: ['path', 'variables'], besideAs: 'jsonb' }

/** As an operator it can use an index; variables require the function. Neither fails on unsuitable values. */
const jsonPath =
  (symbol: string, name: string): FormOperator['render'] =>
  (value, path, variables) =>
    variables === undefined ? `${value} ${symbol} ${path}` : `pg_catalog.${name}(${value}, ${path}, ${variables}, true)`

/** JSON (`jsonFilters`). */
export const jsonForm: Form = {
  subject: 'a JSON value',
  usual: ['eq', 'in', 'is', 'neq'],
  scalar: 'JSON',
  readAs: 'jsonb',
  own: {
    contains: { help: 'Contains this value.', takes: 'JSON', cast: 'jsonb', render: infix('@>') },
    containedBy: { help: 'This value contains it.', takes: 'JSON', cast: 'jsonb', render: infix('<@') },
    hasKey: {
      help: 'Has this key, or this text among its elements.',
      takes: 'String',
      cast: 'text',
      render: infix('?'),
    },
    hasAnyKey: {
      help: 'Has one of these keys, or one of these texts among its elements.',
      takes: 'String',
      list: true,
      cast: 'text[]',
      render: infix('?|'),
    },
    hasAllKeys: {
      help: 'Has every one of these keys, or every one of these texts among its elements.',
      takes: 'String',
      list: true,
      cast: 'text[]',
      render: infix('?&'),
    },
    pathExists: {
      help: 'The SQL/JSON path finds something in it.',
      takes: 'String',
      members: pathQuery,
      cast: 'jsonpath',
      render: jsonPath('@?', 'jsonb_path_exists'),
    },
    pathMatches: {
      help: 'The predicate of the SQL/JSON path is true of it.',
      takes: 'String',
      members: pathQuery,
      cast: 'jsonpath',
      render: jsonPath('@@', 'jsonb_path_match'),
    },
  },
}

/** How a JSON value at a path is compared: the scalar of its operands, and their cast. */
export const jsonParts = {
  text: {
    scalar: 'String',
    cast: 'text',
    help: 'Conditions on the text of what is there; null where nothing is, or JSON null.',
    render: (value: string, path: string): string => `(${value} #>> ${path})`,
  },
  number: {
    scalar: 'BigFloat',
    cast: 'numeric',
    help: 'Conditions on the number that is there; null where no number is.',
    render: (value: string, path: string): string => jsonOfType('number', 'numeric', value, path),
  },
  boolean: {
    scalar: 'Boolean',
    cast: 'bool',
    help: 'Conditions on the boolean that is there; null where none is.',
    render: (value: string, path: string): string => jsonOfType('boolean', 'bool', value, path),
  },
  json: {
    scalar: 'JSON',
    cast: 'jsonb',
    help: 'Conditions on the JSON value that is there; null where nothing is.',
    render: (value: string, path: string): string => `(${value} #> ${path})`,
  },
} as const satisfies Readonly<Record<string, JsonPart>>

interface JsonPart {
  readonly scalar: ScalarName
  readonly cast: string
  readonly help: string
  readonly render: (value: string, path: string) => string
}

export type JsonPartName = keyof typeof jsonParts

/** A cast of another JSON type would fail. */
const jsonOfType = (name: string, type: string, value: string, path: string): string =>
  `(case when pg_catalog.jsonb_typeof(${value} #> ${path}) = '${name}' then (${value} #> ${path})::${type} end)`
