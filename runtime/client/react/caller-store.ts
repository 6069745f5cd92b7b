import type { AuthClient } from '../auth-client.ts'
import type { AuthChangeEvent, User } from '../types.ts'

/** The caller of a client's requests, for React. */
export interface Caller {
  /** The user who is signed in; null: none, or not known yet. */
  readonly user: User | null
  /** Whether that is not known yet. */
  readonly loading: boolean
  /** Differs as soon as answers may differ: another user, or other claims. */
  readonly turn: number
}

export interface CallerStore {
  readonly get: () => Caller
  readonly getFirst: () => Caller
  readonly subscribe: (listener: () => void) => () => void
}

const claimsChange: ReadonlySet<AuthChangeEvent> = new Set(['USER_UPDATED', 'MFA_CHALLENGE_VERIFIED'])

/** @param user the one for whom a server has rendered; undefined: not known */
export function createCallerStore(auth: AuthClient, user: User | null | undefined): CallerStore {
  const first: Caller = { user: user ?? null, loading: user === undefined, turn: 0 }
  let caller = first
  const take = (event: AuthChangeEvent, next: User | null): boolean => {
    const { user: before, loading, turn } = caller
    const isOther = !loading && (next?.id !== before?.id || claimsChange.has(event))
    const isSame = JSON.stringify(next) === JSON.stringify(before)
    if (isSame && !isOther && !loading) return false
    caller = { user: isSame ? before : next, loading: false, turn: isOther ? turn + 1 : turn }
    return true
  }
  return {
    get: () => caller,
    getFirst: () => first,
    subscribe: (listener) => {
      const { data } = auth.onAuthStateChange((event, session) => {
        if (take(event, session?.user ?? null)) listener()
      })
      return data.subscription.unsubscribe
    },
  }
}
