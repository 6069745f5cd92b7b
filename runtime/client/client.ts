import type { AuthClient } from './auth-client.ts'
import { createAuth } from './auth.ts'
import { presentEnvironment, type Environment } from './environment.ts'
import { createEvents } from './events.ts'
import { followWrites } from './follow-writes.ts'
import { createGraphql, type Graphql } from './graphql.ts'
import { createAsk } from './http.ts'
import { createLive, type Live } from './live/live.ts'
import { createPkce } from './pkce.ts'
import { createPresentSession, createRefresher } from './refresh.ts'
import { createProjectFetch } from './project-fetch.ts'
import { createSessionStore } from './session-store.ts'
import { memoryStorage, steadyStorage, type AuthStorage } from './storage.ts'

export type * from './auth-client.ts'
export type { AuthStorage } from './storage.ts'
export type { AuthListener } from './events.ts'
export type { Environment } from './environment.ts'
export type * from './types.ts'
export type { GraphqlErrorEntry, GraphqlOptions, GraphqlResult, TypedDocument } from './graphql.ts'
export type { Live, LiveListener, LiveOptions, LiveStream } from './live/live.ts'
export type { AuthErrorCode, ClientErrorCode, ServiceErrorCode } from './errors.ts'
export { AuthError } from './errors.ts'
export { GraphqlError } from './graphql.ts'
export { cookieStorage, type CookieStorageOptions } from './cookie-storage.ts'

export interface ClientOptions {
  readonly auth?: {
    /** The storage of the session: `localStorage` if available, else the memory of the page or process. */
    readonly storage?: AuthStorage
    /** Its key: `sb-<first label of the host>-auth-token` by default. */
    readonly storageKey?: string
    /** False keeps the session in memory. */
    readonly persistSession?: boolean
    /** Whether mails and providers return people with tokens, or with a code that only this browser can use. */
    readonly flowType?: 'implicit' | 'pkce'
    /** False leaves the address of the page unchanged. */
    readonly detectSessionInUrl?: boolean
    /** False refreshes tokens only on use. */
    readonly autoRefreshToken?: boolean
  }
  readonly live?: {
    /** The transport of subscriptions: by default WebSocket if available, else Server-Sent Events. */
    readonly transport?: 'websocket' | 'sse'
  }
  /** Sends the requests. */
  readonly fetch?: typeof fetch
  /** Replacements of parts of the detected environment. */
  readonly environment?: Partial<Environment>
}

export interface Client {
  readonly auth: AuthClient
  /** Sends GraphQL requests, with a text or a typed document. */
  readonly graphql: Graphql
  /** Watches a subscription: its listener gets the answer, and each changed one. */
  readonly live: Live
  /** `fetch` with the project key and the user's token; for other GraphQL clients and for second factors. */
  readonly fetch: typeof fetch
  /** Stops timers and listeners. The session stays. */
  readonly close: () => void
}

/**
 * A client of the project at a URL, with its anon key. Throws TypeError for an invalid URL or key, and if WebSockets
 * are requested but not available.
 */
export function createClient(url: string, anonKey: string, options: ClientOptions = {}): Client {
  const { hostname, href } = new URL(url)
  if (anonKey === '') throw new TypeError('The key of the project is missing')
  const base = href.replace(/[?#].*$/, '').replace(/\/+$/, '')
  const { storageKey = `sb-${hostname.split('.')[0]}-auth-token`, flowType = 'implicit', ...auth } = options.auth ?? {}
  const environment = { ...presentEnvironment(), ...options.environment }
  const wire = { url: base, key: anonKey, fetch: followWrites(base, options.fetch ?? environment.fetch) }
  const kept = auth.persistSession === false ? null : (auth.storage ?? environment.storage)
  const storage = kept ?? memoryStorage()
  const steady = steadyStorage(storage)
  const ask = createAsk(wire)
  const store = createSessionStore(steady, storageKey)
  const events = createEvents(kept === null ? null : (environment.openChannel?.(storageKey) ?? null))
  const refresher = createRefresher({ ask, store, storage, storageKey, events, environment })
  const present = createPresentSession(store, refresher, environment)
  const pkce = createPkce(steady, storageKey, flowType)
  const context = { url: base, flow: flowType, ask, store, present, refresher, pkce, events, environment }
  const { detectSessionInUrl = true, autoRefreshToken = true } = auth
  const authClient = createAuth(context, { detectSessionInUrl, autoRefreshToken })
  const { transport } = options.live ?? {}
  const { live, close } = createLive({ ...wire, transport, present, refresher, events, environment })
  return {
    auth: authClient,
    graphql: createGraphql({ ...wire, present }),
    live,
    fetch: createProjectFetch({ ...wire, present }),
    close: () => {
      close()
      authClient.stopAutoRefresh()
      events.close()
    },
  }
}
