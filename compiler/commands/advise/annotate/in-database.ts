import type { EntityFacts, Manifest, ObjectId } from '../../../../runtime/contract/manifest.ts'
import { objectId } from '../../../../runtime/contract/facts.ts'
import type { Catalog, CatalogFunction, CatalogRelation } from '../../../catalog/catalog.ts'
import { parseComment } from '../../../comments/settings.ts'
import type { Annotated } from '../../../comments/annotated.ts'
import { commentOn, type Commented, type CommentKey } from './comments.ts'

export interface NamedDatabase {
  readonly relations: readonly CatalogRelation[]
  readonly relation: (id: ObjectId) => CatalogRelation
  readonly entity: (id: ObjectId) => EntityFacts | undefined
  readonly functions: readonly CatalogFunction[]
  readonly takesRow: (fn: CatalogFunction, relation: ObjectId) => boolean
  readonly inflects: (schema: string) => boolean
  readonly isNamed: (on: Commented, key: CommentKey) => boolean
}

function demand<T>(found: T | undefined, id: string): T {
  if (found === undefined) throw new Error(`${id} is in the manifest and not in the catalogue`)
  return found
}

export function namedDatabase(catalog: Catalog, annotated: Annotated, manifest: Manifest): NamedDatabase {
  const relations = new Map(catalog.relations.map((one) => [objectId(one.schema, one.name), one]))
  const entities = new Map(manifest.entities.map((entity) => [entity.id, entity]))
  const inflecting = new Set(annotated.schemas.flatMap(({ name, settings }) => (settings.inflect_names ? [name] : [])))
  return {
    relations: catalog.relations,
    relation: (id) => demand(relations.get(id), id),
    entity: (id) => entities.get(id),
    functions: catalog.functions,
    takesRow: ({ args: [first] }, id) => first !== undefined && relations.get(id)?.rowType === first.type,
    inflects: (schema) => inflecting.has(schema),
    isNamed: (on, key) => {
      const parsed = parseComment(commentOn(on))
      return parsed.kind === 'settings' && (parsed.settings[key] ?? null) !== null
    },
  }
}
