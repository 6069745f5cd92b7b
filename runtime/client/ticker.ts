import type { Environment } from './environment.ts'
import { tickMs } from './refresh.ts'

export interface Ticker {
  readonly start: () => void
  readonly stop: () => void
}

/** Checks the session now and every tick, while the page is visible; without a page, always. */
export function createTicker({ every, page }: Environment, look: () => void): Ticker {
  let halt: (() => void) | null = null
  const pause = (): void => {
    halt?.()
    halt = null
  }
  const follow = (): void => {
    pause()
    if (page?.visibilityState === 'hidden') return
    look()
    halt = every(tickMs, look)
  }
  return {
    start: () => {
      page?.addEventListener('visibilitychange', follow)
      follow()
    },
    stop: () => {
      page?.removeEventListener('visibilitychange', follow)
      pause()
    },
  }
}
