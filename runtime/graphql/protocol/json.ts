import { LosslessNumber, parse } from 'lossless-json'
import { isDecimal } from '../../lib/decimal.ts'

/** A long number, a fraction or an exponent: a double may not hold it, or print it with other digits. Texts may hold it as well. */
const mayBeOther = /\d(?:[.eE]|\d{15})/

export const mayHoldOthers = (text: string): boolean => mayBeOther.test(text)

/**
 * Parses JSON (RFC 8259). Whole numbers that a double cannot hold become bigint, others that it does not print with the
 * same digits LosslessNumber, and the rest numbers.
 * Of keys that occur twice the last one counts, as with JSON.parse. Throws SyntaxError, or RangeError when the text is
 * nested too deeply for the stack.
 */
export function parseJson(text: string): unknown {
  return mayHoldOthers(text)
    ? parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue })
    : JSON.parse(text)
}

/** Reading a bigint takes time that grows faster than its digits: one of a million takes a second. */
const mostDigits = 1_000

function exactNumber(digits: string): number | bigint | LosslessNumber {
  if (digits.length > mostDigits) throw new SyntaxError(`A number has more than ${mostDigits} digits.`)
  const number = Number(digits)
  if (/^-?\d+$/.test(digits)) return Number.isSafeInteger(number) ? number : BigInt(digits)
  return String(number) === digits ? number : new LosslessNumber(digits)
}

/** Whether a JSON value is nested more than `limit` levels deep; looks no deeper than that. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null || isDecimal(value)) return false
  return limit === 0 || Object.values(value).some((inner) => isDeeperThan(inner, limit - 1))
}
