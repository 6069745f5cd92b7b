import { isJsonObject } from '../../../runtime/lib/json.ts'
import { jsonOf } from '../../comments/additions.ts'
import type { Decoder } from '../../comments/decoders.ts'
import type { Key } from '../../comments/keys.ts'

/** A text with a reason; null if absent. */
const reason: Decoder<string | null> = (value) => {
  const isText = typeof value === 'string' && value.trim() !== ''
  const remarks = isText || value === null ? [] : [`${jsonOf(value)} is no text that says why`]
  return { ok: true, value: isText ? value : null, remarks }
}

/** An object of reasons, as pairs. */
const reasons: Decoder<readonly (readonly [string, string])[]> = (value) => {
  if (value === null) return { ok: true, value: [] }
  if (!isJsonObject(value)) return { ok: true, value: [], remarks: [`${jsonOf(value)} is no object`] }
  const read = Object.entries(value).map(([name, why]) => ({ name, ...reason(why) }))
  return {
    ok: true,
    value: read.flatMap((one) => (one.ok && one.value !== null ? [[one.name, one.value] as const] : [])),
    remarks: read.flatMap((one) =>
      (one.ok ? (one.remarks ?? []) : []).map((remark) => `of ${jsonOf(one.name)}, ${remark}`),
    ),
  }
}

export const keys = [
  {
    key: 'deprecated',
    on: ['relation', 'column', 'function'],
    decode: reason,
    isFact: true,
    help: 'a string: why its fields are deprecated, and what to use instead.',
  },
  {
    key: 'deprecated',
    on: ['enum'],
    decode: reasons,
    isFact: true,
    help: 'an object from labels to strings: why their values are deprecated, and what to use instead.',
  },
] as const satisfies readonly Key[]
