import type { Locks } from './environment.ts'

const flights = new WeakMap<object, Map<string, Promise<unknown>>>()

/** Callers of the same work on the same object share it while it runs, across clients. */
export function shareFlight<T>(on: object, name: string, work: () => Promise<T>): Promise<T> {
  const running = flights.get(on) ?? new Map<string, Promise<unknown>>()
  flights.set(on, running)
  const flight = running.get(name) as Promise<T> | undefined
  if (flight !== undefined) return flight
  const started = work().finally(() => running.delete(name))
  running.set(name, started)
  return started
}

/** Longer than a working tab holds the lock. */
const longestHoldMs = 45_000

/**
 * Runs work exclusively among the tabs of the origin. If the lock does not come, the work runs anyway: the lock saves
 * requests, but correctness does not depend on it.
 */
export async function acrossTabs<T>(locks: Locks | null, name: string, work: () => Promise<T>): Promise<T> {
  if (locks === null) return work()
  let started = false
  const once = (): Promise<T> => {
    started = true
    return work()
  }
  try {
    return await locks.request(name, { signal: AbortSignal.timeout(longestHoldMs) }, once)
  } catch (error) {
    if (started) throw error
    return work()
  }
}
