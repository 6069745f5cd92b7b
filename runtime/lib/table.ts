/** A lookup by name, such as a Map. */
export interface Lookup<T> {
  readonly get: (key: string) => T | undefined
}

/** A lookup with later versions, each of which knows its differences from earlier ones. */
export interface Table<T> extends Lookup<T> {
  /** The keys whose value may differ from an earlier one; null: unknown. */
  readonly changesSince: (earlier: Lookup<unknown>) => Iterable<string> | null
}

export const isTable = (lookup: Lookup<unknown> | undefined): lookup is Table<unknown> =>
  lookup !== undefined && 'changesSince' in lookup

/** An immutable table: `with` creates the next one in a time that mostly depends on the changes alone. */
export interface KeyedTable<T> extends Table<T> {
  /** @param changes the new value of each key; undefined: removed */
  readonly with: (changes: ReadonlyMap<string, T | undefined>) => KeyedTable<T>
}

/** Entries that many tables share, and the changes of one of them. */
interface Layers<T> {
  readonly base: ReadonlyMap<string, T>
  readonly over: ReadonlyMap<string, T | undefined>
}

/** With more changes per entries than this, the layers are merged; until then each lookup may take two. */
const foldedShare = 16
const foldedLeast = 64

class LayeredTable<T> implements KeyedTable<T> {
  readonly #own: Layers<T>
  /** The same content over the base of earlier tables, for comparison. */
  readonly #shared: Layers<T>

  constructor(own: Layers<T>, shared: Layers<T>) {
    this.#own = own
    this.#shared = shared
  }

  get(key: string): T | undefined {
    const { base, over } = this.#own
    return over.size > 0 && over.has(key) ? over.get(key) : base.get(key)
  }

  with(changes: ReadonlyMap<string, T | undefined>): KeyedTable<T> {
    if (changes.size === 0) return this
    const { base, over } = this.#own
    const next = { base, over: new Map([...over, ...changes]) }
    const isFolded = next.over.size > Math.max(foldedLeast, base.size / foldedShare)
    return new LayeredTable(isFolded ? folded(next) : next, next)
  }

  changesSince(earlier: Lookup<unknown>): Iterable<string> | null {
    if (!(earlier instanceof LayeredTable)) return null
    if (earlier === this) return []
    const then = earlier.#own as Layers<unknown>
    return this.#own.base === then.base
      ? keysOf(this.#own, then)
      : this.#shared.base === then.base
        ? keysOf(this.#shared, then)
        : null
  }
}

const keysOf = (now: Layers<unknown>, then: Layers<unknown>): Iterable<string> =>
  new Set([...now.over.keys(), ...then.over.keys()])

function folded<T>({ base, over }: Layers<T>): Layers<T> {
  const all = new Map(base)
  for (const [key, value] of over)
    if (value === undefined) all.delete(key)
    else all.set(key, value)
  return { base: all, over: new Map() }
}

export function tableOf<T>(entries: Iterable<readonly [key: string, value: T]>): KeyedTable<T> {
  const layers: Layers<T> = { base: new Map(entries), over: new Map() }
  return new LayeredTable(layers, layers)
}

class View<T, U> implements Table<U> {
  readonly #table: Table<T>
  readonly #read: (value: T, key: string) => U

  constructor(table: Table<T>, read: (value: T, key: string) => U) {
    this.#table = table
    this.#read = read
  }

  get(key: string): U | undefined {
    const value = this.#table.get(key)
    return value === undefined ? undefined : this.#read(value, key)
  }

  changesSince(earlier: Lookup<unknown>): Iterable<string> | null {
    return earlier instanceof View ? this.#table.changesSince(earlier.#table) : null
  }
}

/** Applies a module's function to the values of a table, on each lookup. */
export const viewOf = <T, U>(table: Table<T>, read: (value: T, key: string) => U): Table<U> => new View(table, read)
