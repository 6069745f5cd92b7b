import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { createClient, type AuthChangeEvent, type Client } from '../../../runtime/client/client.ts'
import type { StorageChange } from '../../../runtime/client/channel.ts'
import { createStorage } from '../../support/browser.ts'

/** Pages that lack features of the platform, or parts of this library. */

const clients: Client[] = []
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
  vi.unstubAllGlobals()
})

const id = '00000000-0000-4000-8000-000000000001'
const session = {
  access_token: 'a.b.c',
  refresh_token: 'r',
  token_type: 'bearer',
  expires_in: 3600,
  expires_at: 4_000_000_000,
  user: { id, aud: 'authenticated', app_metadata: {}, user_metadata: {}, created_at: '2026-01-01T00:00:00Z' },
}

/** A page that the globals describe, with what it receives. */
function openPage(globals: Readonly<Record<string, unknown>>) {
  const nothing = (): void => undefined
  const document = { visibilityState: 'hidden', addEventListener: nothing, removeEventListener: nothing }
  const location = { href: 'https://app.example.com/', protocol: 'https:', assign: nothing }
  for (const [name, value] of Object.entries({ document, location, ...globals })) vi.stubGlobal(name, value)
  const client = createClient('https://project.example.com', 'key', {
    auth: { storageKey: 'mine' },
    fetch: async () => Response.json(session),
  })
  clients.push(client)
  const told: AuthChangeEvent[] = []
  client.auth.onAuthStateChange((event) => told.push(event))
  return { client, told }
}

it('the client keeps the session in memory where a page may keep nothing', async () => {
  Object.defineProperty(globalThis, 'localStorage', {
    configurable: true,
    get: () => {
      throw new DOMException('The page may keep nothing', 'SecurityError')
    },
  })
  onTestFinished(async () => {
    Reflect.deleteProperty(globalThis, 'localStorage')
  })
  const { client } = openPage({})
  expect((await client.auth.signInWithPassword({ email: 'a@example.com', password: 'x' })).error).toBeNull()
  expect((await client.auth.getSession()).data.session).toEqual(session)
})

it('the client hears of other tabs by the storage where there are no channels', async () => {
  const listeners = new Set<(change: StorageChange) => void>()
  const { client, told } = openPage({
    localStorage: createStorage(),
    BroadcastChannel: undefined,
    addEventListener: (_event: string, listener: (change: StorageChange) => void) => listeners.add(listener),
    removeEventListener: (_event: string, listener: (change: StorageChange) => void) => listeners.delete(listener),
  })
  const change = (key: string, oldValue: string | null, newValue: string | null): void => {
    for (const listener of listeners) listener({ key, oldValue, newValue })
  }
  const text = JSON.stringify(session)
  change('other', null, text)
  change('mine', null, text)
  change('mine', text, text)
  change('mine', text, null)
  const expected = ['INITIAL_SESSION', 'SIGNED_IN', 'TOKEN_REFRESHED', 'SIGNED_OUT']
  await vi.waitFor(() => expect(told).toEqual(expected))
  client.close()
  expect(listeners.size).toBe(0)
})

it('the client believes no message that is none', async () => {
  const { told } = openPage({ localStorage: createStorage() })
  const tab = new BroadcastChannel('mine')
  const odd = [null, 'SIGNED_OUT', { event: 'INITIAL_SESSION', session }, { event: 'SIGNED_IN', session: { user: 1 } }]
  for (const message of odd) tab.postMessage(message)
  // As supabase-js says it in another tab.
  tab.postMessage({ event: 'SIGNED_IN', session })
  tab.postMessage({ event: 'SIGNED_OUT', session: null })
  await vi.waitFor(() => expect(told).toEqual(['INITIAL_SESSION', 'SIGNED_IN', 'SIGNED_OUT']))
  tab.close()
})

it('the client refuses an invalid project at once, and nothing later', () => {
  expect(() => createClient('project', 'key')).toThrow(TypeError)
  expect(() => createClient('https://project.example.com', '')).toThrow(TypeError)
})
