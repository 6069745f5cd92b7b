import { isWhole } from './decode.ts'
import type { Environment } from './environment.ts'
import { sessionMissing } from './errors.ts'
import { marginMs, remainingMs, type Refresher } from './refresh.ts'
import type { SessionStore } from './session-store.ts'
import type { Session } from './types.ts'

/** How long a caller with a valid token waits for a better one. */
const patienceMs = 2_000

export interface PresentSession {
  /** The session to use, refreshed if it ends soon; null if the user is signed out. Throws AuthError. */
  readonly load: () => Promise<Session | null>
  /** The same for operations that require a user. */
  readonly need: () => Promise<Session>
}

export function createPresentSession(
  store: SessionStore,
  refresher: Refresher,
  { now, every }: Environment,
): PresentSession {
  const usable = async (): Promise<Session | null> => {
    const stored = await store.read()
    return isWhole(stored) && remainingMs(stored, now()) > 0 ? stored : null
  }
  const patience = (): Promise<void> =>
    new Promise((resolve) => {
      const stop = every(patienceMs, () => {
        stop()
        resolve()
      })
    })
  const load = async (): Promise<Session | null> => {
    const stored = await store.read()
    if (stored === null) return null
    if (isWhole(stored) && remainingMs(stored, now()) >= marginMs) return stored
    const good = isWhole(stored) && remainingMs(stored, now()) > 0
    const refreshed = refresher.refreshStored(stored)
    try {
      // Offline, the rest of a token's life is not spent waiting.
      return (good && (await Promise.race([refreshed, patience().then(usable)]))) || (await refreshed)
    } catch (error) {
      const left = await usable()
      if (left !== null) return left
      throw error
    }
  }
  const need = async (): Promise<Session> => {
    const session = await load()
    if (session === null) throw sessionMissing()
    return session
  }
  return { load, need }
}
