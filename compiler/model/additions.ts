import type { Manifest } from '../../runtime/contract/manifest.ts'
import type { AllowlistFacts, LimitFacts } from '../../runtime/contract/guards.ts'
import type { Limits } from '../comments/additions.ts'
import type { AnnotatedSchema } from '../comments/annotated.ts'

export type AdditionFacts = Pick<Manifest, 'limits' | 'allowlists' | 'explain'>

/**
 * The settings of schemas' comments for the API as a whole (spec/graphql.md 17). A fact that no schema requests is
 * absent, so that manifests without it are unchanged.
 */
export function additionFacts(schemas: readonly AnnotatedSchema[]): AdditionFacts {
  const limits = limitFacts(schemas)
  const allowlists = schemas.flatMap(({ settings: { allowlist } }): readonly AllowlistFacts[] =>
    allowlist === null ? [] : [allowlist],
  )
  const explain = schemas.some(({ settings }) => settings.explain)
  return {
    ...(limits && { limits }),
    ...(allowlists.length > 0 && { allowlists }),
    ...(explain && { explain: true as const }),
  }
}

/** A document may use every served schema, so the smallest limit applies. */
function limitFacts(schemas: readonly AnnotatedSchema[]): LimitFacts | null {
  const given = schemas.flatMap(({ settings }) => settings.limits ?? [])
  const smallest = (name: keyof Limits): number | null => {
    const counts = given.flatMap((limits) => limits[name] ?? [])
    return counts.length === 0 ? null : Math.min(...counts)
  }
  const [fields, rows, cost] = [smallest('fields'), smallest('rows'), smallest('cost')]
  if (fields === null && rows === null && cost === null) return null
  return { fields, rows, ...(cost !== null && { cost }) }
}
