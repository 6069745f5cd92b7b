import type { Locks } from './environment.ts'

const flights = new WeakMap<object, Map<string, Promise<unknown>>>()

/** Callers who ask for the same work on the same object while it runs share it, whichever client they have. */
export function shareFlight<T>(on: object, name: string, work: () => Promise<T>): Promise<T> {
  const running = flights.get(on) ?? new Map<string, Promise<unknown>>()
  flights.set(on, running)
  const flight = running.get(name) as Promise<T> | undefined
  if (flight !== undefined) return flight
  const started = work().finally(() => running.delete(name))
  running.set(name, started)
  return started
}

/** Longer than anybody holds the lock, unless its tab hangs. */
const longestHoldMs = 45_000

/**
 * Does something while no other tab of the origin does it. A lock that does not come is passed over: it spares the
 * service requests, and does not decide who is right.
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
