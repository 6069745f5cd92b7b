import type { ColumnFacts, EntityFacts, LookupFacts, TypeFacts } from './manifest.ts'
import { upperFirst } from './name-parts.ts'

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
