import { expected, isWhole, sessionOf, type StoredSession } from './decode.ts'
import type { Environment } from './environment.ts'
import { isPassing, isVerdict, sessionMissing, toAuthError, type AuthError } from './errors.ts'
import type { AuthEvents } from './events.ts'
import { acrossTabs, shareFlight } from './flights.ts'
import type { Ask } from './http.ts'
import type { SessionStore } from './session-store.ts'
import type { AuthStorage } from './storage.ts'
import type { Session } from './types.ts'

/** The interval of checks of the session, and the time limit of a refresh with retries. */
export const tickMs = 30_000
/** A token that expires sooner is refreshed before use. */
const marginMs = 90_000
const firstPauseMs = 200
/** How long a failed refresh token is not sent again: a refused one, and one that did not reach the service. */
const quietMs = { refused: 60_000, passing: 5_000 }

export interface RefreshParts {
  readonly ask: Ask
  readonly store: SessionStore
  readonly storage: AuthStorage
  readonly storageKey: string
  readonly events: AuthEvents
  readonly environment: Environment
}

/** The remaining life of an access token in milliseconds. */
const remainingMs = (session: Pick<Session, 'expires_at'>, now: number): number => session.expires_at * 1000 - now

export interface Refresher {
  /** Refreshes the stored session; a newer session of another tab serves as well. */
  readonly refreshStored: (stored: StoredSession) => Promise<Session>
  /** Exchanges a token of the application, and stores the result. */
  readonly refreshGiven: (refreshToken: string) => Promise<Session>
}

/** Exchanges refresh tokens, each at most once at a time (spec/auth.md 7 and 14.1). Failures are AuthErrors. */
export function createRefresher(parts: RefreshParts): Refresher {
  const { store, storage, storageKey, environment } = parts
  let failed: { readonly token: string; readonly until: number; readonly error: AuthError } | null = null

  const alone = (token: string, work: () => Promise<Session>): Promise<Session> =>
    shareFlight(storage, `${storageKey} ${token}`, () => acrossTabs(environment.locks, `lock:${storageKey}`, work))

  const exchange = async (token: string): Promise<Session> => {
    if (failed !== null && failed.token === token && environment.now() < failed.until) throw failed.error
    const before = await store.read()
    try {
      return await storeAnswer(parts, before, await request(parts, token))
    } catch (thrown) {
      const error = toAuthError(thrown)
      const now = environment.now()
      failed = { token, error, until: now + Math.max(quietMs[isPassing(error) ? 'passing' : 'refused'], waitMs(error)) }
      const rescued = await newerThan(parts, token)
      if (rescued !== null && before?.refresh_token === token) return rescued
      await endIfOver(parts, token, error)
      throw error
    }
  }
  return {
    refreshStored: (stored) =>
      alone(stored.refresh_token, async () => {
        const present = await store.read()
        if (present === null) throw sessionMissing()
        return (await newerThan(parts, stored.refresh_token)) ?? exchange(present.refresh_token)
      }),
    refreshGiven: (refreshToken) => alone(refreshToken, () => exchange(refreshToken)),
  }
}

/** Retries at doubling intervals while the failure is temporary and the tick lasts. */
async function request({ ask, environment }: RefreshParts, token: string): Promise<Session> {
  const end = environment.now() + tickMs
  for (let pause = firstPauseMs; ; pause *= 2) {
    try {
      const body = { refresh_token: token }
      const answer = await ask({ method: 'POST', path: '/token', query: { grant_type: 'refresh_token' }, body })
      return expected(sessionOf(answer, environment.now()))
    } catch (thrown) {
      const error = toAuthError(thrown)
      const wait = Math.max(pause, waitMs(error))
      if (!isPassing(error) || environment.now() + wait >= end) throw error
      await environment.sleep(wait)
    }
  }
}

/** The pause that the service asks for. A limit without one lasts a minute. */
const waitMs = ({ status, retryAfter }: AuthError): number =>
  retryAfter === null ? (status === 429 ? quietMs.refused : 0) : retryAfter * 1000

/** Stores an answer, unless the user signed out or in since: then their state is kept. */
async function storeAnswer(parts: RefreshParts, before: StoredSession | null, session: Session): Promise<Session> {
  const { store, events } = parts
  if (await store.replace(before?.refresh_token ?? null, session)) {
    events.emit('TOKEN_REFRESHED', session)
    return session
  }
  const present = await store.read()
  if (!isWhole(present)) throw sessionMissing()
  return present
}

/** The stored session if it has another token and is valid for a while. */
async function newerThan({ store, environment }: RefreshParts, token: string): Promise<Session | null> {
  const present = await store.read()
  if (!isWhole(present) || present.refresh_token === token) return null
  return remainingMs(present, environment.now()) >= marginMs ? present : null
}

/** A refused token ends the session, once its access token has expired. */
async function endIfOver({ store, events, environment }: RefreshParts, token: string, error: AuthError): Promise<void> {
  if (!isVerdict(error)) return
  const present = await store.read()
  if (present === null || remainingMs(present, environment.now()) > 0) return
  if (await store.remove(token)) events.emit('SIGNED_OUT', null)
}

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
