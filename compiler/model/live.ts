import type { Diagnostic, EntityFacts, FunctionFacts, ObjectId } from '../../runtime/contract/manifest.ts'
import type { LiveFacts } from '../../runtime/contract/live.ts'
import { objectId } from '../../runtime/contract/facts.ts'
import type { Memo } from '../../runtime/lib/memo/memo.ts'
import { type Oid, nameRelation } from '../catalog/catalog.ts'
import type { Annotated } from '../comments/annotated.ts'
import { diagnose } from '../catalog/diagnostics/diagnostics.ts'
import { rowArgument } from './computed.ts'
import type { Entity } from './entities.ts'
import { functionIdentities } from './functions.ts'
import type { ModelScope } from './scope.ts'

export interface Watched {
  readonly relations: ReadonlyMap<Oid, LiveFacts>
  readonly functions: ReadonlyMap<Oid, LiveFacts>
}

/** The entities with their live facts (spec/graphql.md 16.1). */
export function watchedEntities(
  memo: Memo,
  scope: ModelScope,
  { relations, functions }: Annotated,
  watched: Watched,
  entities: readonly Entity[],
): readonly Entity[] {
  const byId = new Map(relations.map(({ schema, name, oid }) => [objectId(schema, name), watched.relations.get(oid)]))
  const calls = callFacts(scope, functions, watched)
  return entities.map((entity) => {
    const { id, computed } = entity.facts
    const facts: OwnFacts = [byId.get(id), computed.map((fn) => calls.get(callKey(id, fn.id)))]
    // As text: equal facts make the same entity.
    return memo.of(withFacts, entity, JSON.stringify(facts))
  })
}

type OwnFacts = readonly [own: LiveFacts | undefined, computed: readonly (LiveFacts | undefined)[]]

function withFacts({ facts, sql }: Entity, text: string): Entity {
  const [live, ofComputed] = JSON.parse(text) as OwnFacts
  const computed = facts.computed.map((fn, place) => withLive(fn, ofComputed[place]))
  return { facts: withLive({ ...facts, computed }, live), sql }
}

const withLive = <T extends EntityFacts | FunctionFacts>(facts: T, live: LiveFacts | null | undefined): T =>
  live == null ? facts : { ...facts, live }

/** The same for functions of the root. */
export function watchedCalls(
  scope: ModelScope,
  annotated: Annotated,
  watched: Watched,
  functions: readonly FunctionFacts[],
): readonly FunctionFacts[] {
  const calls = callFacts(scope, annotated.functions, watched)
  return functions.map((fn) => withLive(fn, calls.get(callKey(null, fn.id))))
}

/** A function of a row may have the id of one of the root. */
const callKey = (row: ObjectId | null, id: ObjectId): string => JSON.stringify([row, id])

const callFacts = (
  scope: ModelScope,
  functions: Annotated['functions'],
  watched: Watched,
): ReadonlyMap<string, LiveFacts> =>
  new Map(
    functions.flatMap((fn) => {
      const facts = watched.functions.get(fn.oid)
      const row = rowArgument(scope, fn) ?? null
      return facts === undefined ? [] : functionIdentities(fn).map((id) => [callKey(row, id), facts] as const)
    }),
  )

/** Relations that their owner or their schema made live, but that cannot be watched. */
export function liveDiagnostics(
  { schemas, relations }: Annotated,
  { relations: facts }: Watched,
): readonly Diagnostic[] {
  const live = new Set(schemas.flatMap(({ name, settings }) => (settings.live === true ? [name] : [])))
  return relations.flatMap((relation) => {
    const found = facts.get(relation.oid)
    const isLive = relation.settings.live ?? live.has(relation.schema)
    return isLive && found !== undefined && 'refused' in found
      ? [diagnose('live-refused', nameRelation(relation), { reasons: found.refused.map(({ sentence }) => sentence) })]
      : []
  })
}
