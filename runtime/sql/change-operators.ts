import type { ValueType } from '../contract/manifest.ts'
import type { ScalarName } from '../contract/scalar-names.ts'
import { scalarTable } from './scalars.ts'

/**
 * The operators of updates (spec/graphql.md 17.4): the columns that take them, and the SQL of the new value. To add
 * one, add its row, and its type in runtime/contract/name-parts.ts; the reference interpreter implements them
 * separately.
 */

/** The kind of a column's values, as far as operators distinguish it. */
export type ChangeFamily = 'number' | 'array' | 'json'

/** SQL of the new value from the present one and the operands, all complete expressions. */
type Render = (value: string, ...operands: readonly string[]) => string

interface ChangeOperator {
  readonly help: string
  readonly render: Readonly<Partial<Record<ChangeFamily, Render>>>
  /** It compares elements for equality. */
  readonly compares?: true
  /** It takes a list of objects with these members and is applied once for each. */
  readonly steps?: readonly ('at' | 'value')[]
}

const json = (name: string): string => `pg_catalog.jsonb_${name}`

/** Without the elements that equal one of the operand's; array_remove refuses multidimensional arrays. */
const removeElements: Render = (value, operand) =>
  `case when pg_catalog.array_ndims(${value}) is null then ${value}` +
  ` when pg_catalog.array_ndims(${value}) > 1 then pg_catalog.array_remove(${value}, null)` +
  ` else array(select e.v from pg_catalog.unnest(${value}) with ordinality e(v, n)` +
  ` where not exists (select from pg_catalog.unnest(${operand}) r(v) where r.v is not distinct from e.v) order by e.n) end`

const removeItems: Render = (value, operand) =>
  `case when ${json('typeof')}(${value}) = 'array' then (select coalesce(${json('agg')}(e.v order by e.n), '[]')` +
  ` from ${json('array_elements')}(${value}) with ordinality e(v, n)` +
  ` where not exists (select from ${json('array_elements')}(case when ${json('typeof')}(${operand}) = 'array'` +
  ` then ${operand} else ${json('build_array')}(${operand}) end) r(v) where r.v = e.v)) else ${value} end`

export const changeOperators = {
  increment: { help: 'What is added.', render: { number: (value, operand = '') => `${value} + ${operand}` } },
  multiply: { help: 'What it is multiplied by.', render: { number: (value, operand = '') => `${value} * ${operand}` } },
  append: {
    help: 'What is put behind what is there: elements of an array, elements or members of JSON.',
    render: {
      array: (value, operand = '') => `${value} || ${operand}`,
      json: (value, operand = '') => `coalesce(${value} || ${operand}, ${operand})`,
    },
  },
  prepend: {
    help: 'What is put before what is there: elements of an array, elements or members of JSON.',
    render: {
      array: (value, operand = '') => `${operand} || ${value}`,
      json: (value, operand = '') => `coalesce(${operand} || ${value}, ${operand})`,
    },
  },
  remove: {
    help: 'The elements that are taken out of an array, of SQL or JSON.',
    render: { array: removeElements, json: removeItems },
    compares: true,
  },
  setKey: {
    help: 'What is put where these paths lead.',
    render: {
      json: (value, at = '', operand = '') => `${json('set')}(coalesce(${value}, '{}'), ${at}, ${operand}, true)`,
    },
    steps: ['at', 'value'],
  },
  unsetKey: {
    help: 'The paths at which what stands there is taken out.',
    render: { json: (value, at = '') => `${value} #- ${at}` },
    steps: ['at'],
  },
} as const satisfies Readonly<Record<string, ChangeOperator>>

export type ChangeOperatorName = keyof typeof changeOperators

export const changeOperatorNames = Object.keys(changeOperators) as readonly ChangeOperatorName[]

/** The rows of the table as their common type. */
export const changeOperator = (name: ChangeOperatorName): ChangeOperator => changeOperators[name]

/** Numbers as operands: with all their digits, which a cast to the column's own type might round. */
export const numberTypes: Readonly<Partial<Record<ScalarName, string>>> = {
  Int: 'int4',
  BigInt: 'int8',
  Float: 'float8',
  BigFloat: 'numeric',
}

const changeFamily = (type: ValueType): ChangeFamily | null => {
  if (type.list) return 'array'
  if (type.kind !== 'scalar') return null
  if (type.name === 'JSON') return 'json'
  return numberTypes[type.name] === undefined ? null : 'number'
}

/** How an operator takes values of a type; null: not at all. */
export function takenAs(name: ChangeOperatorName, type: ValueType | null): ChangeFamily | null {
  const family = type === null ? null : changeFamily(type)
  const { render, compares } = changeOperator(name)
  if (type === null || family === null || render[family] === undefined) return null
  return compares === true && family === 'array' && !hasEqualElements(type) ? null : family
}

/** For lists without a filter it is unknown whether their values can be compared. */
const hasEqualElements = (type: ValueType): boolean =>
  type.kind === 'enum' || (type.kind === 'scalar' && scalarTable[type.name].lists)
