import type { ColumnFacts, EntityFacts, LookupFacts, TypeFacts } from './manifest.ts'
import { baseOfField, rootField, upperFirst } from './name-parts.ts'

/** A column whose value can be an argument. */
export interface LookupColumn extends TypeFacts, Pick<ColumnFacts, 'column'> {
  readonly field: string
}

/** A key by which a row is changed, and its fields (spec/graphql.md 17.4): `updatePostBySlug`. */
export interface RowKey {
  readonly columns: readonly LookupColumn[]
  readonly unique: boolean
  readonly isPrimary: boolean
  readonly update: string
  readonly delete: string
}

/** The keys that a relation's names allow, the primary one first. */
export function rowKeysOf(entity: EntityFacts): readonly RowKey[] {
  const { name, key, unique, rowKeys = [], updates } = entity
  if (updates !== true || key.length === 0) return []
  return [{ columns: key, unique }, ...rowKeys].flatMap((facts, place): readonly RowKey[] => {
    const columns = argumentsOfKey(entity, facts)
    if (columns === null) return []
    const by = place === 0 ? 'Pk' : wordsOf(columns)
    return [
      {
        columns,
        unique: facts.unique,
        isPrimary: place === 0,
        update: `update${name}By${by}`,
        delete: `delete${name}By${by}`,
      },
    ]
  })
}

/** The keys by which a related row is named (spec/graphql.md 17.6), the primary one first. */
export const connectKeysOf = (entity: EntityFacts): readonly (readonly LookupColumn[])[] =>
  entity.key.length === 0
    ? []
    : [entity.key, ...(entity.rowKeys ?? []).map(({ columns }) => columns)].flatMap((columns) => {
        const found = argumentsOfKey(entity, { columns })
        return found === null ? [] : [found]
      })

/** The fields that `updates` adds to Mutation for a role with all privileges. */
export const changeFields = (entity: EntityFacts): readonly string[] =>
  rowKeysOf(entity).flatMap((key) => [
    key.update,
    key.delete,
    ...(key.isPrimary ? [rootField('updateRows', entity.name)] : []),
  ])

/** Columns with equal argument names cannot both be used. */
export function argumentsOfKey(
  { columns: all }: EntityFacts,
  { columns }: Pick<LookupFacts, 'columns'>,
): readonly LookupColumn[] | null {
  const found = columns.flatMap((one) => all.find(({ column }) => column === one) ?? []).flatMap(asArgument)
  return new Set(found.map(({ field }) => field)).size === columns.length ? found : null
}

export const wordsOf = (columns: readonly LookupColumn[]): string =>
  columns.map(({ field }) => upperFirst(field)).join('And')

/** Geometries have no equality that a key would use. */
const asArgument = (column: ColumnFacts): readonly LookupColumn[] => {
  const { field, type } = column
  if (field === null || type === null || type.kind === 'composite' || type.list) return []
  return type.kind === 'scalar' && type.name === 'GeoJSON' ? [] : [{ ...column, field, type }]
}

/** Base names of relations that could have a field of this name which changes rows. */
export function basesOfChange(field: string): readonly string[] {
  const [, rest = ''] = /^(?:update|delete)(.*)$/.exec(field) ?? []
  const many = baseOfField('updateRows', field)
  return [
    ...(many === undefined ? [] : [many]),
    ...[...rest.matchAll(/(?<=.)By(?=.)/g)].map(({ index }) => rest.slice(0, index)),
  ]
}
