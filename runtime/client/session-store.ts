import { storedSessionOf, type StoredSession } from './decode.ts'
import { parseJson } from './json.ts'
import type { SteadyStorage } from './storage.ts'
import type { Session } from './types.ts'

export interface SessionStore {
  readonly read: () => Promise<StoredSession | null>
  readonly save: (session: Session) => Promise<void>
  /** Saves unless the storage holds another session than the one with this refresh token; null: unless any. */
  readonly replace: (refreshToken: string | null, session: Session) => Promise<boolean>
  /** Removes the session; with a refresh token only that of the token. Returns whether it did. */
  readonly remove: (refreshToken?: string) => Promise<boolean>
}

export function createSessionStore(storage: SteadyStorage, key: string): SessionStore {
  const read = async (): Promise<StoredSession | null> => {
    const text = await storage.get(key)
    return text === null ? null : storedSessionOf(parseJson(text))
  }
  const save = (session: Session): Promise<void> => storage.set(key, JSON.stringify(session))
  const holds = async (refreshToken: string | null): Promise<boolean> =>
    ((await read())?.refresh_token ?? null) === refreshToken
  // Sequential, so that no write of this page comes between a read and its dependent write.
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
        await storage.set(key, null)
        return true
      }),
  }
}

function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}
