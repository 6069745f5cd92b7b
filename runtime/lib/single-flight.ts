/**
 * Wraps an asynchronous function so that callers who arrive while it runs share its one result, or its one failure.
 * The next call after it has settled runs it anew: nothing is remembered.
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
