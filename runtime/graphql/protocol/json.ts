import { parse } from 'lossless-json'

/** Numbers shorter than this are exact in a double. */
const manyDigits = /\d{16}/

/**
 * Parses JSON (RFC 8259). Whole numbers that a double cannot hold become bigint; all others become numbers.
 * Of keys that occur twice the last one counts, as with JSON.parse. Throws SyntaxError, or RangeError when the text is
 * nested too deeply for the stack.
 */
export function parseJson(text: string): unknown {
  return manyDigits.test(text)
    ? parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue })
    : JSON.parse(text)
}

/** Reading a bigint takes time that grows faster than its digits: one of a million takes a second. */
const mostDigits = 1_000

function exactNumber(digits: string): number | bigint {
  if (digits.length > mostDigits) throw new SyntaxError(`A number has more than ${mostDigits} digits.`)
  const number = Number(digits)
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(digits) ? number : BigInt(digits)
}

/** Whether a JSON value is nested more than `limit` levels deep; looks no deeper than that. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return limit === 0 || Object.values(value).some((inner) => isDeeperThan(inner, limit - 1))
}
