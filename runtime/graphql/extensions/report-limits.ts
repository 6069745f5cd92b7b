import type { Manifest } from '../../contract/manifest.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import { literal } from '../../sql/literal.ts'
import { withSettings } from '../../lib/directive.ts'
import { isJsonObject } from '../../lib/json.ts'

/** The remark about an API without limits, whose public key may request everything at once. */
export const noLimits = 'anon may ask for everything at once'

/** Pages of 30 in pages of 30 pass, several times over; the same once more inside does not. */
const firstLimits = { rows: 10_000, cost: 100_000 }

/** Of the schemas that ask for a report the first that anon reads something of, where no limit of rows or cost holds; else null. */
export function unlimitedSchema({ limits }: Manifest, anon: RoleVisibility, schemas: readonly string[]): string | null {
  if (limits !== undefined && (limits.rows !== null || limits.cost !== undefined)) return null
  return schemas.find((schema) => anon.exposed.some((entity) => entity.schema === schema)) ?? null
}

/** What an owner should fix. */
export interface Advice {
  readonly problem: string
  readonly object: string
  readonly message: string
  readonly sql: string
}

/** Puts SQL in the place of the comment that came with this piece of advice; all others stay as they are. */
export function withLimitsSql(advice: Advice): readonly Advice[] {
  if (advice.problem !== noLimits) return [advice]
  const comment = withLimits(advice.sql)
  return comment === null ? [] : [{ ...advice, sql: `comment on ${advice.object} is ${literal(comment)};` }]
}

/** A schema's comment with limits added; null where its settings cannot be extended, which remarks report. */
const withLimits = (comment: string): string | null =>
  withSettings(comment, (settings) => {
    const { limits } = settings
    return { ...settings, limits: { ...(isJsonObject(limits) && limits), ...firstLimits } }
  })
