import type { AuthClient, Result, SignedIn } from './auth-client.ts'
import type { Environment } from './environment.ts'
import type { AuthEvents } from './events.ts'
import type { Ask } from './http.ts'
import type { Pkce } from './pkce.ts'
import type { PresentSession, Refresher } from './refresh.ts'
import type { SessionStore } from './session-store.ts'
import type { AuthChangeEvent, Session } from './types.ts'

export interface ClientContext {
  /** Address of the project, without a trailing slash. */
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

/** The implementation of an operation in a context. It throws AuthError; auth.ts converts it to a result. */
export type Work<Name extends keyof AuthClient> = AuthClient[Name] extends (
  ...args: infer Args
) => Promise<Result<infer Data>>
  ? (context: ClientContext, ...args: Args) => Promise<Data>
  : never

export async function startSession(
  { store, events }: ClientContext,
  session: Session,
  event: AuthChangeEvent,
): Promise<void> {
  await store.save(session)
  events.emit(event, session)
}

export const signedIn = (session: Session): SignedIn => ({ user: session.user, session })
