import type { Json, Value } from './world.ts'

/** Ranges and multiranges of int4 (Postgres manual 8.17), and the operators of `rangeFilters`. */

/** From `from` (inclusive) to `to` (exclusive). */
interface Interval {
  readonly from: number
  readonly to: number
}

/** In order, with gaps between them; none: empty. */
type Intervals = readonly Interval[]

const pattern = /([[(])\s*(-?\d*)\s*,\s*(-?\d*)\s*([\])])/g

function readRanges(text: string): Intervals {
  const found = [...text.matchAll(pattern)].map(([, open, from = '', to = '', close]): Interval => ({
    from: from === '' ? Number.NEGATIVE_INFINITY : Number(from) + (open === '(' ? 1 : 0),
    to: to === '' ? Number.POSITIVE_INFINITY : Number(to) + (close === ']' ? 1 : 0),
  }))
  const merged: Interval[] = []
  for (const one of found.filter(({ from, to }) => from < to).sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last !== undefined && one.from <= last.to) merged.splice(-1, 1, { ...last, to: Math.max(last.to, one.to) })
    else merged.push(one)
  }
  return merged
}

const printInterval = ({ from, to }: Interval): string =>
  `${Number.isFinite(from) ? `[${from}` : '('},${Number.isFinite(to) ? to : ''})`

export const canonRange = (value: Json): string => readRanges(String(value)).map(printInterval)[0] ?? 'empty'
export const canonRanges = (value: Json): string => `{${readRanges(String(value)).map(printInterval).join(',')}}`

/** Interval by interval, by their beginnings and then their ends; empty ones come first. */
export function compareRanges(left: string, right: string): number {
  const [a, b] = [readRanges(left), readRanges(right)]
  for (const [index, one] of a.entries()) {
    const other = b[index]
    if (other === undefined) return 1
    const order = compareEnds(one.from, other.from) || compareEnds(one.to, other.to)
    if (order !== 0) return order
  }
  return a.length - b.length
}

const compareEnds = (a: number, b: number): number => (a < b ? -1 : Number(a > b))

const endOf = (ranges: Intervals): number => ranges.at(-1)?.to ?? Number.NaN
const startOf = (ranges: Intervals): number => ranges[0]?.from ?? Number.NaN

const contains = (whole: Intervals, part: Intervals): boolean =>
  part.every(({ from, to }) => whole.some((one) => one.from <= from && to <= one.to))

/** A comparison with NaN, the end of an empty range, is false. */
const between: Readonly<Record<string, (value: Intervals, operand: Intervals) => boolean>> = {
  contains,
  containedBy: (value, operand) => contains(operand, value),
  overlaps: (value, operand) => value.some((a) => operand.some((b) => a.from < b.to && b.from < a.to)),
  adjacent: (value, operand) => endOf(value) === startOf(operand) || endOf(operand) === startOf(value),
  strictlyLeft: (value, operand) => endOf(value) <= startOf(operand),
  strictlyRight: (value, operand) => endOf(operand) <= startOf(value),
  notRight: (value, operand) => endOf(value) <= endOf(operand),
  notLeft: (value, operand) => startOf(value) >= startOf(operand),
}

export const rangeOperators = ['eq', 'in', 'is', 'neq', 'containsValue', 'isEmpty', ...Object.keys(between)]

/** Whether a value meets a condition; undefined for an operator that is not the ranges' own. */
export function readRangeOperator(operator: string, input: Json): ((value: Value) => boolean | null) | undefined {
  const meets = meaning(operator, input)
  return meets && ((value) => (value === null ? null : meets(readRanges(String(value)))))
}

function meaning(operator: string, input: Json): ((value: Intervals) => boolean) | undefined {
  if (operator === 'isEmpty') return (value) => (value.length === 0) === input
  if (operator === 'containsValue')
    return (value) => value.some(({ from, to }) => from <= Number(input) && Number(input) < to)
  const compare = between[operator]
  if (compare === undefined) return undefined
  const operand = readRanges(String(input))
  return (value) => compare(value, operand)
}
