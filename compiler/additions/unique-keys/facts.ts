import { argumentsOfKey, wordsOf, type LookupColumn } from '../../../runtime/contract/lookups.ts'
import type { EntityFacts, LookupFacts } from '../../../runtime/contract/manifest.ts'
import { lowerFirst, upperFirst } from '../../../runtime/contract/name-parts.ts'

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityFacts {
    /** Unique keys for look-ups. */
    readonly lookups?: readonly LookupFacts[]
  }
}

/** A field of Query that looks a row up by a unique key: `postBySlug`, `memberByTeamIdAndUserId`. */
export interface KeyLookup {
  readonly name: string
  readonly facts: LookupFacts
  readonly columns: readonly LookupColumn[]
}

/** The lookups that a relation's names allow, in order. */
export const lookupsOf = (entity: EntityFacts): readonly KeyLookup[] =>
  (entity.lookups ?? []).flatMap((facts): readonly KeyLookup[] => {
    const columns = argumentsOfKey(entity, facts)
    return columns === null ? [] : [{ name: `${lowerFirst(entity.name)}By${wordsOf(columns)}`, facts, columns }]
  })

/** Base names of relations that could have a field of this name. */
export const basesOfLookup = (field: string): readonly string[] =>
  [...field.matchAll(/(?<=.)By(?=.)/g)].flatMap(({ index }) => {
    const base = field.slice(0, index)
    return base === lowerFirst(base) ? [base, upperFirst(base)] : []
  })
