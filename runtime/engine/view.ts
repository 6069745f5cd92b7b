import { idOf } from '../contract/facts.ts'
import type {
  EntityFacts,
  FunctionFacts,
  Grantees,
  Manifest,
  ObjectId,
  RelationFacts,
  ThroughFacts,
  ValueType,
} from '../contract/manifest.ts'
import type { ConditionFacts } from '../contract/stated.ts'
import type { EngineAdditions, FilterForm, SchemaAddition } from './additions.ts'
import { createNames, type Names } from '../contract/type-names.ts'
import { withoutMemories, type RoleMemory } from '../lib/memo/memo.ts'
import {
  columnsVisibleTo,
  comparesAll,
  selectsAll,
  type VisibleColumns,
  statedConditions,
  rightsOf,
  type Rights,
  typesVisibleTo,
  type VisibleTypes,
} from './visible.ts'

/**
 * The part of a manifest that one role may see (spec/graphql.md 1.4), without GraphQL types. Facts about single
 * relations are computed on first use: a role on a database of thousands of tables pays for those that it uses.
 */
export interface RoleVisibility extends VisibleTypes, VisibleColumns, VisibleRelations {
  readonly manifest: Manifest
  readonly role: string
  /** Those that something of the manifest has. */
  readonly additions: readonly SchemaAddition[]
  readonly forms: ReadonlyMap<string, FilterForm>
  readonly names: Names
  readonly can: (grantees: Grantees) => boolean
  /** Whether the extension is installed and the role may use its operators. */
  readonly hasExtension: (name: string) => boolean
  readonly seesFunction: (fn: FunctionFacts) => boolean
  readonly seesComputed: (entity: EntityFacts, fn: FunctionFacts) => boolean
  /** Whether `exposed` has the relation, without enumerating it: introspection shows a part of it. */
  readonly exposes: (entity: EntityFacts) => boolean
  /** Whether rows of some relation can be watched, or written. */
  readonly watchesRows: () => boolean
  readonly writesRows: () => boolean
}

interface VisibleRelations {
  /** Relations that have types and root fields, by precedence. */
  readonly exposed: readonly EntityFacts[]
  /** Relations with INSERT only: the role reads no column, and sees no row (spec/graphql.md 1.4). */
  readonly insertOnly: readonly EntityFacts[]
  /** True if the relation has a row type: exposed, or without a key and only reachable through functions. */
  readonly isTyped: (entity: EntityFacts) => boolean
  readonly isExposed: (entity: EntityFacts) => boolean
  readonly entity: (id: ObjectId) => EntityFacts | undefined
  readonly seesRelation: (entity: EntityFacts, relation: RelationFacts) => boolean
}

/** Whether values of the type are geometries, which only spatial operators compare. */
export const isGeo = (type: ValueType | null): boolean =>
  type?.kind === 'scalar' && type.name === 'GeoJSON' && !type.list

export const isWatched = ({ live }: EntityFacts | FunctionFacts): boolean => live !== undefined && 'reads' in live

/** Adds the facts that depend on the exposed relations. */
export const withExposed = (visible: Omit<RoleVisibility, 'watchesRows' | 'writesRows'>): RoleVisibility => ({
  ...visible,
  watchesRows: () => visible.exposed.some(isWatched),
  writesRows: () =>
    visible.insertOnly.length > 0 ||
    visible.exposed.some(
      (entity) =>
        visible.deletes(entity) || visible.insertable(entity).length > 0 || visible.updatable(entity).length > 0,
    ),
})

function relationsVisibleTo(
  manifest: Manifest,
  rights: Rights,
  names: Names,
  { shared }: RoleMemory,
): Omit<VisibleRelations, 'insertOnly'> {
  const byId = shared.table(idOf, manifest.entities)
  const entityOf = (id: ObjectId): EntityFacts | undefined => byId.get(id)
  const isExposed = (entity: EntityFacts): boolean => entity.key.length > 0 && names.owns(entity)
  const joins = (entity: EntityFacts, columns: readonly string[]): boolean =>
    selectsAll(rights, entity, columns) && comparesAll(rights, entity, columns)
  const leadsThrough = ({ entity, near, far }: ThroughFacts): boolean => {
    const between = entityOf(entity)
    return between !== undefined && isExposed(between) && joins(between, [...near, ...far])
  }
  return {
    exposed: names.exposed,
    isTyped: (entity) => names.owns(entity),
    isExposed,
    entity: entityOf,
    seesRelation: (entity, relation) => {
      const target = entityOf(relation.target)
      return (
        target !== undefined &&
        isExposed(target) &&
        joins(entity, relation.local) &&
        joins(target, relation.foreign) &&
        (relation.way?.through ?? []).every(leadsThrough)
      )
    },
  }
}

/** @param memory of the role: facts that another manifest did not change are kept */
export function visibleTo(
  manifest: Manifest,
  role: string,
  { list, parts, forms }: EngineAdditions,
  memory: RoleMemory = withoutMemories,
): RoleVisibility {
  const rights = rightsOf(manifest, role, list, memory.own)
  const { can, usable } = rights
  const names = createNames(manifest, rights, parts, memory)
  const types = typesVisibleTo(manifest, rights, names)
  const relations = relationsVisibleTo(manifest, rights, names, memory)
  const { entity: entityOf, isExposed, isTyped } = relations

  const seesResult = ({ result }: FunctionFacts): boolean => {
    if (result.kind === 'void') return true
    if (result.kind === 'value') return types.seesType(result)
    const target = entityOf(result.entity)
    return target !== undefined && isTyped(target)
  }
  const hasExposedResult = ({ result }: FunctionFacts): boolean => {
    const target = result.kind === 'row' || result.kind === 'set' ? entityOf(result.entity) : undefined
    return target === undefined || isExposed(target)
  }
  const executes = (fn: FunctionFacts): boolean =>
    usable.has(fn.schema) && can(fn.execute) && fn.args.every(types.seesType) && seesResult(fn)

  const columns = columnsVisibleTo(rights, list, types)
  const filtering = { ...types, ...columns, names }
  const choosesBy = (id: ObjectId, where: readonly ConditionFacts[] = []): boolean => {
    const target = where.length === 0 ? undefined : entityOf(id)
    return target === undefined || statedConditions(filtering, target, where).length === where.length
  }
  const walks = ({ target, way }: RelationFacts): boolean =>
    way === undefined ||
    (choosesBy(target, way.where) && way.through.every(({ entity, where }) => choosesBy(entity, where)))

  return withExposed({
    manifest,
    role,
    additions: list.filter(({ name }) => name in manifest || names.additions.has(name)),
    forms,
    names,
    can,
    hasExtension: (name) => {
      const home = manifest.extensions?.[name]
      return home !== undefined && !rights.closed.has(home)
    },
    ...types,
    ...columns,
    ...relations,
    insertOnly: names.insertOnly.filter((entity) => columns.insertable(entity).length > 0),
    exposes: isExposed,
    seesRelation: (entity, relation) => relations.seesRelation(entity, relation) && walks(relation),
    seesFunction: (fn) => executes(fn) && hasExposedResult(fn),
    // A computed field gets the whole row, so the whole row must be readable.
    seesComputed: (entity, fn) => can(entity.grants.select) && executes(fn),
  })
}
