import type { Environment } from './environment.ts'
import type { AuthEvents } from './events.ts'
import type { Ask } from './http.ts'
import type { Pkce } from './pkce.ts'
import type { PresentSession } from './present-session.ts'
import type { Refresher } from './refresh.ts'
import type { SessionStore } from './session-store.ts'
import type { AuthChangeEvent, Session } from './types.ts'

/** What the operations are made of. */
export interface ClientContext {
  /** Address of the project, without a slash at its end. */
  readonly url: string
  readonly flow: 'implicit' | 'pkce'
  readonly ask: Ask
  readonly store: SessionStore
  readonly present: PresentSession
  readonly refresher: Refresher
  readonly pkce: Pkce
  readonly events: AuthEvents
  readonly environment: Environment
}

/** Stores a session and emits the event. */
export async function startSession(
  { store, events }: ClientContext,
  session: Session,
  event: AuthChangeEvent,
): Promise<void> {
  await store.save(session)
  events.emit(event, session)
}
