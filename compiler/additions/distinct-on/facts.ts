import type { TableSwitch } from '../addition.ts'

/** The types of a relation that the addition brings. */
export const parts = { distinctField: 'DistinctField' } as const

type Parts = typeof parts

declare module '../../../runtime/contract/name-parts.ts' {
  interface AddedParts extends Parts {}
}

declare module '../../comments/keys.ts' {
  interface AddedKeys {
    readonly distinctOn: TableSwitch<'distinctOn'>
  }
}

declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Its connections take `distinctOn`. */
    readonly distinctOn?: true
  }
}
