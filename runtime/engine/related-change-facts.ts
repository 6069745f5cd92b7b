import type { RowKey } from '../contract/lookups.ts'
import type { EntityFacts, RelationFacts } from '../contract/manifest.ts'
import { changeForms, type ChangePart } from '../contract/related-change-forms.ts'
import { rowKey } from './changes.ts'
import { connectKeys, inserts, joinedPlainly, nests, standInInput } from './nested-inserts.ts'
import { relationsBut, type Related } from './related.ts'
import type { RoleVisibility } from './view.ts'

/** The fields of `nestedWrites` in updates by key for a role (spec/graphql.md 17.6). */

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
  if (entity.updates !== true || visible.marker(entity) !== undefined || !nests(visible, entity)) return new Map()
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
    update: isFound && updates && (of !== 'children' || rowKey(visible, target) !== null),
    disconnect: disconnects && (of === 'parent' || (isFound && named)),
    delete: isFound && named && visible.can(target.grants.delete) && (of !== 'parent' || disconnects),
  }
  return members.filter((member) => has[member])
}
