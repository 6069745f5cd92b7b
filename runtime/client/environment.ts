import { storageChannel, type Channel, type StorageEvents } from './channel.ts'
import type { AuthStorage } from './storage.ts'

/** The little that is used of what browsers, workers and Node offer, described here so that no types are needed. */

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

/** Web Locks (W3C), one request form of them. */
export interface Locks {
  readonly request: <T>(name: string, options: { signal: AbortSignal }, work: () => Promise<T>) => Promise<T>
}

/** The event by which browsers report that the network is back (HTML standard, section 8.10.1.7). */
export interface NetworkEvents {
  readonly addEventListener: (event: 'online', listener: () => void) => void
  readonly removeEventListener: (event: 'online', listener: () => void) => void
}

/** A WebSocket (WHATWG), as far as it is used. */
export interface Socket {
  readonly send: (text: string) => void
  readonly close: (code: number, reason: string) => void
  onopen: (() => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null
  onerror: (() => void) | null
}

/** Globals that only some hosts have. */
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

/** What a client needs of its platform. Tests and unusual hosts pass their own. */
export interface Environment {
  readonly fetch: typeof fetch
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly sleep: (milliseconds: number) => Promise<void>
  /** Does something again and again until it is stopped; no process stays for it. */
  readonly every: (milliseconds: number, work: () => void) => () => void
  /** Does something later, unless it is stopped; a process stays for it. */
  readonly after: (milliseconds: number, work: () => void) => () => void
  /** Null where there is no page. */
  readonly page: Pick<Page, 'visibilityState' | 'addEventListener' | 'removeEventListener'> | null
  readonly location: PageLocation | null
  readonly history: PageHistory | null
  /** Null where nothing outlives the page. */
  readonly storage: AuthStorage | null
  readonly locks: Locks | null
  readonly openChannel: ((name: string) => Channel) | null
  /** Null where there are no WebSockets, as in Node 20. */
  readonly openSocket: ((url: string, protocol: string) => Socket) | null
  /** Null where nobody tells. */
  readonly network: NetworkEvents | null
}

/** This page, worker or process. Locks and channels belong to pages: elsewhere one name may stand for many people. */
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
  // The listeners are the page's own: its methods refuse to be called on another object.
  return Broadcast === undefined ? storageChannel(name, browser as StorageEvents) : new Broadcast(name)
}

/** Even looking at it throws where a browser forbids a page to keep anything. */
function localStorageOf(host: Host): AuthStorage | null {
  try {
    return host.localStorage ?? null
  } catch {
    return null
  }
}
