/** The types of a relation that the addition brings. */
export const parts = { distinctField: 'DistinctField' } as const

type Parts = typeof parts

declare module '../../../runtime/contract/name-parts.ts' {
  interface AddedParts extends Parts {}
}

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Its connections take `distinctOn`. */
    readonly distinctOn?: true
  }
}
