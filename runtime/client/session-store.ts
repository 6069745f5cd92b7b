import { storedSessionOf, type StoredSession } from './decode.ts'
import { parseJson } from './json.ts'
import type { AuthStorage } from './storage.ts'
import type { Session } from './types.ts'

/**
 * The session in its storage. The storage is the truth, because other tabs write it too; only what it would not take is
 * kept here, until somebody else has written something. Nothing here fails.
 */
export interface SessionStore {
  readonly read: () => Promise<StoredSession | null>
  readonly save: (session: Session) => Promise<void>
  /** Saves unless the storage holds another session than the one with this refresh token by now; null: unless any. */
  readonly replace: (refreshToken: string | null, session: Session) => Promise<boolean>
  /** Removes the session; one with this refresh token alone where one is given. Returns whether it did. */
  readonly remove: (refreshToken?: string) => Promise<boolean>
}

export function createSessionStore(storage: AuthStorage, key: string): SessionStore {
  let unsaved: { readonly session: Session; readonly over: string | null } | null = null
  const readText = async (): Promise<string | null> => {
    try {
      return await storage.getItem(key)
    } catch {
      return null
    }
  }
  const read = async (): Promise<StoredSession | null> => {
    const text = await readText()
    if (unsaved !== null && unsaved.over === text) return unsaved.session
    return text === null ? null : storedSessionOf(parseJson(text))
  }
  const save = async (session: Session): Promise<void> => {
    try {
      await storage.setItem(key, JSON.stringify(session))
      unsaved = null
    } catch (error) {
      unsaved = { session, over: await readText() }
      console.warn('catalograph: the session could not be stored and ends with this page', error)
    }
  }
  const remove = async (): Promise<void> => {
    unsaved = null
    try {
      await storage.removeItem(key)
    } catch (error) {
      console.warn('catalograph: the session could not be removed from its storage', error)
    }
  }
  const holds = async (refreshToken: string | null): Promise<boolean> =>
    ((await read())?.refresh_token ?? null) === refreshToken
  // One after the other, so that nobody of this page writes between a look and the write that depends on it.
  const inTurn = createTurns()
  return {
    read,
    save: (session) => inTurn(() => save(session)),
    replace: (refreshToken, session) =>
      inTurn(async () => {
        if (!(await holds(refreshToken))) return false
        await save(session)
        return true
      }),
    remove: (refreshToken) =>
      inTurn(async () => {
        if (refreshToken !== undefined && !(await holds(refreshToken))) return false
        await remove()
        return true
      }),
  }
}

/** Runs what it is given one after the other. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}
