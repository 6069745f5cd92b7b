import type { SupportedStorage } from '@supabase/supabase-js'
import { vi } from 'vitest'

/** As much of a browser as supabase-js looks at: storage, the way along a redirect, and a page with its address. */

/** Storage that all tabs of one application share. */
export function createStorage(): SupportedStorage & { readonly items: ReadonlyMap<string, string> } {
  const items = new Map<string, string>()
  return {
    items,
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  }
}

/** Opens an address that must redirect, and returns the target. */
export async function follow(url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'manual' })
  const location = response.headers.get('location')
  if (location === null) throw new Error(`${response.status} instead of a redirect: ${await response.text()}`)
  return location
}

/** While `work` runs, this process is a page at that address. Gives back where the page is afterwards. */
export async function onPage(url: string, work: () => Promise<void>): Promise<string> {
  const location = new URL(url)
  const replaceState = (_state: unknown, _unused: string, next: string): void => {
    location.href = next
  }
  vi.stubGlobal('window', { location, history: { state: null, replaceState } })
  vi.stubGlobal('document', { visibilityState: 'hidden' })
  // Tabs of one process hear of each other by the storage that they share.
  vi.stubGlobal('BroadcastChannel', undefined)
  try {
    await work()
    return location.href
  } finally {
    vi.unstubAllGlobals()
  }
}
