import { readJsonOperator } from './json-filter.ts'
import { readNetworkOperator } from './networks.ts'
import { readRangeOperator } from './ranges.ts'
import { readSearch } from './text-search.ts'
import type { BaseType, Json, Value } from './world.ts'

/** Operators that additions bring (spec/graphql.md 17.1). */

/** Whether a value meets a condition; undefined where it is none of these. */
type Read = (operator: string, input: Json) => ((value: Value) => boolean | null) | undefined

const searched =
  (isVector: boolean): Read =>
  (operator, input) =>
    readSearch(isVector, operator, input)

const readers: Readonly<Partial<Record<BaseType, Read>>> = {
  jsonb: readJsonOperator,
  int4range: readRangeOperator,
  int4multirange: readRangeOperator,
  inet: readNetworkOperator,
  text: searched(false),
  'varchar(5)': searched(false),
  tsvector: searched(true),
}

export const readOwnOperator = (base: BaseType, ...condition: Parameters<Read>): ReturnType<Read> =>
  readers[base]?.(...condition)
