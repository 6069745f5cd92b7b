/**
 * Wraps an asynchronous function: callers that arrive while it runs share its one result, or its one failure. The next
 * call after that runs it again; no result is remembered.
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
