import type { FormName } from '../contract/filter-forms.ts'
import type { ScalarName } from '../contract/scalar-names.ts'
import type { OperatorName } from './operators.ts'

/** Filters of values in the forms of runtime/contract/filter-forms.ts: what their operators take, and their SQL. */
export interface Form {
  /** What is compared, in a description. */
  readonly subject: string
  /** Operators of all types that these values have, and the scalar of their operands. */
  readonly usual: readonly OperatorName[]
  readonly scalar: ScalarName
  /** What values are read as and such operands cast to, where that is not their own type. */
  readonly readAs?: string
  readonly own: Readonly<Record<string, FormOperator>>
}

export interface FormOperator {
  readonly help: string
  readonly takes: ScalarName
  readonly list?: true
  /** The operand is an object of a text and, if wanted, a value beside it: the members' names. */
  readonly members?: readonly [operand: string, beside: string]
  /** What the operand is cast to. */
  readonly cast: string
  /** A condition of finished expressions; `beside` only where a second operand is given. */
  readonly render: (value: string, operand: string, beside?: string) => string
}

const infix =
  (symbol: string): FormOperator['render'] =>
  (value, operand) =>
    `${value} ${symbol} ${operand}`

/** As an operator an index can serve it; variables it takes as a function only. Neither fails on values that do not fit. */
const jsonPath =
  (symbol: string, name: string): FormOperator['render'] =>
  (value, path, variables) =>
    variables === undefined
      ? `${value} ${symbol} ${path}`
      : `pg_catalog.${name}(${value}, ${path}, ${variables}::jsonb, true)`

const json: Form = {
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
      members: ['path', 'variables'],
      cast: 'jsonpath',
      render: jsonPath('@?', 'jsonb_path_exists'),
    },
    pathMatches: {
      help: 'The predicate of the SQL/JSON path is true of it.',
      takes: 'String',
      members: ['path', 'variables'],
      cast: 'jsonpath',
      render: jsonPath('@@', 'jsonb_path_match'),
    },
  },
}

export const forms: Readonly<Record<FormName, Form>> = { json }

/** What of a JSON value at a path is compared: the scalar of its operands, and what they are cast to. */
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
    render: (value: string, path: string): string => ofType('number', 'numeric', value, path),
  },
  boolean: {
    scalar: 'Boolean',
    cast: 'bool',
    help: 'Conditions on the boolean that is there; null where none is.',
    render: (value: string, path: string): string => ofType('boolean', 'bool', value, path),
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

/** A cast of another type of JSON would fail. */
const ofType = (name: string, type: string, value: string, path: string): string =>
  `(case when pg_catalog.jsonb_typeof(${value} #> ${path}) = '${name}' then (${value} #> ${path})::${type} end)`
