import type { ValueFacts } from '../../model/scalars.ts'
import { tableAddition } from '../addition.ts'
import './facts.ts'

const list = ({ type, json }: ValueFacts): Partial<ValueFacts> =>
  type.kind === 'enum'
    ? { filter: true, ...(json.kind === 'mapped' && { json: { kind: 'mapped-array', names: json.names } }) }
    : {}

/** Filters of arrays of enums, and their mapped names in answers (spec/graphql.md 17). */
export const enumArrays = tableAddition('enumArrays', 'gives columns that are arrays of enums a filter', {
  enumLists: true,
  values: { list },
})
