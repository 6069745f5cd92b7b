/** The types of a relation that the addition brings. */
export const parts = {
  columnFilter: 'ColumnFilter',
  columnComparison: 'ColumnComparison',
  comparedColumn: 'ComparedColumn',
} as const

type Parts = typeof parts

declare module '../../../runtime/contract/name-parts.ts' {
  interface AddedParts extends Parts {}
}

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Its filter type compares columns with each other. */
    readonly columnFilters?: true
  }
  interface ColumnFacts {
    /** Columns with equal texts can be compared. */
    readonly comparison?: string
  }
}
