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

/** Globals that only some hosts have. */
export interface Host extends Partial<StorageEvents> {
  readonly document?: Page
  readonly location?: PageLocation
  readonly history?: PageHistory
  readonly localStorage?: AuthStorage
  readonly navigator?: { readonly locks?: Locks }
  readonly BroadcastChannel?: new (name: string) => Channel
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
  /** Null where there is no page. */
  readonly page: Pick<Page, 'visibilityState' | 'addEventListener' | 'removeEventListener'> | null
  readonly location: PageLocation | null
  readonly history: PageHistory | null
  /** Null where nothing outlives the page. */
  readonly storage: AuthStorage | null
  readonly locks: Locks | null
  readonly openChannel: ((name: string) => Channel) | null
}

/** This page, worker or process. Locks and channels belong to pages: elsewhere one name may stand for many people. */
export function presentEnvironment(): Environment {
  const page = browser.document
  return {
    fetch: (...request) => fetch(...request),
    now: Date.now,
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    every,
    page: page ?? null,
    location: (page && browser.location) ?? null,
    history: (page && browser.history) ?? null,
    storage: page === undefined ? null : localStorageOf(browser),
    locks: (page && browser.navigator?.locks) ?? null,
    openChannel: page === undefined ? null : openChannel,
  }
}

function every(milliseconds: number, work: () => void): () => void {
  const timer = setInterval(work, milliseconds)
  ;(timer as { readonly unref?: () => void }).unref?.()
  return () => clearInterval(timer)
}

function openChannel(name: string): Channel {
  const { BroadcastChannel: Broadcast, addEventListener, removeEventListener } = browser
  if (Broadcast !== undefined) return new Broadcast(name)
  return storageChannel(name, { addEventListener, removeEventListener } as StorageEvents)
}

/** Even looking at it throws where a browser forbids a page to keep anything. */
function localStorageOf(host: Host): AuthStorage | null {
  try {
    return host.localStorage ?? null
  } catch {
    return null
  }
}
