import type { Environment } from '../environment.ts'

/** Tells when a connection that is missing, or that may be dead, is worth looking at. */
export interface Waking {
  /** Returns the function that ends it. */
  readonly subscribe: (listener: () => void) => () => void
  /** For what the platform does not tell: another stream has been connected. */
  readonly wake: () => void
}

/** Hears when the network comes back and when the page is seen again, as long as anybody listens. */
export function createWaking({ network, page }: Environment): Waking {
  const listeners = new Set<{ readonly listener: () => void }>()
  const wake = (): void => {
    for (const { listener } of [...listeners]) listener()
  }
  const look = (): void => {
    if (page?.visibilityState !== 'hidden') wake()
  }
  return {
    wake,
    subscribe: (listener) => {
      const entry = { listener }
      if (listeners.size === 0) {
        network?.addEventListener('online', wake)
        page?.addEventListener('visibilitychange', look)
      }
      listeners.add(entry)
      return () => {
        if (!listeners.delete(entry) || listeners.size > 0) return
        network?.removeEventListener('online', wake)
        page?.removeEventListener('visibilitychange', look)
      }
    },
  }
}
