import type { ChangeFeed, Interest, LiveRelation } from '../../../contract/live.ts'
import type { ObjectId } from '../../../contract/manifest.ts'
import { objectId } from '../../../contract/facts.ts'

export interface HeldRelations {
  /** Resolves when every change that commits from now on will be reported. Rejects as the feed does. */
  readonly watched: Promise<void>
  readonly release: () => void
}

/** Counts the watches of each relation, so that the feed drops a relation without any. */
export function createRelations({
  watch,
  unwatch,
}: Pick<ChangeFeed, 'watch' | 'unwatch'>): (interests: readonly Interest[]) => HeldRelations {
  const holders = new Map<ObjectId, number>()
  return (interests) => {
    const wanted = byRelation(interests)
    for (const id of wanted.keys()) holders.set(id, (holders.get(id) ?? 0) + 1)
    const watching = [...wanted.values()].map(({ relation, columns }) => watch(relation, [...columns]))
    let isHeld = true
    return {
      watched: Promise.all(watching).then(() => undefined),
      release: () => {
        if (!isHeld) return
        isHeld = false
        for (const [id, { relation }] of wanted) {
          const left = (holders.get(id) ?? 0) - 1
          if (left > 0) holders.set(id, left)
          else {
            holders.delete(id)
            unwatch(relation)
          }
        }
      },
    }
  }
}

interface Wanted {
  readonly relation: LiveRelation
  readonly columns: Set<string>
}

function byRelation(interests: readonly Interest[]): ReadonlyMap<ObjectId, Wanted> {
  const wanted = new Map<ObjectId, Wanted>()
  for (const { relation, pins } of interests) {
    const id = objectId(relation.schema, relation.name)
    const { columns } = wanted.get(id) ?? { columns: new Set<string>() }
    for (const { column } of pins) columns.add(column)
    wanted.set(id, { relation, columns })
  }
  return wanted
}
