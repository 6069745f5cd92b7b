import type { Environment } from '../environment.ts'

/** Reports when a missing or possibly dead connection is worth a check. */
export interface Waking {
  /** Returns the function that removes the listener. */
  readonly subscribe: (listener: () => void) => () => void
  /** For events unknown to the platform: another stream has been connected. */
  readonly wake: () => void
}

/** Listens for the return of the network and of the page's visibility, while there are listeners. */
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
