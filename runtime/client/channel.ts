import { isFields, parseJson } from './json.ts'

export interface Channel {
  readonly postMessage: (message: unknown) => void
  readonly close: () => void
  onmessage: ((event: { readonly data: unknown }) => void) | null
}

export interface StorageChange {
  readonly key: string | null
  readonly oldValue: string | null
  readonly newValue: string | null
}

/** The event by which browsers report one tab's writes to the others (HTML standard, section 12.2). */
export interface StorageEvents {
  readonly addEventListener: (event: 'storage', listener: (change: StorageChange) => void) => void
  readonly removeEventListener: (event: 'storage', listener: (change: StorageChange) => void) => void
}

/** For browsers without BroadcastChannel: the write to localStorage is the message. */
export function storageChannel(storageKey: string, events: StorageEvents): Channel {
  const listener = ({ key, oldValue, newValue }: StorageChange): void => {
    if (key === storageKey) channel.onmessage?.({ data: messageOf(oldValue, newValue) })
  }
  const channel: Channel = {
    onmessage: null,
    postMessage: () => undefined,
    close: () => events.removeEventListener('storage', listener),
  }
  events.addEventListener('storage', listener)
  return channel
}

function messageOf(before: string | null, after: string | null): unknown {
  const session = after === null ? undefined : parseJson(after)
  if (!isFields(session)) return { event: 'SIGNED_OUT', session: null }
  return { event: before === null ? 'SIGNED_IN' : 'TOKEN_REFRESHED', session }
}
