import type { AnnotatedSchema } from '../../comments/annotated.ts'
import type { Manifest } from '../../../runtime/contract/manifest.ts'

declare module '../../../runtime/contract/manifest.ts' {
  interface Manifest {
    /** Whether requests may ask for their statements and plans; absent: they may not. */
    readonly explain?: true
  }
}

export const manifestFacts = (schemas: readonly AnnotatedSchema[]): Pick<Manifest, 'explain'> =>
  schemas.some(({ settings }) => settings.explain) ? { explain: true } : {}
