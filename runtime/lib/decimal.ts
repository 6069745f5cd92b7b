import { LosslessNumber } from 'lossless-json'

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
