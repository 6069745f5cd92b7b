import type { EntityFacts, Manifest, ObjectId } from '../contract/manifest.ts'
import type { Revision } from '../contract/revision.ts'
import { sameItems, share } from '../lib/share.ts'

/**
 * What leads from one revision to the next, so that a process that has the first need not be sent the whole of the second: of
 * thousands of relations one has changed. What did not change stays the very same object there, and with it all that was made of it.
 */
export interface RevisionChange {
  readonly id: string
  readonly version: string | null
  readonly failure?: string
  /** The members of the manifest that changed, but for `entities`. */
  readonly manifest: Partial<Omit<Manifest, 'entities'>>
  /** Members that the new manifest lacks. */
  readonly gone: readonly string[]
  readonly entities: readonly EntityFacts[]
  /** All relations in their order; null: as before. */
  readonly order: readonly ObjectId[] | null
  readonly texts: Readonly<Record<ObjectId, string>>
  /** Null: as before. */
  readonly functions: string | null
}

type Members = Readonly<Record<string, unknown>>

const membersOf = (manifest: Manifest): Members =>
  Object.fromEntries(Object.entries(manifest).filter(([name]) => name !== 'entities'))

const changedMembers = (before: Members, now: Members): Members =>
  Object.fromEntries(Object.entries(now).filter(([name, value]) => share(before[name], value) !== before[name]))

const idsOf = ({ manifest }: Revision): readonly ObjectId[] => manifest.entities.map(({ id }) => id)

const nothing: Revision = {
  id: '',
  version: null,
  manifest: {} as Manifest,
  entities: {},
  functions: '',
}

/** @param before what the other side has; null: nothing */
export function changeBetween(before: Revision | null, now: Revision): RevisionChange {
  const { id, version, manifest, entities: texts, functions, failure } = now
  const old = before ?? nothing
  const [oldMembers, members] = [membersOf(old.manifest), membersOf(manifest)]
  const known = new Set(before?.manifest.entities)
  const order = idsOf(now)
  return {
    id,
    version,
    ...(failure !== undefined && { failure }),
    manifest: changedMembers(oldMembers, members),
    gone: Object.keys(oldMembers).filter((name) => !(name in members)),
    entities: manifest.entities.filter((entity) => !known.has(entity)),
    order: before !== null && sameItems(idsOf(before), order) ? null : order,
    texts: changedMembers(old.entities, texts) as Readonly<Record<ObjectId, string>>,
    functions: before !== null && old.functions === functions ? null : functions,
  }
}

/** @param before the revision that the change was made from */
export function applyChange(before: Revision | null, change: RevisionChange): Revision {
  const { id, version, failure, gone, texts, functions } = change
  const old = before ?? nothing
  const entities = before === null ? change.entities : entitiesAfter(old, change)
  const order = change.order ?? idsOf(old)
  const oldMembers = membersOf(old.manifest)
  const kept = Object.entries(oldMembers).filter(([name]) => !gone.includes(name))
  const changed = Object.entries(change.manifest).map(([name, value]) => [name, share(oldMembers[name], value)])
  return {
    id,
    version,
    ...(failure !== undefined && { failure }),
    manifest: { ...Object.fromEntries([...kept, ...changed]), entities } as Manifest,
    entities: before === null ? texts : textsAfter(old, texts, order),
    functions: functions ?? old.functions,
  }
}

function entitiesAfter({ manifest }: Revision, { entities, order }: RevisionChange): readonly EntityFacts[] {
  if (entities.length === 0 && order === null) return manifest.entities
  const byId = new Map(manifest.entities.map((entity) => [entity.id, entity]))
  for (const entity of entities) byId.set(entity.id, share(byId.get(entity.id), entity))
  return (order ?? manifest.entities.map(({ id }) => id)).flatMap((id) => byId.get(id) ?? [])
}

function textsAfter(
  { entities: old }: Revision,
  texts: Readonly<Record<ObjectId, string>>,
  order: readonly ObjectId[],
): Readonly<Record<ObjectId, string>> {
  const kept: Record<ObjectId, string> = {}
  for (const id of order) {
    const text = Object.hasOwn(texts, id) ? texts[id] : old[id]
    if (text !== undefined) kept[id] = text
  }
  return kept
}
