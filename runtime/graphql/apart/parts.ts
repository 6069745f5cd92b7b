import type { Revision } from '../../contract/revision.ts'
import type { RevisionPart } from './messages.ts'

/** Items of a list that are told at once: some milliseconds' worth. */
const most = 100

/** A revision in parts, each of them quickly told. What requests are told about the schema, nobody asks the other thread. */
export function* partsOf({ id, manifest, functions, entities }: Revision): Generator<RevisionPart> {
  const { report: _, ...facts } = manifest
  const lists = Object.entries(facts).filter(([, value]) => Array.isArray(value) && value.length > most)
  const short = Object.fromEntries(lists.map(([list]) => [list, []]))
  yield { kind: 'revision', id, manifest: { ...facts, ...short }, functions }
  for (const [list, items] of lists) {
    for (const slice of slices(items as readonly unknown[])) yield { kind: 'items', list, items: slice }
  }
  for (const slice of slices(Object.entries(entities))) yield { kind: 'entities', entities: Object.fromEntries(slice) }
}

function* slices<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += most) yield items.slice(from, from + most)
}
