/** Statistics of samples. All functions take numbers in any order and return NaN for none. */

const sorted = (values: readonly number[]): readonly number[] => [...values].sort((a, b) => a - b)

/** The value below which that share of the values lies (nearest rank). */
export const quantile = (values: readonly number[], share: number): number => {
  const list = sorted(values)
  return list[Math.min(list.length - 1, Math.ceil(list.length * share) - 1)] ?? list[0] ?? Number.NaN
}

export const median = (values: readonly number[]): number => {
  const list = sorted(values)
  const [low, high] = [list[(list.length - 1) >> 1], list[list.length >> 1]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}

/** Several rounds of one figure: their median and spread. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
})

/** The median of a sample, with its 95 % confidence interval (sign test). */
export const medianWithin = (values: readonly number[]): Spread => {
  const list = sorted(values)
  const outside = Math.max(0, Math.floor((list.length - 1.96 * Math.sqrt(list.length)) / 2) - 1)
  const bound = (at: number): number => list.at(at) ?? Number.NaN
  return { median: median(list), min: bound(outside), max: bound(-1 - outside) }
}

/** The ratios of two alternately measured series, round by round. */
export const ratios = (ours: readonly number[], theirs: readonly number[]): Spread =>
  spreadOf(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)))

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** The slope of log y over log x by least squares: the exponent of a power law. NaN for fewer than two different x. */
export const exponentOf = (points: readonly (readonly [x: number, y: number])[]): number => {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const)
  const [middleX, middleY] = [mean(logs.map(([x]) => x)), mean(logs.map(([, y]) => y))]
  const sum = (of: (x: number, y: number) => number): number =>
    logs.reduce((total, [x, y]) => total + of(x - middleX, y - middleY), 0)
  return sum((x, y) => x * y) / sum((x) => x * x)
}

/** A number with a suitable number of digits. */
export const figure = (value: number): string => {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toFixed(digits)
}

export const spreadText = ({ median, min, max }: Spread): string =>
  min === max ? figure(median) : `${figure(median)} (${figure(min)}–${figure(max)})`
