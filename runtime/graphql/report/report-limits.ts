import type { Manifest } from '../../contract/manifest.ts'
import type { RoleVisibility } from '../../engine/view.ts'
import { literal } from '../../sql/tree.ts'
import { withSettings, isJsonObject } from '../../lib/json.ts'

/** The remark about an API without limits, whose public key may request unlimited work. */
export const noLimits = 'anon may ask for everything at once'

/** Pages of 30 in pages of 30 pass, several times; one more level does not. */
const firstLimits = { rows: 10_000, cost: 100_000 }

/** The first schema that asks for a report, is readable for anon and has no limit of rows or cost; else null. */
export function unlimitedSchema({ limits }: Manifest, anon: RoleVisibility, schemas: readonly string[]): string | null {
  if (limits !== undefined && (limits.rows !== null || limits.cost !== undefined)) return null
  return schemas.find((schema) => anon.exposed.some((entity) => entity.schema === schema)) ?? null
}

export interface Advice {
  readonly problem: string
  readonly object: string
  readonly message: string
  readonly sql: string
}

/** Replaces the comment that came with this advice by SQL; all other advice stays unchanged. */
export function withLimitsSql(advice: Advice): readonly Advice[] {
  if (advice.problem !== noLimits) return [advice]
  const comment = withLimits(advice.sql)
  return comment === null ? [] : [{ ...advice, sql: `comment on ${advice.object} is ${literal(comment)};` }]
}

/** A schema's comment with limits added; null if its settings cannot be extended, which remarks report. */
const withLimits = (comment: string): string | null =>
  withSettings(comment, (settings) => {
    const { limits } = settings
    return { ...settings, limits: { ...(isJsonObject(limits) && limits), ...firstLimits } }
  })
