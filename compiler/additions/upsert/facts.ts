/** The types of a relation that the addition brings. */
export const parts = { onConflict: 'OnConflict', constraint: 'Constraint', updateField: 'UpdateField' } as const

type Parts = typeof parts

declare module '../../../runtime/contract/name-parts.ts' {
  interface AddedParts extends Parts {}
}

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Its insert takes `onConflict`. */
    readonly upsert?: true
  }
  interface EntityFacts {
    /** The keys of `onConflict`. */
    readonly uniqueKeys?: readonly UniqueKeyFacts[]
  }
}

/** A unique key that is not deferrable. */
export interface UniqueKeyFacts {
  /** Its SQL name, which is a GraphQL name too. */
  readonly name: string
  /** SQL names of its columns, on which a role needs SELECT to name it. */
  readonly columns: readonly string[]
  /** Its generated columns; an insert must give the values of the others. */
  readonly generated?: readonly string[]
  /** True if it has expressions or a condition: the role needs SELECT on the whole relation. */
  readonly whole: boolean
}
