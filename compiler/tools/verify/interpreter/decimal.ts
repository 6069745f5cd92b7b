/** Decimal numbers of any length, as `numeric` has them: digits and how many of them stand behind the point. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

export function readDecimal(text: string): Decimal {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  if (match === null) throw new Error(`${text} is not a decimal number`)
  const [, sign = '', whole = '', fraction = ''] = match
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length }
}

export function printDecimal({ digits, scale }: Decimal): string {
  const sign = digits < 0n ? '-' : ''
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  return scale === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

const scaleUp = (value: Decimal, scale: number): bigint => value.digits * 10n ** BigInt(scale - value.scale)

export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const difference = scaleUp(a, scale) - scaleUp(b, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { digits: scaleUp(a, scale) + scaleUp(b, scale), scale }
}

/** Rounds half away from zero, as Postgres does for `numeric(p,s)`. */
export function roundDecimal(value: Decimal, scale: number): Decimal {
  if (value.scale <= scale) return { digits: scaleUp(value, scale), scale }
  const unit = 10n ** BigInt(value.scale - scale)
  const size = value.digits < 0n ? -value.digits : value.digits
  const rounded = (size + unit / 2n) / unit
  return { digits: value.digits < 0n ? -rounded : rounded, scale }
}

/** The quotient to thirty digits behind the point: more than a 64-bit float can hold. */
export const divideDecimal = (value: Decimal, by: number): Decimal => ({
  digits: (value.digits * 10n ** 30n) / BigInt(by),
  scale: value.scale + 30,
})
