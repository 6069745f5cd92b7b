import type { Environment } from '../environment.ts'
import type { Waking } from './waking.ts'

/** The service sends something every 15 s (spec/graphql.md 16.3). */
const beatMs = 15_000
/** The silence after which a connection counts as dead. */
const silenceMs = 2.5 * beatMs
/** The time limit of an answer to a ping while a caller waits. */
const patienceMs = 5_000

/** Detects a dead connection without an event, for example after sleep or a change of networks. */
export interface Pulse {
  /** Data have arrived. */
  readonly heard: () => void
  readonly stop: () => void
}

/**
 * Calls `dead` once a connection is. With `ask`, a ping is sent at every beat and must be answered before the next:
 * hidden pages have fewer beats, which must not count as silence.
 */
export function watchPulse(
  { every, after, now }: Environment,
  waking: Waking,
  { ask, dead }: { readonly ask?: () => void; readonly dead: () => void },
): Pulse {
  let heardAt = now()
  let open = false
  const check = (): void => {
    if (ask === undefined ? now() - heardAt > silenceMs : open) dead()
  }
  const beat = (): void => {
    check()
    open = true
    ask?.()
  }
  let stopWaiting = (): void => undefined
  const stopBeat = every(beatMs, beat)
  const stopWaking = waking.subscribe(() => {
    if (ask === undefined) return check()
    open = true
    ask()
    stopWaiting()
    stopWaiting = after(patienceMs, check)
  })
  return {
    heard: () => {
      heardAt = now()
      open = false
    },
    stop: () => {
      stopBeat()
      stopWaking()
      stopWaiting()
    },
  }
}
