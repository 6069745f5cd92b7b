import type { ColumnFacts, EntityFacts, RelationFacts, UnionFacts } from '../contract/manifest.ts'
import { lowerFirst } from '../contract/name-parts.ts'
import type { RoleVisibility } from './view.ts'
import { byField } from './visible.ts'

export interface Related {
  readonly relation: RelationFacts
  readonly target: EntityFacts
}

/** The relations of a union that a role sees, in its order (spec/graphql.md 17.9). */
export const unionRelations = (visible: RoleVisibility, entity: EntityFacts, { of }: UnionFacts): readonly Related[] =>
  of.flatMap((relation) => {
    const target = visible.entity(relation.target)
    return target !== undefined && visible.seesRelation(entity, relation) ? [{ relation, target }] : []
  })

/** Relations by whose rows edges of this relation are reached, by their field in the edge type. */
export const edgeRelations = (visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, EntityFacts> =>
  new Map(
    entity.relations.flatMap((relation): (readonly [string, EntityFacts])[] => {
      // Access to the intermediate relation implies access to the other side.
      const [through] = relation.way?.crosses === true ? relation.way.through : []
      const between = through === undefined ? undefined : visible.entity(through.entity)
      const name = lowerFirst(between?.name ?? '')
      return between === undefined || edgeMembers.includes(name) || !visible.seesRelation(entity, relation)
        ? []
        : [[name, between]]
    }),
  )

const edgeMembers = ['cursor', 'node']

/** Columns that an enum can name, by field: GraphQL reserves some words. */
export const enumFields = (columns: readonly ColumnFacts[]): ReadonlyMap<string, ColumnFacts> =>
  new Map([...byField(columns)].filter(([name]) => !['true', 'false', 'null'].includes(name)))

/**
 * Relations by their field in the row type: the last of a name, unless a computed field has it (spec/graphql.md 2.4).
 * Those declared by comments take free names only, the first of each.
 */
export function relationsBut(
  visible: RoleVisibility,
  entity: EntityFacts,
  taken: readonly string[] = [],
): ReadonlyMap<string, Related> {
  const computed = entity.computed.filter((fn) => visible.seesComputed(entity, fn)).map((fn) => fn.field)
  const gone = new Set([...taken, ...computed])
  const related = new Map<string, Related>()
  for (const relation of entity.relations) {
    const target = visible.entity(relation.target)
    if (target === undefined || gone.has(relation.field) || !visible.seesRelation(entity, relation)) continue
    const isTaken =
      relation.way !== undefined && (related.has(relation.field) || showsColumn(visible, entity, relation))
    if (!isTaken) related.set(relation.field, { relation, target })
  }
  return related
}

const showsColumn = (visible: RoleVisibility, entity: EntityFacts, { field }: RelationFacts): boolean =>
  entity.columns.some((column) => column.field === field && visible.seesColumn(entity, column))
