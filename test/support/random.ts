/** A whole number from 0 up to, not including, `below`. */
export type Random = (below: number) => number

/** Mulberry32: small, and the same everywhere. */
export function createRandom(start: number): Random {
  let state = start >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

/** The items in an order of their own. */
export function shuffled<T>(items: readonly T[], random: Random): readonly T[] {
  const list = [...items]
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = random(last + 1)
    ;[list[last], list[other]] = [list[other] as T, list[last] as T]
  }
  return list
}
