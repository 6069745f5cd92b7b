import { deserialize, serialize } from 'node:v8'
import type { EntityFacts, Manifest, ObjectId } from '../../contract/manifest.ts'
import type { CompiledDocuments, EntityModule, Revision } from '../../contract/artifact.ts'
import { differencesBetween, share } from '../../lib/memo/differences.ts'

/**
 * The difference between two revisions, so that a process with the first need not receive the whole second one: of
 * thousands of relations one has changed. Unchanged parts keep their identity there, and with it everything cached for
 * them.
 */
export interface RevisionChange {
  readonly id: string
  readonly version: string | null
  readonly failure?: string
  /** Of compiled documents, with their addresses if these changed. */
  readonly compiled?: CompiledChange
  /** The changed members of the manifest, except `entities`. */
  readonly manifest: Partial<Omit<Manifest, 'entities'>>
  /** Members that the new manifest lacks. */
  readonly gone: readonly string[]
  readonly entities: readonly Splice<EntityFacts>[]
  readonly modules: readonly Splice<EntityModule>[]
  /** Null: unchanged. */
  readonly functions: string | null
}

interface CompiledChange extends Omit<CompiledDocuments, 'addresses'> {
  /** Null: unchanged. */
  readonly addresses: CompiledDocuments['addresses'] | null
}

/** Items that replace those from `from` to `to` of the earlier list. */
interface Splice<T> {
  readonly from: number
  readonly to: number
  readonly items: readonly T[]
}

type Members = Readonly<Record<string, unknown>>

const manifestMembers = (manifest: Manifest): Members =>
  Object.fromEntries(Object.entries(manifest).filter(([name]) => name !== 'entities'))

const changedMembers = (before: Members, now: Members): Members =>
  Object.fromEntries(Object.entries(now).filter(([name, value]) => share(before[name], value) !== before[name]))

const nothing: Revision = {
  id: '',
  version: null,
  manifest: { entities: [] as readonly EntityFacts[] } as Manifest,
  entities: [],
  functions: '',
}

/** @param before the revision of the receiver; null: none */
export function changeBetween(before: Revision | null, now: Revision): RevisionChange {
  const { id, version, manifest, entities: modules, functions, failure, compiled } = now
  const old = before ?? nothing
  const [oldMembers, members] = [manifestMembers(old.manifest), manifestMembers(manifest)]
  return {
    id,
    version,
    ...(failure !== undefined && { failure }),
    ...(compiled !== undefined && { compiled: compiledChange(before?.compiled, compiled) }),
    manifest: changedMembers(oldMembers, members),
    gone: Object.keys(oldMembers).filter((name) => !(name in members)),
    entities: splicesBetween(old.manifest.entities, manifest.entities),
    modules: splicesBetween(old.entities, modules),
    functions: before !== null && old.functions === functions ? null : functions,
  }
}

const compiledChange = (before: CompiledDocuments | undefined, now: CompiledDocuments): CompiledChange => ({
  ...now,
  addresses: before?.addresses === now.addresses ? null : now.addresses,
})

const compiledAfter = (before: CompiledDocuments | undefined, change: CompiledChange): CompiledDocuments => ({
  ...change,
  addresses: change.addresses ?? before?.addresses ?? { types: {}, roles: {} },
})

const splicesBetween = <T>(before: readonly T[], now: readonly T[]): readonly Splice<T>[] =>
  differencesBetween(before, now).map(({ from, to, start, end }) => ({ from, to, items: now.slice(start, end) }))

/** Repeated objects are serialized once, and are one object for the receiver, too. */
export const changeToMessage = (change: RevisionChange): Uint8Array => serialize(change)

export const changeFromTravel = (bytes: Uint8Array): RevisionChange => deserialize(bytes) as RevisionChange

/** @param before the base of the change */
export function applyChange(before: Revision | null, change: RevisionChange): Revision {
  const { id, version, failure, gone, functions, compiled } = change
  const old = before ?? nothing
  const oldMembers = manifestMembers(old.manifest)
  const kept = Object.entries(oldMembers).filter(([name]) => !gone.includes(name))
  const changed = Object.entries(change.manifest).map(([name, value]) => [name, share(oldMembers[name], value)])
  const entities = spliced(old.manifest.entities, change.entities)
  return {
    id,
    version,
    ...(failure !== undefined && { failure }),
    ...(compiled !== undefined && { compiled: compiledAfter(before?.compiled, compiled) }),
    manifest: { ...Object.fromEntries([...kept, ...changed]), entities } as Manifest,
    entities: spliced(old.entities, change.modules),
    functions: functions ?? old.functions,
  }
}

/** An item that equals a removed one is that object. */
function spliced<T extends { readonly id: ObjectId }>(
  before: readonly T[],
  splices: readonly Splice<T>[],
): readonly T[] {
  if (splices.length === 0) return before
  const left = new Map(splices.flatMap(({ from, to }) => before.slice(from, to)).map((item) => [item.id, item]))
  const after: T[] = []
  let place = 0
  for (const { from, to, items } of splices) {
    for (; place < from; place += 1) after.push(before[place] as T)
    for (const item of items) after.push(share(left.get(item.id), item))
    place = to
  }
  for (; place < before.length; place += 1) after.push(before[place] as T)
  return after
}
