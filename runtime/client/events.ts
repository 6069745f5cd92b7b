import type { Channel } from './channel.ts'
import { isWhole, storedSessionOf } from './decode.ts'
import { isFields } from './json.ts'
import type { AuthChangeEvent, Session } from './types.ts'

export type AuthListener = (event: AuthChangeEvent, session: Session | null) => unknown

export interface AuthEvents {
  /** Returns the function that removes the listener. */
  readonly subscribe: (listener: AuthListener) => () => void
  /** Calls all listeners, in this tab synchronously. Errors of listeners are isolated. */
  readonly emit: (event: AuthChangeEvent, session: Session | null) => void
  readonly close: () => void
}

const sharedBetweenTabs: ReadonlySet<unknown> = new Set<AuthChangeEvent>([
  'SIGNED_IN',
  'SIGNED_OUT',
  'TOKEN_REFRESHED',
  'USER_UPDATED',
  'PASSWORD_RECOVERY',
  'MFA_CHALLENGE_VERIFIED',
])

export function createEvents(channel: Channel | null): AuthEvents {
  const listeners = new Set<{ readonly listener: AuthListener }>()
  const report = (event: AuthChangeEvent, session: Session | null): void => {
    for (const { listener } of [...listeners]) notify(listener, event, session)
  }
  if (channel !== null) {
    channel.onmessage = ({ data }) => {
      const message = messageOf(data)
      if (message !== null) report(message.event, message.session)
    }
  }
  return {
    subscribe: (listener) => {
      const entry = { listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    emit: (event, session) => {
      channel?.postMessage({ event, session })
      report(event, session)
    },
    close: () => {
      listeners.clear()
      channel?.close()
    },
  }
}

/** Calls a listener and isolates its errors from the caller. */
export function notify<Args extends readonly unknown[]>(listener: (...args: Args) => unknown, ...args: Args): void {
  void (async () => listener(...args))().catch((error: unknown) => console.error(error))
}

/** The message of another tab, which may run another version or supabase-js; null if invalid. */
function messageOf(data: unknown): { readonly event: AuthChangeEvent; readonly session: Session | null } | null {
  if (!isFields(data) || !sharedBetweenTabs.has(data['event'])) return null
  const event = data['event'] as AuthChangeEvent
  const session = storedSessionOf(data['session'])
  if (event === 'SIGNED_OUT') return { event, session: null }
  return isWhole(session) ? { event, session } : null
}
