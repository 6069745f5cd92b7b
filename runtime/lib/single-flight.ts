/**
 * Wraps an asynchronous function: concurrent callers share one result, or one failure. The next call runs it again; no
 * result is cached.
 */
export function singleFlight<T>(fn: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | null = null
  return () => {
    flight ??= fn().finally(() => {
      flight = null
    })
    return flight
  }
}
