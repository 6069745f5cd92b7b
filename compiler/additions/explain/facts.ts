declare module '../../../runtime/contract/manifest.ts' {
  interface Manifest {
    /** Whether requests may ask for their statements and plans; absent: they may not. */
    readonly explain?: true
  }
}
