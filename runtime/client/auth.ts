import * as account from './account.ts'
import { arrive } from './arrive.ts'
import type { AuthClient, Result } from './auth-client.ts'
import { toAuthError } from './errors.ts'
import { notify, type AuthListener } from './events.ts'
import type { ClientContext } from './context.ts'
import * as signIn from './sign-in.ts'
import { createTicker } from './ticker.ts'
import type { Nulls, Session } from './types.ts'

export interface AuthOptions {
  readonly detectSessionInUrl: boolean
  readonly autoRefreshToken: boolean
}

const noSession = { user: null, session: null }

/** The operations over one context. They wait for the page's start, so that its session is stored first. */
export function createAuth(context: ClientContext, options: AuthOptions): AuthClient {
  const arrived = options.detectSessionInUrl ? arrive(context) : Promise.resolve(null)
  const ready = arrived.then(
    () => undefined,
    () => undefined,
  )
  const operation =
    <Args extends readonly unknown[], Data extends object>(
      work: (context: ClientContext, ...args: Args) => Promise<Data>,
      nothing: Nulls<Data>,
    ) =>
    (...args: Args): Promise<Result<Data>> =>
      ready.then(() => resultOf(work(context, ...args), nothing))

  const presentOrNull = (): Promise<Session | null> => ready.then(context.present.load).catch(() => null)
  const ticker = createTicker(context.environment, () => void presentOrNull())
  void arrived.then(
    (arrival) => arrival && context.events.emit(arrival.event, arrival.session),
    () => undefined,
  )
  if (options.autoRefreshToken) ticker.start()

  return {
    initialize: () =>
      resultOf(
        arrived.then(() => ({})),
        {},
      ),
    signUp: operation(signIn.signUp, noSession),
    signInWithPassword: operation(signIn.signInWithPassword, noSession),
    signInWithOAuth: operation(signIn.signInWithOAuth, { provider: null, url: null }),
    signInWithIdToken: operation(signIn.signInWithIdToken, noSession),
    signInAnonymously: operation(signIn.signInAnonymously, noSession),
    signInWithOtp: operation(signIn.signInWithOtp, noSession),
    verifyOtp: operation(signIn.verifyOtp, noSession),
    resend: operation(signIn.resend, noSession),
    resetPasswordForEmail: operation(signIn.resetPasswordForEmail, {}),
    exchangeCodeForSession: operation(signIn.exchangeCodeForSession, noSession),
    getSession: operation(account.getSession, { session: null }),
    getUser: operation(account.getUser, { user: null }),
    setSession: operation(account.setSession, noSession),
    refreshSession: operation(account.refreshSession, noSession),
    updateUser: operation(account.updateUser, { user: null }),
    getUserIdentities: operation(account.getUserIdentities, { identities: null }),
    linkIdentity: operation(account.linkIdentity, { provider: null, url: null }),
    unlinkIdentity: operation(account.unlinkIdentity, {}),
    reauthenticate: operation(account.reauthenticate, {}),
    signOut: operation(account.signOut, {}),
    onAuthStateChange: (listener) => {
      const unsubscribe = subscribe(context, listener, presentOrNull())
      return { data: { subscription: { unsubscribe } } }
    },
    startAutoRefresh: ticker.start,
    stopAutoRefresh: ticker.stop,
  }
}

async function resultOf<Data extends object>(work: Promise<Data>, nothing: Nulls<Data>): Promise<Result<Data>> {
  try {
    return { data: await work, error: null }
  } catch (thrown) {
    return { data: nothing, error: toAuthError(thrown) }
  }
}

/** Reports the first session first, and delays later events until it is known. */
function subscribe({ events }: ClientContext, listener: AuthListener, initial: Promise<Session | null>): () => void {
  let listening = true
  const report: AuthListener = (event, session) => (listening ? notify(listener, event, session) : undefined)
  const reported = initial.then((session) => report('INITIAL_SESSION', session))
  const unsubscribe = events.subscribe((event, session) => void reported.then(() => report(event, session)))
  return () => {
    listening = false
    unsubscribe()
  }
}
