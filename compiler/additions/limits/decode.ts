import { membersOf } from '../../comments/additions.ts'
import { type Decoder, member, type JsonValue } from '../../comments/decoders.ts'

/** The limits of one document's selections and cost; null: no limit. */
export interface Limits {
  readonly fields: number | null
  readonly rows: number | null
  readonly cost: number | null
}

const limitNames = ['fields', 'rows', 'cost'] as const

/** `{"fields": n, "rows": n, "cost": n}`, any of them, whole numbers from 0. */
export const limitsOfDocument: Decoder<Limits | null> = (value) => {
  const { given, remarks } = membersOf(value, limitNames)
  if (given === null) return { ok: true, value: null, remarks }
  const read = limitNames.map((name) => ({ name, ...limit(member(given, name)) }))
  const wrong = read.flatMap(({ name, remark }) => (remark === null ? [] : [`"${name}" is ${remark}`]))
  const [fields = null, rows = null, cost = null] = read.map((item) => item.value)
  return { ok: true, value: { fields, rows, cost }, remarks: [...remarks, ...wrong] }
}

function limit(value: JsonValue): { readonly value: number | null; readonly remark: string | null } {
  if (value === null) return { value: null, remark: null }
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  return isCount
    ? { value, remark: null }
    : { value: null, remark: `${JSON.stringify(value)} and no whole number from 0` }
}
