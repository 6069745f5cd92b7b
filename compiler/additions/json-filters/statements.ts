import type { Subject } from '../../../runtime/graphql/plan/plan-nodes.ts'
import type { Value } from '../../../runtime/graphql/plan/values.ts'
import { castTo, type Subjected } from '../../../runtime/graphql/statements/filter.ts'
import { isPlainWord, valueParameter } from '../../../runtime/graphql/statements/parameters.ts'
import { arrayText } from '../../../runtime/sql/array-text.ts'
import { literal, written, type Sql } from '../../../runtime/sql/tree.ts'

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
} as const

export type JsonPartName = keyof typeof jsonParts

/** A cast of another JSON type would fail. */
const jsonOfType = (name: string, type: string, value: string, path: string): string =>
  `(case when pg_catalog.jsonb_typeof(${value} #> ${path}) = '${name}' then (${value} #> ${path})::${type} end)`

declare module '../../../runtime/graphql/plan/plan-nodes.ts' {
  interface SubjectForm {
    /** The path of the compared part of a JSON value. */
    readonly at?: readonly { readonly path: Value; readonly as: JsonPartName }[]
  }
}

/** The part of a value to which the steps lead. */
export const partOf = ({ at = [] }: Subject, whole: Subjected): Subjected =>
  at.reduce(({ value }, { path, as }) => {
    const { cast, render } = jsonParts[as]
    const found = written(([from = '', to = '']) => render(from, `${to}::text[]`), [value, pathOf(path)])
    return castTo(cast, found)
  }, whole)

/**
 * A path that the document gives literally is part of the statement, like names of columns: with a parameter, a generic
 * plan could not use an index on the expression.
 */
function pathOf({ slot }: Value): Sql {
  const items = slot.kind === 'list' ? slot.items : []
  const words = items.flatMap((item) => (isPlainWord(item) ? [item.value] : []))
  return slot.kind === 'list' && words.length === items.length
    ? literal(arrayText(words))
    : valueParameter({ slot, encoding: { kind: 'array', maxLength: null } })
}
