import { setTimeout as pause } from 'node:timers/promises'

/** Resolves when the condition holds. Rejects after so many milliseconds; the time until it holds does not matter. */
export const until = async (holds: () => boolean | Promise<boolean>, longestMs = 20_000): Promise<void> => {
  const started = performance.now()
  while (!(await holds())) {
    if (performance.now() - started > longestMs) throw new Error(`this never came to hold: ${holds.toString()}`)
    await pause(5)
  }
}
