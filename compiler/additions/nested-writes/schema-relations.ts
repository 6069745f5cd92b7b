import type { LookupColumn, RowKey } from '../../../runtime/contract/lookups.ts'
import type { ColumnFacts, EntityFacts, RelationFacts } from '../../../runtime/contract/manifest.ts'
import { relationsBut, type Related } from '../../../runtime/engine/related.ts'
import { isGeo, type RoleVisibility } from '../../../runtime/engine/view.ts'
import { rowChanges } from '../../../runtime/engine/schema/writes.ts'
import { byField, hasType } from '../../../runtime/engine/visible.ts'
import { changeForms, connectKeysOf, type ChangePart } from './facts.ts'

/** The relations whose rows inserts, and updates by key, can contain, for a role (spec/graphql.md 17.6). */

export function nestedRelations(visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, Related> {
  if (!nests(visible, entity)) return new Map()
  const related = relationsBut(visible, entity, [...byField(visible.insertable(entity)).keys()])
  return new Map(
    [...related].filter(([, one]) => {
      const { relation, target } = one
      if (!joinedPlainly(visible, entity, one)) return false
      return relation.direction === 'forward'
        ? standInInput(visible, entity, relation.local, 'insert') &&
            (inserts(visible, target) || connectKeys(visible, target).length > 0)
        : standInInput(visible, target, relation.foreign, 'insert') && inserts(visible, target)
    }),
  )
}

/** Whether the joined values can be passed as texts; rows of a connecting relation are inserted with it. */
const joinedPlainly = (visible: RoleVisibility, entity: EntityFacts, { relation, target }: Related): boolean =>
  relation.way === undefined && carries(visible, entity, relation.local) && carries(visible, target, relation.foreign)

/** Written rows are read by their key, after all writes. */
const nests = (visible: RoleVisibility, entity: EntityFacts): boolean =>
  entity.nestedWrites === true &&
  entity.kind === 'table' &&
  entity.unique &&
  visible.manifest.distributed === undefined &&
  carries(visible, entity, entity.key) &&
  namedColumns(entity, entity.key).every((column) => visible.readsColumn(entity, column))

export const inserts = (visible: RoleVisibility, entity: EntityFacts): boolean => visible.insertable(entity).length > 0

/** The keys by which the role can name a row, the primary one first. */
export const connectKeys = (visible: RoleVisibility, entity: EntityFacts): readonly (readonly LookupColumn[])[] =>
  connectKeysOf(entity).filter((columns) => columns.every(({ column }) => visible.findsBy(entity, column)))

/** Whether a row may be inserted without the column, because a related row may give its value. */
export const isLinked = (visible: RoleVisibility, entity: EntityFacts, { column }: ColumnFacts): boolean =>
  entity.relations.some(
    ({ direction, local, target }) =>
      direction === 'forward' &&
      local.includes(column) &&
      (entity.nestedWrites === true || visible.entity(target)?.nestedWrites === true),
  )

const namedColumns = (entity: EntityFacts, names: readonly string[]): readonly ColumnFacts[] =>
  names.flatMap((name) => entity.columns.find(({ column }) => column === name) ?? [])

/** Whether values of all of them can be passed as texts. */
const carries = (visible: RoleVisibility, entity: EntityFacts, names: readonly string[]): boolean =>
  namedColumns(entity, names).filter(
    (column) =>
      hasType(column) &&
      column.type.kind !== 'composite' &&
      !column.type.list &&
      !isGeo(column.type) &&
      visible.seesType(column),
  ).length === names.length

const standInInput = (
  visible: RoleVisibility,
  entity: EntityFacts,
  names: readonly string[],
  command: 'insert' | 'update',
): boolean => {
  const columns = command === 'insert' ? visible.insertable(entity) : visible.updatable(entity)
  const inputs = new Set([...byField(columns).values()].map(({ column }) => column))
  return names.every((name) => inputs.has(name))
}

export const argumentName = 'related'

/** The changes of related rows, in the order of inputs. */
const members = ['insert', 'connect', 'update', 'disconnect', 'delete'] as const

export type ChangeMember = (typeof members)[number]

export interface RelatedChange extends Related {
  readonly part: ChangePart
  readonly members: readonly ChangeMember[]
}

export const takesRelated = (visible: RoleVisibility, entity: EntityFacts, { columns, unique }: RowKey): boolean =>
  unique && columns.every(({ field }) => field !== argumentName) && relatedChanges(visible, entity).size > 0

/** The relations whose rows an update by key can contain, by field. */
export function relatedChanges(visible: RoleVisibility, entity: EntityFacts): ReadonlyMap<string, RelatedChange> {
  if (rowChanges(visible, entity) === undefined || visible.marker(entity) !== undefined || !nests(visible, entity))
    return new Map()
  return new Map(
    [...relationsBut(visible, entity, [])].flatMap(([field, related]): (readonly [string, RelatedChange])[] => {
      const isTaken = visible.marker(related.target) === undefined && joinedPlainly(visible, entity, related)
      const part = isTaken ? partOf(visible, entity, related) : null
      const found = part === null ? [] : changeMembers(visible, related.target, part)
      return part === null || found.length === 0 ? [] : [[field, { ...related, part, members: found }]]
    }),
  )
}

/** The changes of a relation's rows, as a type of the target; null: none. */
function partOf(visible: RoleVisibility, entity: EntityFacts, { relation, target }: Related): ChangePart | null {
  const isForward = relation.direction === 'forward'
  if (relation.shape === 'one' && !relation.unique) return null
  if (!isForward && inserts(visible, target) && !standInInput(visible, target, relation.foreign, 'insert')) return null
  const [holder, columns] = isForward ? [entity, relation.local] : [target, relation.foreign]
  const isWritten = standInInput(visible, holder, columns, 'update')
  const isOptional = isWritten && nullableColumns(holder, columns).length > 0
  if (isForward) return isWritten ? (isOptional ? 'optionalParentChange' : 'parentChange') : null
  if (relation.shape === 'one')
    return isOptional ? 'optionalChildChange' : isWritten ? 'movableChildChange' : 'childChange'
  return isOptional ? 'optionalChildrenChange' : isWritten ? 'movableChildrenChange' : 'childrenChange'
}

/** The columns of a relation that are set to null when the reference is removed. */
export const nullableColumns = (holder: EntityFacts, columns: RelationFacts['local']): readonly string[] =>
  columns.filter((name) => holder.columns.some(({ column, notNull }) => column === name && !notNull))

export function changeMembers(visible: RoleVisibility, target: EntityFacts, part: ChangePart): readonly ChangeMember[] {
  const { of, connects, disconnects } = changeForms[part]
  const isFound = target.kind === 'table' && target.unique
  const isNamed = connectKeys(visible, target).length > 0
  const updates = visible.updatable(target).length > 0
  const named = of === 'children' ? isNamed : true
  const has: Readonly<Record<ChangeMember, boolean>> = {
    insert: inserts(visible, target),
    connect: isNamed && (of === 'parent' || (connects && isFound)),
    update: isFound && updates && (of !== 'children' || (rowChanges(visible, target)?.key ?? null) !== null),
    disconnect: disconnects && (of === 'parent' || (isFound && named)),
    delete: isFound && named && visible.can(target.grants.delete) && (of !== 'parent' || disconnects),
  }
  return members.filter((member) => has[member])
}
