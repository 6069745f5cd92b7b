import { readJsonOperator } from './json-filter.ts'
import { readNetworkOperator } from './networks.ts'
import { readPathOperator } from './paths.ts'
import { alike } from './patterns.ts'
import { readRangeOperator } from './ranges.ts'
import { readSearch } from './text-search.ts'
import type { BaseType, Json, Value } from './world.ts'

/** Operators of additions (spec/graphql.md 17.1). */

/** Whether a value meets a condition; undefined for other operators. */
type Read = (operator: string, input: Json) => ((value: Value) => boolean | null) | undefined

const ofText: Read = (operator, input) => {
  const meets = alike[operator]
  if (meets === undefined) return readSearch(false, operator, input)
  return (value) => (value === null ? null : meets(String(value), input))
}

const readers: Readonly<Partial<Record<BaseType, Read>>> = {
  jsonb: readJsonOperator,
  int4range: readRangeOperator,
  int4multirange: readRangeOperator,
  inet: readNetworkOperator,
  ltree: readPathOperator,
  text: ofText,
  'varchar(5)': ofText,
  tsvector: (operator, input) => readSearch(true, operator, input),
}

export const readOwnOperator = (base: BaseType, ...condition: Parameters<Read>): ReturnType<Read> =>
  readers[base]?.(...condition)
