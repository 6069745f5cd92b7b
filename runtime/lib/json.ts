import { LosslessNumber, parse } from 'lossless-json'

/** Values of JSON (RFC 8259), with all digits of their numbers. */

/** A JSON object of whose members nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isDecimal(value)

/** The value of a JSON text; undefined where it is none. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

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

/** A number of JSON with the digits that were sent, where a double does not have them: it holds others, or prints them in another way. */
export const isDecimal = (value: unknown): value is LosslessNumber => value instanceof LosslessNumber

/** A number as a double has it, which may have other digits; anything else as it is. */
export const roundedNumber = (value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : isDecimal(value) ? Number(value.value) : value

/** Whether a JSON value holds such numbers. */
export const holdsDecimals = (value: unknown): boolean =>
  isDecimal(value) || (typeof value === 'object' && value !== null && Object.values(value).some(holdsDecimals))

const written = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/

/** A whole number in digits alone, as types of whole numbers read it; what is none stays as it is. */
export function wholeText(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = written.exec(text) ?? []
  const [digits, point] = [`${whole}${fraction}`, whole.length + Number(exponent)]
  const isWhole = digits !== '' && /^0*$/.test(digits.slice(Math.max(point, 0)))
  return isWhole ? `${sign}${digits.slice(0, Math.max(point, 0)).padEnd(point, '0') || '0'}` : text
}
