import { storageChannel, type Channel, type StorageEvents } from './channel.ts'
import type { AuthStorage } from './storage.ts'

/** The used parts of browsers, workers and Node, declared here so that no types are needed. */

export interface PageLocation {
  readonly href: string
  readonly protocol: string
  readonly assign: (url: string) => void
}

export interface PageHistory {
  readonly state: unknown
  readonly replaceState: (state: unknown, title: string, url: string) => void
}

export interface Page {
  cookie: string
  readonly visibilityState: string
  readonly addEventListener: (event: 'visibilitychange', listener: () => void) => void
  readonly removeEventListener: (event: 'visibilitychange', listener: () => void) => void
}

/** Web Locks (W3C), in one request form. */
export interface Locks {
  readonly request: <T>(name: string, options: { signal: AbortSignal }, work: () => Promise<T>) => Promise<T>
}

/** The event by which browsers report the return of the network (HTML standard, section 8.10.1.7). */
export interface NetworkEvents {
  readonly addEventListener: (event: 'online', listener: () => void) => void
  readonly removeEventListener: (event: 'online', listener: () => void) => void
}

/** The used part of a WebSocket (WHATWG). */
export interface Socket {
  readonly send: (text: string) => void
  readonly close: (code: number, reason: string) => void
  onopen: (() => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null
  onerror: (() => void) | null
}

export interface Host extends Partial<StorageEvents> {
  readonly document?: Page
  readonly location?: PageLocation
  readonly history?: PageHistory
  readonly localStorage?: AuthStorage
  readonly navigator?: { readonly locks?: Locks }
  readonly BroadcastChannel?: new (name: string) => Channel
  readonly WebSocket?: new (url: string, protocol: string) => Socket
}

export const browser = globalThis as unknown as Host

/** The client's dependencies on its platform. Tests and unusual hosts pass their own. */
export interface Environment {
  readonly fetch: typeof fetch
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Repeats work until it is stopped; it does not keep a process alive. */
  readonly every: (milliseconds: number, work: () => void) => () => void
  /** Delays work unless it is stopped; it keeps a process alive. */
  readonly after: (milliseconds: number, work: () => void) => () => void
  /** Null without a page. */
  readonly page: Pick<Page, 'visibilityState' | 'addEventListener' | 'removeEventListener'> | null
  readonly location: PageLocation | null
  readonly history: PageHistory | null
  /** Null if there is no lasting storage. */
  readonly storage: AuthStorage | null
  readonly locks: Locks | null
  readonly openChannel: ((name: string) => Channel) | null
  /** Null without WebSockets, as in Node 20. */
  readonly openSocket: ((url: string, protocol: string) => Socket) | null
  /** Null without such events. */
  readonly network: NetworkEvents | null
}

/** This page, worker or process. Locks and channels belong to pages: elsewhere one name may serve several people. */
export function presentEnvironment(): Environment {
  const page = browser.document
  return {
    fetch: (...request) => fetch(...request),
    now: Date.now,
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    every,
    after,
    page: page ?? null,
    location: (page && browser.location) ?? null,
    history: (page && browser.history) ?? null,
    storage: page === undefined ? null : localStorageOf(browser),
    locks: (page && browser.navigator?.locks) ?? null,
    openChannel: page === undefined ? null : openChannel,
    openSocket: openSocketOf(browser),
    network: browser.addEventListener === undefined ? null : (browser as unknown as NetworkEvents),
  }
}

function openSocketOf({ WebSocket: Open }: Host): Environment['openSocket'] {
  return Open === undefined ? null : (url, protocol) => new Open(url, protocol)
}

function after(milliseconds: number, work: () => void): () => void {
  const timer = setTimeout(work, milliseconds)
  return () => clearTimeout(timer)
}

function every(milliseconds: number, work: () => void): () => void {
  const timer = setInterval(work, milliseconds)
  ;(timer as { readonly unref?: () => void }).unref?.()
  return () => clearInterval(timer)
}

function openChannel(name: string): Channel {
  const { BroadcastChannel: Broadcast } = browser
  // The listeners are the page's own: its methods must be called on it.
  return Broadcast === undefined ? storageChannel(name, browser as StorageEvents) : new Broadcast(name)
}

/** The getter throws if a browser forbids a page to store anything. */
function localStorageOf(host: Host): AuthStorage | null {
  try {
    return host.localStorage ?? null
  } catch {
    return null
  }
}
