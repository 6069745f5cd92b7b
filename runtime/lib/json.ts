import { LosslessNumber, parse } from 'lossless-json'

/** JSON values (RFC 8259), with all digits of their numbers. */

export type JsonObject = Readonly<Record<string, unknown>>

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isDecimal(value)

/** The value of a JSON text; undefined if it is invalid. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A number that a double may not represent or may print differently. Strings may match as well. */
const mayBeOther = /\d(?:[.eE]|\d{15})/

export const mayHoldOthers = (text: string): boolean => mayBeOther.test(text)

/**
 * Parses JSON (RFC 8259). Whole numbers beyond a double become bigint, others that a double prints with other digits
 * LosslessNumber, and the rest numbers. Of duplicate keys the last one counts, as with JSON.parse. Throws SyntaxError,
 * or RangeError if the text is nested too deeply for the stack.
 */
export function parseJson(text: string): unknown {
  return mayHoldOthers(text)
    ? parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue })
    : JSON.parse(text)
}

/** Parsing a bigint takes more than linear time: a million digits take a second. */
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

/** A number of JSON with its original digits, if a double has others or prints them in another way. */
export const isDecimal = (value: unknown): value is LosslessNumber => value instanceof LosslessNumber

/** A number as a double, which may have other digits; other values unchanged. */
export const roundedNumber = (value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : isDecimal(value) ? Number(value.value) : value

/** Whether a JSON value contains such numbers. */
export const holdsDecimals = (value: unknown): boolean =>
  isDecimal(value) || (typeof value === 'object' && value !== null && Object.values(value).some(holdsDecimals))

const written = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/

/** A whole number in plain digits, as integer types read it; other texts are unchanged. */
export function wholeText(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = written.exec(text) ?? []
  const [digits, point] = [`${whole}${fraction}`, whole.length + Number(exponent)]
  const isWhole = digits !== '' && /^0*$/.test(digits.slice(Math.max(point, 0)))
  return isWhole ? `${sign}${digits.slice(0, Math.max(point, 0)).padEnd(point, '0') || '0'}` : text
}

/** Settings in comments, for writers of comments: `@graphql({...})` (spec/graphql.md 13.1). */

/** Up to the last parenthesis of the comment. */
const directive = /^([^]*?)@graphql\(([^]+)\)([^]*)$/

const printed = (settings: object): string => `@graphql(${JSON.stringify(settings)})`

/**
 * The comment with changed settings, and its other text unchanged; null if its settings cannot be read.
 * @param change maps old settings to new ones
 */
export function withSettings(comment: string | null, change: (settings: JsonObject) => JsonObject): string | null {
  const [, before = '', text, after = ''] = directive.exec(comment ?? '') ?? []
  if (text === undefined) return [comment ?? '', printed(change({}))].filter((part) => part !== '').join('\n')
  const settings = tryParseJson(text)
  return isJsonObject(settings) ? `${before}${printed(change(settings))}${after}` : null
}
