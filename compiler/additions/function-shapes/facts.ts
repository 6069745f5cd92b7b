declare module '../../../runtime/contract/manifest.ts' {
  interface Manifest {
    /** Some served schema has it on, so that computed fields may have filters. */
    readonly functionShapes?: true
  }
}
