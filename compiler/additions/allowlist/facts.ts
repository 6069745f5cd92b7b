import type { Manifest } from '../../../runtime/contract/manifest.ts'
import type { AnnotatedSchema } from '../../comments/annotated.ts'

/** The lists, in the order of the schemas. */
export function manifestFacts(schemas: readonly AnnotatedSchema[]): Pick<Manifest, 'allowlists'> {
  const allowlists = schemas.flatMap(({ settings: { allowlist } }) => allowlist ?? [])
  return allowlists.length === 0 ? {} : { allowlists }
}
