declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Arrays of enums are filtered, and printed under the mapped names of their labels. */
    readonly enumArrays?: true
  }
}
