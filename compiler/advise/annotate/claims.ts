import type { EntityFacts, RelationFacts } from '../../../runtime/contract/manifest.ts'
import { objectId } from '../../../runtime/contract/facts.ts'
import { functionIdentities } from '../../model/function-names.ts'
import {
  columnCandidates,
  forwardCandidates,
  functionCandidates,
  pickName,
  reverseCandidates,
  type KeyColumns,
} from './names.ts'
import type { Wish } from './comments.ts'
import type { NamedDatabase } from './in-database.ts'

/** A claim on a field of a type (spec/graphql.md 2.4). */
export interface FieldClaim {
  readonly field: string
  /** The unique name of the claiming object. */
  readonly object: string
  /** The wish for another name; null: the owner named it, or a comment declares it. */
  readonly rename: ((isFree: (name: string) => boolean) => Wish) | null
}

/** In serving order: of several for one field the last is used. */
export function fieldClaims(database: NamedDatabase, entity: EntityFacts): readonly FieldClaim[] {
  return [
    ...entity.columns.flatMap(({ column, field }) =>
      field === null ? [] : [columnClaim(database, entity, column, field)],
    ),
    // Relations declared by comments take free names only.
    ...entity.relations.flatMap((relation, index) =>
      relation.way === undefined ? [relationClaim(database, entity, relation, index)] : [],
    ),
    ...entity.computed.map(({ field, id }) => functionClaim(database, entity, field, id)),
  ]
}

function columnClaim(database: NamedDatabase, entity: EntityFacts, column: string, field: string): FieldClaim {
  const relation = database.relation(entity.id)
  const isNamed = database.isNamed({ kind: 'column', relation, column }, 'name')
  const isKey = entity.relations.some(({ direction, local }) => direction === 'forward' && local.includes(column))
  const candidates = columnCandidates(column, isKey, database.inflects(entity.schema))
  return {
    field,
    object: `column ${column}`,
    rename: isNamed
      ? null
      : (isFree) => ({
          on: { kind: 'column', relation, column },
          settings: { name: pickName(candidates, isFree) },
        }),
  }
}

const isSameList = (a: readonly string[], b: readonly string[]): boolean => JSON.stringify(a) === JSON.stringify(b)

export const keyColumnsOf = ({ direction, local, foreign }: RelationFacts): KeyColumns =>
  direction === 'forward' ? { columns: local, foreignColumns: foreign } : { columns: foreign, foreignColumns: local }

/** The constraint of a relation: the first, second, ... of those that join the same columns. */
export function constraintOf(
  database: NamedDatabase,
  entity: EntityFacts,
  relation: RelationFacts,
  index: number,
): string | null {
  const isForward = relation.direction === 'forward'
  const [child, parent] = isForward ? [entity.id, relation.target] : [relation.target, entity.id]
  const { columns, foreignColumns } = keyColumnsOf(relation)
  const place = entity.relations
    .slice(0, index)
    .filter(
      (other) =>
        other.direction === relation.direction &&
        other.target === relation.target &&
        isSameList(other.local, relation.local) &&
        isSameList(other.foreign, relation.foreign),
    ).length
  const keys = database
    .relation(child)
    .foreignKeys.filter(
      (key) =>
        objectId(key.foreignSchema, key.foreignRelation) === parent &&
        isSameList(key.columns, columns) &&
        isSameList(key.foreignColumns, foreignColumns),
    )
  return keys[place]?.name ?? null
}

function relationClaim(
  database: NamedDatabase,
  entity: EntityFacts,
  relation: RelationFacts,
  index: number,
): FieldClaim {
  const { field, direction, shape, target } = relation
  const isForward = direction === 'forward'
  const setting = isForward ? 'foreign_name' : 'local_name'
  const child = database.relation(isForward ? entity.id : target)
  const constraint = constraintOf(database, entity, relation, index)
  const other = database.entity(target) ?? entity
  const key = keyColumnsOf(relation)
  const names = isForward
    ? forwardCandidates(key, other.name, database.inflects(other.schema))
    : reverseCandidates(other.name, key, shape === 'one', database.inflects(other.schema))
  const on = constraint === null ? null : ({ kind: 'foreign key', relation: child, constraint } as const)
  return {
    field,
    object: `${direction} ${target} ${constraint ?? JSON.stringify([relation.local, relation.foreign])}`,
    rename:
      on === null || database.isNamed(on, setting)
        ? null
        : (isFree) => ({ on, settings: { [setting]: pickName(names, isFree) } }),
  }
}

function functionClaim(database: NamedDatabase, entity: EntityFacts, field: string, id: string): FieldClaim {
  const fn = database.functions.find((one) => functionIdentities(one).includes(id) && database.takesRow(one, entity.id))
  return {
    field,
    object: `function ${id}`,
    rename:
      fn === undefined || database.isNamed({ kind: 'function', fn }, 'name')
        ? null
        : (isFree) => ({
            on: { kind: 'function', fn },
            settings: {
              name: pickName(functionCandidates(field, entity.name, database.inflects(entity.schema)), isFree),
            },
          }),
  }
}
