/** Where sessions and PKCE verifiers are kept: what `localStorage` offers, or the same with promises. */
export interface AuthStorage {
  readonly getItem: (key: string) => string | null | Promise<string | null>
  readonly setItem: (key: string, value: string) => void | Promise<void>
  readonly removeItem: (key: string) => void | Promise<void>
}

/** A storage that ends with the page or process. */
export function memoryStorage(): AuthStorage {
  const items = new Map<string, string>()
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  }
}
