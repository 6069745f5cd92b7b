declare module '../../../runtime/contract/manifest.ts' {
  interface Manifest {
    /** Something is deprecated, which adds the directive for it. */
    readonly deprecated?: true
  }
}
