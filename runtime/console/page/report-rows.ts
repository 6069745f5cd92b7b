import type { Advice } from '../../graphql/report/report-limits.ts'
import type { LiveReport } from '../../graphql/report/report-live.ts'
import type { SchemaReport } from '../../graphql/report/report.ts'

export interface ReportRow {
  readonly key: string
  readonly object: string
  readonly kind: string
  readonly name: string | null
  readonly reason: string | null
  readonly message: string | null
  readonly fix: string | null
  /** Whether subscriptions may select it, in words; null: not applicable. */
  readonly live: string | null
}

export type Presence = 'all' | 'missing' | 'present'

/** Relations, their lost fields, functions, and the compiler's remarks. */
export function reportRows({ relations, functions, remarks }: SchemaReport): readonly ReportRow[] {
  const remarkRow =
    (kind: string) =>
    (remark: SchemaReport['remarks'][number], index: number): ReportRow => ({
      key: `${kind} ${index} ${remark.object}`,
      object: remark.object,
      kind,
      name: null,
      reason: remark.code,
      message: remark.message,
      fix: remark.fix,
      live: null,
    })
  // The reason for a missing object is in its own row.
  const missing = [...relations, ...functions].filter(({ inSchema }) => !inSchema)
  const explained = new Set(missing.map(({ object }) => object))
  return [
    ...relations.flatMap(({ object, kind, type, reason, message, fix, conflicts, live }): readonly ReportRow[] => [
      { key: object, object, kind, name: type, reason, message, fix, live: liveText(live) },
      ...conflicts.map(remarkRow('lost field')),
    ]),
    ...functions.map(({ object, field, reason, message, fix, live }) => ({
      key: object,
      object,
      kind: 'function',
      name: field,
      reason,
      message,
      fix,
      live: liveText(live),
    })),
    ...remarks.filter((remark) => !isLostField(remark) && !explained.has(remark.object)).map(remarkRow('remark')),
  ]
}

function liveText(live: LiveReport | undefined): string | null {
  if (live === undefined) return null
  if (!live.watchable) return `no: ${live.reasons.join(' ')}`
  const reads = `yes; a write runs a trigger on ${live.reads.join(', ') || 'nothing'}`
  return live.pins.length === 0 ? reads : `${reads}; pins: ${live.pins.join(', ')}`
}

/** It is shown at its relation already. */
const isLostField = ({ code, object }: SchemaReport['remarks'][number]): boolean =>
  code === 'field-taken' && object.startsWith('relation of ')

/** Whether one of the texts contains another, ignoring case. */
function mentions(texts: readonly (string | null)[], text: string): boolean {
  const wanted = text.trim().toLowerCase()
  return texts.some((one) => one?.toLowerCase().includes(wanted) === true)
}

export const filterAdvice = (advice: readonly Advice[], text: string): readonly Advice[] =>
  advice.filter((one) => mentions(Object.values(one), text))

export function filterRows(rows: readonly ReportRow[], text: string, presence: Presence): readonly ReportRow[] {
  return rows.filter(({ key: _key, name, ...texts }) => {
    if (presence !== 'all' && (name !== null) !== (presence === 'present')) return false
    return mentions(Object.values({ name, ...texts }), text)
  })
}
