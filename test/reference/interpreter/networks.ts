import type { Json, Value } from './world.ts'

/** Addresses and networks (Postgres manual 8.9, 9.12), and the operators of `networkFilters`. */
interface Network {
  readonly family: 4 | 6
  /** All bits of the address. */
  readonly bits: string
  readonly prefix: number
}

const bitsOf = (number: number, width: number): string => number.toString(2).padStart(width, '0')

function bitsOfSix(text: string): string {
  const groups = (part: string): readonly string[] => (part === '' ? [] : part.split(':'))
  const [before = '', after] = text.split('::')
  const [head, tail] = [groups(before), groups(after ?? '')]
  const gap = after === undefined ? 0 : 8 - head.length - tail.length
  const all = [...head, ...Array.from({ length: gap }, () => '0'), ...tail]
  return all.map((group) => bitsOf(Number.parseInt(group, 16), 16)).join('')
}

function readNetwork(text: string): Network {
  const [address = '', prefix] = text.split('/')
  const bits = address.includes(':')
    ? bitsOfSix(address)
    : address
        .split('.')
        .map((byte) => bitsOf(Number(byte), 8))
        .join('')
  return { family: bits.length === 32 ? 4 : 6, bits, prefix: prefix === undefined ? bits.length : Number(prefix) }
}

/** The network's bits come first, then their number, then the whole address; IPv4 comes before IPv6. */
export function compareNetworks(left: string, right: string): number {
  const [a, b] = [readNetwork(left), readNetwork(right)]
  const common = Math.min(a.prefix, b.prefix)
  const order = (x: string, y: string): number => (x < y ? -1 : Number(x > y))
  return (
    a.family - b.family ||
    order(a.bits.slice(0, common), b.bits.slice(0, common)) ||
    a.prefix - b.prefix ||
    order(a.bits, b.bits)
  )
}

const isWithin = (part: Network, whole: Network, least: number): boolean =>
  part.family === whole.family &&
  part.prefix >= whole.prefix + least &&
  part.bits.slice(0, whole.prefix) === whole.bits.slice(0, whole.prefix)

const between: Readonly<Record<string, (value: Network, operand: Network) => boolean>> = {
  contains: (value, operand) => isWithin(operand, value, 1),
  containsOrEq: (value, operand) => isWithin(operand, value, 0),
  containedBy: (value, operand) => isWithin(value, operand, 1),
  containedByOrEq: (value, operand) => isWithin(value, operand, 0),
  overlaps: (value, operand) => isWithin(value, operand, 0) || isWithin(operand, value, 0),
}

export const networkOperators = ['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq', 'family', ...Object.keys(between)]

/** Whether a value meets a condition; undefined for an operator that is not the networks' own. */
export function readNetworkOperator(operator: string, input: Json): ((value: Value) => boolean | null) | undefined {
  if (operator === 'family') return (value) => (value === null ? null : readNetwork(String(value)).family === input)
  const compare = between[operator]
  if (compare === undefined) return undefined
  const operand = readNetwork(String(input))
  return (value) => (value === null ? null : compare(readNetwork(String(value)), operand))
}
