import type { Channel } from '../../runtime/client/channel.ts'
import {
  createClient,
  type AuthChangeEvent,
  type Client,
  type ClientOptions,
  type Session,
} from '../../runtime/client/client.ts'
import type { Environment, Locks } from '../../runtime/client/environment.ts'

/** A tab of a browser with our client in it. */
export interface Tab {
  readonly client: Client
  readonly events: readonly (readonly [event: AuthChangeEvent, session: Session | null])[]
  /** The address bar. */
  readonly address: () => string
  /** Shows or hides it. */
  readonly show: (visible: boolean) => void
}

export interface TabOptions {
  readonly auth?: ClientOptions['auth']
  /** Where the tab is opened. */
  readonly at?: string
  readonly hidden?: boolean
  readonly environment?: Partial<Environment>
  readonly fetch?: typeof fetch
}

const opened: Client[] = []

/** Opens a page and does not wait for its start; `initialize` does. */
export function openTab({ url, anon }: { url: string; anon: string }, options: TabOptions = {}): Tab {
  const location = { href: options.at ?? 'https://app.example.com/', protocol: 'https:', assign }
  function assign(next: string): void {
    location.href = next
  }
  let visibilityState = options.hidden === true ? 'hidden' : 'visible'
  const listeners = new Set<() => void>()
  const page: Environment['page'] = {
    get visibilityState() {
      return visibilityState
    },
    addEventListener: (_event, listener) => void listeners.add(listener),
    removeEventListener: (_event, listener) => void listeners.delete(listener),
  }
  const history = { state: null, replaceState: (_state: unknown, _title: string, next: string) => assign(next) }
  const client = createClient(url, anon, {
    auth: { ...options.auth },
    environment: { page, location, history, openChannel, ...options.environment },
    ...(options.fetch !== undefined && { fetch: options.fetch }),
  })
  opened.push(client)
  const events: (readonly [AuthChangeEvent, Session | null])[] = []
  client.auth.onAuthStateChange((event, session) => events.push([event, session]))
  return {
    client,
    events,
    address: () => location.href,
    show: (visible) => {
      visibilityState = visible ? 'visible' : 'hidden'
      for (const listener of [...listeners]) listener()
    },
  }
}

const openChannel = (name: string): Channel => new BroadcastChannel(name) as unknown as Channel

/** Closes every tab, so that the process can end. */
export function closeTabs(): void {
  for (const client of opened.splice(0)) client.close()
}

export const eventNames = ({ events }: Tab): readonly AuthChangeEvent[] => events.map(([event]) => event)

/** Web Locks for the tabs of one origin. */
export function createLocks(): Locks {
  const tails = new Map<string, Promise<unknown>>()
  return {
    request: (name, _options, work) => {
      const turn = (tails.get(name) ?? Promise.resolve()).then(work)
      tails.set(
        name,
        turn.catch(() => undefined),
      )
      return turn
    },
  }
}
