import type { Environment } from '../environment.ts'
import type { Waking } from './waking.ts'

/** The service sends something every 15 s (spec/graphql.md 16.3). */
const beatMs = 15_000
/** Silence that no connection has which is alive. */
const silenceMs = 2.5 * beatMs
/** For how long an answer to a question is waited for, once somebody is waiting. */
const patienceMs = 5_000

/** Notices that a connection is dead although nothing says so, as after a sleep or a change of networks. */
export interface Pulse {
  /** Something has come. */
  readonly heard: () => void
  readonly stop: () => void
}

/**
 * Calls `dead` once a connection is. Where there is a question that the other end answers at once, `ask`, it is asked at every
 * beat and has to be answered before the next: pages that are not seen have fewer beats, which must not look like silence.
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
