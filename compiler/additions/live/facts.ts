import type { Diagnostic, EntityFacts, FunctionFacts, ObjectId } from '../../../runtime/contract/manifest.ts'
import type { LiveFacts } from '../../../runtime/contract/live.ts'
import { objectId } from '../../../runtime/contract/facts.ts'
import type { Memo } from '../../../runtime/lib/memo/memo.ts'
import { nameRelation } from '../../catalog/catalog.ts'
import { isOn } from '../../comments/additions.ts'
import type { Annotated } from '../../comments/annotated.ts'
import { diagnose } from '../../catalog/diagnostics/diagnostics.ts'
import { rowArgument, functionIdentities } from '../../model/functions.ts'
import type { Entity } from '../../model/entities.ts'
import type { LiveSettings, Watched } from '../../emit/live/database.ts'
import { comments } from './decode.ts'
import type { ModelScope } from '../../model/scope.ts'

/** How comments make objects live, and the facts of the model about what was found watchable. */
export const liveSettings: LiveSettings = {
  isLive: ({ settings }) => settings.live === true,
  comments,
  factsOf: (watched) => ({
    entities: (memo, scope, annotated, entities) => watchedEntities(memo, scope, annotated, watched, entities),
    calls: (scope, annotated, functions) => watchedCalls(scope, annotated, watched, functions),
    diagnostics: (annotated) => liveDiagnostics(annotated, watched),
  }),
}

/** The entities with their live facts (spec/graphql.md 16.1). */
function watchedEntities(
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
function watchedCalls(
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
function liveDiagnostics({ schemas, relations }: Annotated, { relations: facts }: Watched): readonly Diagnostic[] {
  const bySchema = new Map(schemas.map((schema) => [schema.name, schema]))
  return relations.flatMap((relation) => {
    const found = facts.get(relation.oid)
    const schema = bySchema.get(relation.schema)
    return isOn('live', relation, ...(schema ? [schema] : [])) && found !== undefined && 'refused' in found
      ? [diagnose('live-refused', nameRelation(relation), { reasons: found.refused.map(({ sentence }) => sentence) })]
      : []
  })
}
