/** The types of a relation that the addition brings. */
export const parts = { relationFilter: 'RelationFilter' } as const

type Parts = typeof parts

declare module '../../../runtime/contract/name-parts.ts' {
  interface AddedParts extends Parts {}
}

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Its filter type has fields for related rows. */
    readonly relationFilters?: true
  }
}
