/** Decimal numbers of any length, like `numeric`: digits and the number of them after the point. */
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

export const multiplyDecimals = (a: Decimal, b: Decimal): Decimal => ({
  digits: a.digits * b.digits,
  scale: a.scale + b.scale,
})

/** Rounds half away from zero, as Postgres does for `numeric(p,s)`. */
export function roundDecimal(value: Decimal, scale: number): Decimal {
  if (value.scale <= scale) return { digits: scaleUp(value, scale), scale }
  const unit = 10n ** BigInt(value.scale - scale)
  const size = value.digits < 0n ? -value.digits : value.digits
  const rounded = (size + unit / 2n) / unit
  return { digits: value.digits < 0n ? -rounded : rounded, scale }
}

/** The quotient to thirty digits after the point: more than a 64-bit float can hold. */
export const divideDecimal = (value: Decimal, by: number): Decimal => ({
  digits: (value.digits * 10n ** 30n) / BigInt(by),
  scale: value.scale + 30,
})

/** Of a positive number: the place of its first digit of four, 0 before the point, and that digit. */
function firstOfFour({ digits, scale }: Decimal): readonly [place: number, digit: number] {
  const [whole = '0', fraction = ''] = printDecimal({ digits: digits < 0n ? -digits : digits, scale }).split('.')
  const padded = [
    ...(whole.padStart(Math.ceil(whole.length / 4) * 4, '0').match(/.{4}/g) ?? []),
    ...(fraction.padEnd(Math.ceil(fraction.length / 4) * 4, '0').match(/.{4}/g) ?? []),
  ].map(Number)
  const first = padded.findIndex((digit) => digit !== 0)
  return first < 0 ? [0, 0] : [Math.ceil(whole.length / 4) - 1 - first, padded[first] ?? 0]
}

/**
 * The quotient with as many digits as `numeric` keeps: at least sixteen that count, reckoned in digits of four
 * (select_div_scale of PostgreSQL).
 */
export function quotient(value: Decimal, by: number): Decimal {
  const divisor: Decimal = { digits: BigInt(by), scale: 0 }
  const [[place, digit], [otherPlace, otherDigit]] = [firstOfFour(value), firstOfFour(divisor)]
  const weight = place - otherPlace - (digit <= otherDigit ? 1 : 0)
  const scale = Math.max(16 - weight * 4, value.scale, 0)
  const exact = { digits: (value.digits * 10n ** 40n) / divisor.digits, scale: value.scale + 40 }
  return roundDecimal(exact, scale)
}

/** The greatest multiple that does not exceed the value. */
export function beginOf(value: Decimal, width: Decimal): Decimal {
  const scale = Math.max(value.scale, width.scale)
  const [x, w] = [scaleUp(value, scale), scaleUp(width, scale)]
  const rest = ((x % w) + w) % w
  return { digits: x - rest, scale }
}
