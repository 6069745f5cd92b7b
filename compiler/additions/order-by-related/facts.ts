/** The types of a relation that the addition brings. */
export const parts = { relationOrderBy: 'RelationOrderBy' } as const

type Parts = typeof parts

declare module '../../../runtime/contract/name-parts.ts' {
  interface AddedParts extends Parts {}
}

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Its order type has fields for related rows. */
    readonly orderByRelated?: true
  }
}
