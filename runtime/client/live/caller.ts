import type { Environment } from '../environment.ts'
import type { AuthEvents } from '../events.ts'
import { type PresentSession, tickMs, type Refresher } from '../refresh.ts'
import type { Session } from '../types.ts'

export interface StreamCaller {
  /** The token to use, other than `refused`; null if the user has changed or signed out. Rejects with AuthError. */
  readonly token: (refused: string | null) => Promise<string | null>
  readonly close: () => void
}

export interface CallerListener {
  /** There is a new token. */
  readonly renewed: () => void
  /** The user of the stream has signed out, or another has signed in. */
  readonly over: () => void
}

export interface CallerParts {
  readonly key: string
  readonly present: PresentSession
  readonly refresher: Refresher
  readonly events: AuthEvents
  readonly environment: Environment
}

export interface StreamCallers {
  readonly open: (listener: CallerListener) => StreamCaller
}

/**
 * The owners of streams. A stream of a user stays this user's; one without a user continues as the user who signs in.
 * While there are streams, tokens are renewed before they expire, even if the page is hidden.
 */
export function createCallers({ key, present, refresher, events, environment }: CallerParts): StreamCallers {
  const open = new Set<(session: Session | null) => void>()
  const report = (session: Session | null): void => {
    for (const look of [...open]) look(session)
  }
  let stop = (): void => undefined
  const begin = (): void => {
    const unsubscribe = events.subscribe((_event, session) => report(session))
    const halt = environment.every(tickMs, () => void present.load().then(report, () => undefined))
    stop = () => {
      unsubscribe()
      halt()
    }
  }
  const load = async (refused: string | null): Promise<Session | null> => {
    const session = await present.load()
    return session !== null && session.access_token === refused ? refresher.refreshStored(session) : session
  }
  return {
    open: ({ renewed, over }) => {
      let user: string | null = null
      let token: string | null = null
      const take = (session: Session | null): string | null => {
        if (user !== null && session?.user.id !== user) return null
        user = session?.user.id ?? null
        return (token = session?.access_token ?? key)
      }
      const look = (session: Session | null): void => {
        const before = token
        if (before === null) return
        const after = take(session)
        if (after === null) over()
        else if (after !== before) renewed()
      }
      if (open.size === 0) begin()
      open.add(look)
      return {
        token: async (refused) => take(await load(refused)),
        close: () => {
          if (open.delete(look) && open.size === 0) stop()
        },
      }
    },
  }
}
