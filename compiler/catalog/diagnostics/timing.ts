/** The duration of a stage, in milliseconds. */
export interface Timing {
  readonly stage: string
  readonly ms: number
}

/** Runs a stage and records its duration; errors pass through. */
export type Timed = <T>(stage: string, run: () => T | Promise<T>) => Promise<T>

export interface Stopwatch {
  readonly timed: Timed
  /** The stages so far, in order. */
  readonly timings: () => readonly Timing[]
}

export function createStopwatch(): Stopwatch {
  const noted: Timing[] = []
  return {
    timed: async (stage, run) => {
      const started = performance.now()
      const value = await run()
      noted.push({ stage, ms: performance.now() - started })
      return value
    },
    timings: () => [...noted],
  }
}
