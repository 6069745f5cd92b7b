import type { Advice } from '../../graphql/extensions/report-limits.ts'
import type { SchemaReport } from '../../graphql/extensions/report.ts'

/** The schema report as rows of one table. */

export interface ReportRow {
  readonly key: string
  readonly object: string
  readonly kind: string
  /** Its type or field; null: it is not in the API. */
  readonly name: string | null
  readonly reason: string | null
  readonly message: string | null
  readonly fix: string | null
}

export type Presence = 'all' | 'missing' | 'present'

/** Relations, the fields that they lost, functions, and what the compiler says of all of them. */
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
    })
  // What keeps an object out stands in its own row.
  const missing = [...relations, ...functions].filter(({ inSchema }) => !inSchema)
  const explained = new Set(missing.map(({ object }) => object))
  return [
    ...relations.flatMap(({ object, kind, type, reason, message, fix, conflicts }): readonly ReportRow[] => [
      { key: object, object, kind, name: type, reason, message, fix },
      ...conflicts.map(remarkRow('lost field')),
    ]),
    ...functions.map(({ object, field, reason, message, fix }) => ({
      key: object,
      object,
      kind: 'function',
      name: field,
      reason,
      message,
      fix,
    })),
    ...remarks.filter((remark) => !isLostField(remark) && !explained.has(remark.object)).map(remarkRow('remark')),
  ]
}

/** It stands at its relation already. */
const isLostField = ({ code, object }: SchemaReport['remarks'][number]): boolean =>
  code === 'field-taken' && object.startsWith('relation of ')

/** Whether one of the texts contains another, whatever its case. */
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
