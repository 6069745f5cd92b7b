import { sameItems } from './differences.ts'

/** A lookup by name, such as a Map. */
export interface Lookup<T> {
  readonly get: (key: string) => T | undefined
}

/** A lookup with later versions, each of which knows its differences from earlier ones. */
export interface Table<T> extends Lookup<T> {
  /** The keys whose value may differ from an earlier one; null: unknown. */
  readonly changesSince: (earlier: Lookup<unknown>) => Iterable<string> | null
}

const isTable = (lookup: Lookup<unknown> | undefined): lookup is Table<unknown> =>
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

/** The lookups of remembered functions, and the items of a list by their lookups. */

export type Inputs = readonly unknown[]

const areTablesKey = Symbol('tables')

/** Lookups by name. A remembered function takes one such object at most. */
export interface Tables {
  readonly [areTablesKey]: true
}

/** The spread stands last, so that all that are made share a hidden class (see compiler/comments/annotate.ts). */
export const tablesOf = <T extends Readonly<Record<string, Lookup<unknown>>>>(lookups: T): T & Tables => ({
  [areTablesKey]: true,
  ...lookups,
})

type AnyTables = Tables & Readonly<Record<string, Lookup<unknown>>>

const areTables = (input: unknown): input is AnyTables =>
  typeof input === 'object' && input !== null && areTablesKey in input

/** Lookups: by table and key, the found value. */
export type Reads = Map<string, Map<string, unknown>>

/** An entry must not keep the tables of a compile alive. */
export const withoutTables = (inputs: Inputs): Inputs => inputs.map((input) => (areTables(input) ? null : input))

export const readsFor = (inputs: Inputs): Reads | null => (inputs.some(areTables) ? new Map() : null)

/** The inputs of a function except tables, and its lookups in those; null without tables. */
export interface Dependencies {
  readonly inputs: Inputs
  readonly reads: Reads | null
}

export const areCurrent = ({ inputs, reads }: Dependencies, now: Inputs): boolean =>
  sameItems(inputs, withoutTables(now)) && (reads === null || holds(reads, now.find(areTables)))

function holds(reads: Reads, tables: AnyTables | undefined): boolean {
  for (const [name, found] of reads) {
    const table = tables?.[name]
    for (const [key, value] of found) if (table?.get(key) !== value) return false
  }
  return true
}

/** The inputs with tables that record lookups. Tables that already record report each key once. */
export const recorded = (inputs: Inputs, reads: Reads | null): Inputs =>
  reads === null ? inputs : inputs.map((input) => (areTables(input) ? recording(input, reads) : input))

const recording = (tables: AnyTables, reads: Reads): Tables => {
  const lookups: Record<string, Lookup<unknown>> = {}
  for (const name of Object.keys(tables)) {
    const table = tables[name]
    if (table !== undefined) lookups[name] = new RecordingLookup(name, table, reads)
  }
  return tablesOf(lookups)
}

/** There is one for each table and each remembered result. */
class RecordingLookup implements Lookup<unknown> {
  readonly #name: string
  readonly #table: Lookup<unknown>
  readonly #reads: Reads

  constructor(name: string, table: Lookup<unknown>, reads: Reads) {
    this.#name = name
    this.#table = table
    this.#reads = reads
  }

  get(key: string): unknown {
    const found = this.#reads.get(this.#name) ?? new Map<string, unknown>()
    if (found.size === 0) this.#reads.set(this.#name, found)
    const known = found.get(key)
    if (known !== undefined || found.has(key)) return known
    const value = this.#table.get(key)
    found.set(key, value)
    return value
  }
}

export interface Readers {
  /** Those for which something was looked up that is another now. */
  readonly affectedBy: (inputs: Inputs) => ReadonlySet<unknown>
  readonly add: (item: unknown, reads: Reads | null) => void
  readonly remove: (item: unknown, reads: Reads | null) => void
  /** For an item that was made again. */
  readonly replace: (item: unknown, before: Reads | null, now: Reads | null) => void
}

interface LookupEntry {
  value: unknown
  readonly readers: unknown[]
}

/** @param inputs those of the list's function */
export function createReaders(inputs: Inputs): Readers {
  let tables = tablesIn(inputs)
  const found = new Map<string, Map<string, LookupEntry>>()
  const changedKeys = (name: string, before: ReadonlyMap<string, Table<unknown>>): Iterable<string> | null => {
    const [earlier, table] = [before.get(name), tables.get(name)]
    return earlier === undefined ? null : (table?.changesSince(earlier) ?? null)
  }
  /** @param known where the item is a reader already */
  const note = (item: unknown, reads: Reads | null, known: Reads | null): void => {
    for (const [name, values] of reads ?? []) {
      const [byKey, before] = [found.get(name) ?? new Map<string, LookupEntry>(), known?.get(name)]
      found.set(name, byKey)
      for (const [key, value] of values) {
        const one = byKey.get(key)
        if (one === undefined) byKey.set(key, { value, readers: [item] })
        else {
          one.value = value
          if (before?.has(key) !== true) one.readers.push(item)
        }
      }
    }
  }
  /** @param kept where the item stays a reader: to find one among thousands takes its time */
  const forget = (item: unknown, reads: Reads | null, kept: Reads | null): void => {
    for (const [name, values] of reads ?? [])
      for (const key of values.keys()) if (kept?.get(name)?.has(key) !== true) drop(found.get(name), key, item)
  }
  return {
    affectedBy: (now) => {
      const before = tables
      tables = tablesIn(now)
      const lookups = now.find(areTables)
      const affected = new Set<unknown>()
      for (const [name, byKey] of found) {
        for (const key of changedKeys(name, before) ?? byKey.keys()) {
          const known = byKey.get(key)
          if (known === undefined || lookups?.[name]?.get(key) === known.value) continue
          for (const reader of known.readers) affected.add(reader)
        }
      }
      return affected
    },
    add: (item, reads) => note(item, reads, null),
    remove: (item, reads) => forget(item, reads, null),
    replace: (item, before, now) => {
      forget(item, before, now)
      note(item, now, before)
    },
  }
}

const tablesIn = (inputs: Inputs): ReadonlyMap<string, Table<unknown>> =>
  new Map(
    Object.entries(inputs.find(areTables) ?? {}).filter((entry): entry is [string, Table<unknown>] =>
      isTable(entry[1]),
    ),
  )

function drop(byKey: Map<string, LookupEntry> | undefined, key: string, item: unknown): void {
  const readers = byKey?.get(key)?.readers ?? []
  const place = readers.indexOf(item)
  if (place === -1) return
  const last = readers.pop()
  if (place < readers.length) readers[place] = last
  if (readers.length === 0) byKey?.delete(key)
}
