/** Calls a function once in each round, beginning with its next turn, until the result is called. */
export type JoinRounds = (turn: () => void) => () => void

/** The number of steps of a round. */
const steps = 150

/**
 * Spreads thousands of periodic calls over a period, on one timer that runs while there are any. It does not keep the
 * process alive. Simultaneous additions are spread: one to each step in turn.
 */
export function createRounds(periodMs: number): JoinRounds {
  const places = Array.from({ length: steps }, () => new Set<() => void>())
  let step = 0
  let count = 0
  let fill = 0
  let timer: NodeJS.Timeout | null = null
  const next = (): void => {
    step = (step + 1) % steps
    for (const turn of [...(places[step] ?? [])]) turn()
  }
  return (turn) => {
    fill = (fill + 1) % steps
    const place = places[fill]
    // A separate function for each: the same turn may be added twice.
    const own = (): void => turn()
    place?.add(own)
    count += 1
    timer ??= setInterval(next, periodMs / steps).unref()
    return () => {
      if (place?.delete(own) !== true) return
      count -= 1
      if (count > 0 || timer === null) return
      clearInterval(timer)
      timer = null
    }
  }
}
