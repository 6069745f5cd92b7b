/** The storage of sessions and PKCE verifiers: the methods of `localStorage`, or the same with promises. */
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

export interface SteadyStorage {
  readonly get: (key: string) => Promise<string | null>
  /** Null removes. */
  readonly set: (key: string, value: string | null) => Promise<void>
}

/**
 * The storage is authoritative, because other tabs write it too. Only a value that it refused, being full or forbidden,
 * is kept here, until another tab has written.
 */
export function steadyStorage(storage: AuthStorage): SteadyStorage {
  const refused = new Map<string, { readonly value: string | null; readonly over: string | null }>()
  const read = async (key: string): Promise<string | null> => {
    try {
      return await storage.getItem(key)
    } catch {
      return null
    }
  }
  return {
    get: async (key) => {
      const [text, own] = [await read(key), refused.get(key)]
      return own !== undefined && own.over === text ? own.value : text
    },
    set: async (key, value) => {
      try {
        await (value === null ? storage.removeItem(key) : storage.setItem(key, value))
        refused.delete(key)
      } catch (error) {
        refused.set(key, { value, over: await read(key) })
        console.warn(`catalograph: the storage did not take ${key}, which lasts as long as this page`, error)
      }
    },
  }
}
