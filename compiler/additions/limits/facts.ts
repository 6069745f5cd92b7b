import type { LimitFacts } from '../../../runtime/contract/guards.ts'
import type { Manifest } from '../../../runtime/contract/manifest.ts'
import type { AnnotatedSchema } from '../../comments/annotated.ts'
import type { Limits } from './decode.ts'

/** A document may use every served schema, so the smallest limit applies. */
export function manifestFacts(schemas: readonly AnnotatedSchema[]): Pick<Manifest, 'limits'> {
  const given = schemas.flatMap(({ settings }) => settings.limits ?? [])
  const smallest = (name: keyof Limits): number | null => {
    const counts = given.flatMap((limits) => limits[name] ?? [])
    return counts.length === 0 ? null : Math.min(...counts)
  }
  const [fields, rows, cost] = [smallest('fields'), smallest('rows'), smallest('cost')]
  if (fields === null && rows === null && cost === null) return {}
  const limits: LimitFacts = { fields, rows, ...(cost !== null && { cost }) }
  return { limits }
}
