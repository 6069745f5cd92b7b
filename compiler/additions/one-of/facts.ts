declare module '../../../runtime/contract/manifest.ts' {
  interface EntityAdditions {
    /** Inputs with exactly one possible member are marked. */
    readonly oneOf?: true
  }
  interface Manifest {
    /** Some inputs take exactly one member, which adds the directive for it. */
    readonly oneOf?: true
  }
}
