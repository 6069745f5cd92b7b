import type { Revision } from '../../contract/artifact.ts'
import type { RevisionPart } from './messages.ts'

/** Items of a list per message: some milliseconds of work. */
const most = 100

/** A revision in parts, each of which is sent quickly. The schema report is left out: the main thread answers it. */
export function* partsOf({ id, manifest, functions, entities }: Revision): Generator<RevisionPart> {
  const { report: _, ...facts } = manifest
  const lists = Object.entries(facts).filter(([, value]) => Array.isArray(value) && value.length > most)
  const short = Object.fromEntries(lists.map(([list]) => [list, []]))
  yield { kind: 'revision', id, manifest: { ...facts, ...short }, functions }
  for (const [list, items] of lists) {
    for (const slice of slices(items as readonly unknown[])) yield { kind: 'items', list, items: slice }
  }
  for (const slice of slices(entities)) yield { kind: 'entities', entities: slice }
}

function* slices<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += most) yield items.slice(from, from + most)
}
