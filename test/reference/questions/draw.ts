import fc from 'fast-check'

/**
 * Choices out of a list of numbers. Values that depend on earlier choices (a document on its catalogue) shrink well
 * this way: fast-check makes the list shorter and its numbers smaller, beyond its end every choice is the first one,
 * and first choices are the plain ones.
 */
export interface Draw {
  /** A whole number from 0 up to, not including, `below`. */
  readonly int: (below: number) => number
  readonly pick: <T>(items: readonly [T, ...T[]] | readonly T[]) => T
  /** True in that many of a hundred cases; false is the plain choice. */
  readonly chance: (percent: number) => boolean
  /** Some of the items, in their order; none is the plain choice. */
  readonly some: <T>(items: readonly T[], percent?: number) => readonly T[]
}

export function drawFrom(numbers: readonly number[]): Draw {
  let position = 0
  const next = (): number => {
    const number = numbers[position] ?? 0
    position += 1
    return number
  }
  const int = (below: number): number => next() % below
  const chance = (percent: number): boolean => int(100) >= 100 - percent
  return {
    int,
    chance,
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new Error('nothing to pick from')
      return items[int(items.length)] as T
    },
    some: (items, percent = 50) => items.filter(() => chance(percent)),
  }
}

/** Up to `length` choices. */
export const choices = (length: number): fc.Arbitrary<readonly number[]> =>
  fc.array(fc.nat({ max: 9_999 }), { minLength: Math.floor(length / 2), maxLength: length, size: 'max' })

/** A free name: one of the pool, or a numbered one. */
export function fresh(draw: Draw, taken: Set<string>, pool: readonly string[]): string {
  const free = pool.filter((name) => !taken.has(name))
  const name = draw.pick(free.length === 0 ? [`n${taken.size}`] : free)
  taken.add(name)
  return name
}
