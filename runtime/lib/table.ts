/** Something to look up by its name; a Map is one. */
export interface Lookup<T> {
  readonly get: (key: string) => T | undefined
}

/** A lookup of which later ones are made, each of which knows where it differs from the earlier ones. */
export interface Table<T> extends Lookup<T> {
  /** The keys under which it may have another value than an earlier one; null: it cannot tell. */
  readonly changesSince: (earlier: Lookup<unknown>) => Iterable<string> | null
}

export const isTable = (lookup: Lookup<unknown> | undefined): lookup is Table<unknown> =>
  lookup !== undefined && 'changesSince' in lookup

/** A table by itself. It never changes: `with` makes the next one in a time that depends on the changes alone, mostly. */
export interface KeyedTable<T> extends Table<T> {
  /** @param changes what is under each key from now on; undefined: nothing */
  readonly with: (changes: ReadonlyMap<string, T | undefined>) => KeyedTable<T>
}

/** What many tables share, and what one of them has otherwise. */
interface Layers<T> {
  readonly base: ReadonlyMap<string, T>
  readonly over: ReadonlyMap<string, T | undefined>
}

/** Beyond so many changes for each of these entries the layers become one; until then each look-up may take two. */
const foldedShare = 16
const foldedLeast = 64

class LayeredTable<T> implements KeyedTable<T> {
  readonly #own: Layers<T>
  /** The same content over the base of the tables before: by it they are compared. */
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

/** What a function of a module makes of the values of a table, each time that one is looked up. */
export const viewOf = <T, U>(table: Table<T>, read: (value: T, key: string) => U): Table<U> => new View(table, read)
