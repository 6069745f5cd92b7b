import type { ColumnFacts, EntityFacts, LookupFacts, TypeFacts } from './manifest.ts'
import { lowerFirst, upperFirst } from './root-fields.ts'

/** A column whose value can be an argument. */
export interface LookupColumn extends TypeFacts, Pick<ColumnFacts, 'column'> {
  readonly field: string
}

/** A field of Query that looks a row up by a unique key (spec/graphql.md 17.3): `postBySlug`, `memberByTeamIdAndUserId`. */
export interface KeyLookup {
  readonly name: string
  readonly facts: LookupFacts
  readonly columns: readonly LookupColumn[]
}

/** Those that a relation's names allow, in order; columns of one field cannot both be asked for. */
export function lookupsOf({ name, columns, lookups = [] }: EntityFacts): readonly KeyLookup[] {
  return lookups.flatMap((facts): readonly KeyLookup[] => {
    const found = facts.columns.flatMap((one) => columns.find(({ column }) => column === one) ?? []).flatMap(asArgument)
    const fields = new Set(found.map(({ field }) => field))
    if (fields.size !== facts.columns.length) return []
    return [{ name: `${lowerFirst(name)}By${[...fields].map(upperFirst).join('And')}`, facts, columns: found }]
  })
}

/** Places are compared by no equality that a key would hold them to. */
const asArgument = (column: ColumnFacts): readonly LookupColumn[] => {
  const { field, type } = column
  if (field === null || type === null || type.kind === 'composite' || type.list) return []
  return type.kind === 'scalar' && type.name === 'GeoJSON' ? [] : [{ ...column, field, type }]
}

/** Base names of relations that could have a field of this name. */
export const basesOfLookup = (field: string): readonly string[] =>
  [...field.matchAll(/(?<=.)By(?=.)/g)].flatMap(({ index }) => {
    const base = field.slice(0, index)
    return base === lowerFirst(base) ? [base, upperFirst(base)] : []
  })
