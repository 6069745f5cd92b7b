import type {
  EntityFacts,
  FunctionFacts,
  ObjectId,
  RelationFacts,
  ResultFacts,
} from '../../runtime/contract/manifest.ts'
import type { Model } from '../model/model.ts'

/** Objects whose SQL Postgres would refuse. */
export interface Refused {
  readonly entities: ReadonlySet<ObjectId>
  readonly functions: ReadonlySet<ObjectId>
}

/** The model without these objects and without the fields of their types; everything else is unchanged. */
export function leaveOut(model: Model, refused: Refused): Model {
  if (refused.entities.size === 0 && refused.functions.size === 0) return model
  const leads = ({ result }: FunctionFacts): boolean => refused.entities.has(entityOf(result) ?? '')
  const { manifest } = model
  const functions = manifest.functions.filter((fn) => !refused.functions.has(fn.id) && !leads(fn))
  const sound = manifest.entities.filter(({ id }) => !refused.entities.has(id))
  const entities = sound.map((entity) => cut(entity, refused, leads))
  return {
    manifest: { ...manifest, entities, functions },
    entities: only(model.entities, entities),
    functions: only(model.functions, functions),
  }
}

const entityOf = (result: ResultFacts): ObjectId | null =>
  result.kind === 'row' || result.kind === 'set' ? result.entity : null

function cut(entity: EntityFacts, refused: Refused, leads: (fn: FunctionFacts) => boolean): EntityFacts {
  const isThere = ({ target, way }: RelationFacts): boolean =>
    !refused.entities.has(target) && (way?.through ?? []).every((between) => !refused.entities.has(between.entity))
  const { unions } = entity
  return {
    ...entity,
    relations: entity.relations.filter(isThere),
    ...(unions && { unions: unions.map((union) => ({ ...union, of: union.of.filter(isThere) })) }),
    computed: entity.computed.filter((fn) => !leads(fn)),
  }
}

interface Identified {
  readonly id: ObjectId
}

function only<T extends Identified>(all: readonly T[], kept: readonly Identified[]): readonly T[] {
  const ids = new Set(kept.map(({ id }) => id))
  return all.filter(({ id }) => ids.has(id))
}
