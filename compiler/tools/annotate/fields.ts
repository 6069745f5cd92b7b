import type { EntityFacts, Manifest, RelationFacts } from '../../../runtime/contract/manifest.ts'
import { objectId } from '../../../runtime/contract/object-id.ts'
import { lowerFirst } from '../../../runtime/contract/root-fields.ts'
import { groupBy } from '../../../runtime/lib/group-by.ts'
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
import type { NamedDatabase } from './database.ts'

/** Fields that two parts of one type want (spec/graphql.md 2.4): all but one of them get names of their own. */

/** Whether a field can have the name; the field of `column` gives way to it in turn. */
type IsFree = (name: string, column?: string) => boolean

interface Claim {
  readonly field: string
  /** The column that has the field, if it is one's. */
  readonly column?: string
  /** The wish for another name; null: the owner named it, or a comment declares it. */
  readonly rename: ((isFree: IsFree) => Wish) | null
  /** A relation that is named for what it leads to, with nothing of its columns. */
  readonly isPlain: boolean
}

export function fieldWishes(database: NamedDatabase, manifest: Manifest): readonly Wish[] {
  return manifest.entities.flatMap((entity) => {
    const claims = claimsOf(database, entity)
    const taken = new Map(claims.map(({ field, column }) => [field, column]))
    const isFree: IsFree = (name, column) =>
      name !== 'nodeId' && (!taken.has(name) || (column !== undefined && taken.get(name) === column))
    return [...groupBy(claims, ({ field }) => field).values()]
      .filter((group) => group.length > 1)
      .flatMap(losers)
      .flatMap(({ rename }) => {
        const wish = rename?.(isFree)
        if (wish === undefined) return []
        for (const name of Object.values(wish.settings)) taken.set(String(name), undefined)
        return [wish]
      })
  })
}

/**
 * All but one of those who want a name. It stays with what the owner named so, else with the relation that its columns name so,
 * else with the first: columns stand before relations, and these before functions.
 */
function losers(group: readonly Claim[]): readonly Claim[] {
  const [, ...others] = group.toSorted(
    (a, b) => Number(a.rename !== null) - Number(b.rename !== null) || Number(a.isPlain) - Number(b.isPlain),
  )
  return others
}

function claimsOf(database: NamedDatabase, entity: EntityFacts): readonly Claim[] {
  return [
    ...entity.columns.flatMap(({ column, field }) =>
      field === null ? [] : [columnClaim(database, entity, column, field)],
    ),
    // What has no key of its own takes no name from anything.
    ...entity.relations.flatMap((relation, index) =>
      relation.way === undefined ? [relationClaim(database, entity, relation, index)] : [],
    ),
    ...entity.computed.map(({ field, id }) => functionClaim(database, entity, field, id)),
  ]
}

function columnClaim(database: NamedDatabase, entity: EntityFacts, column: string, field: string): Claim {
  const relation = database.relation(entity.id)
  const isNamed = database.isNamed({ kind: 'column', relation, column }, 'name')
  return {
    field,
    column,
    isPlain: true,
    rename: isNamed
      ? null
      : (isFree) => ({
          on: { kind: 'column', relation, column },
          settings: { name: pickName(columnCandidates(column, database.inflects(entity.schema)), isFree) },
        }),
  }
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => JSON.stringify(a) === JSON.stringify(b)

export const keyColumnsOf = ({ direction, local, foreign }: RelationFacts): KeyColumns =>
  direction === 'forward' ? { columns: local, foreignColumns: foreign } : { columns: foreign, foreignColumns: local }

/** The constraint behind a relation: the first, second, ... of those that join the same columns. */
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
        isSame(other.local, relation.local) &&
        isSame(other.foreign, relation.foreign),
    ).length
  const keys = database
    .relation(child)
    .foreignKeys.filter(
      (key) =>
        objectId(key.foreignSchema, key.foreignRelation) === parent &&
        isSame(key.columns, columns) &&
        isSame(key.foreignColumns, foreignColumns),
    )
  return keys[place]?.name ?? null
}

function relationClaim(database: NamedDatabase, entity: EntityFacts, relation: RelationFacts, index: number): Claim {
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
  const fits = isForward
    ? names[0] === field
    : forwardCandidates(key, entity.name, database.inflects(entity.schema))[0] === lowerFirst(entity.name)
  // A key of one column is named for it, and the column for the value that it holds.
  const own = isForward && relation.local.length === 1 ? relation.local[0] : undefined
  const on = constraint === null ? null : ({ kind: 'foreign key', relation: child, constraint } as const)
  return {
    field,
    isPlain: !fits,
    rename:
      on === null || database.isNamed(on, setting)
        ? null
        : (isFree) => ({ on, settings: { [setting]: pickName(names, (name) => isFree(name, own)) } }),
  }
}

function functionClaim(database: NamedDatabase, entity: EntityFacts, field: string, id: string): Claim {
  const fn = database.functions.find((one) => functionIdentities(one).includes(id) && database.takesRow(one, entity.id))
  return {
    field,
    isPlain: true,
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
