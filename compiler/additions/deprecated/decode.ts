import { eachMember, jsonOf } from '../../comments/additions.ts'
import type { Decoder, JsonValue } from '../../comments/decoders.ts'

const isReason = (value: JsonValue): value is string => typeof value === 'string' && value.trim() !== ''

const remarksOn = (value: JsonValue): readonly string[] =>
  isReason(value) || value === null ? [] : [`${jsonOf(value)} is no text that says why`]

/** A text with a reason; null if absent. */
export const reason: Decoder<string | null> = (value) => ({
  ok: true,
  value: isReason(value) ? value : null,
  remarks: remarksOn(value),
})

/** An object of reasons, as pairs. */
export const reasons: Decoder<readonly (readonly [string, string])[]> = (value) =>
  eachMember(value, (label, why) => ({
    found: isReason(why) ? [[label, why] as const] : [],
    remarks: remarksOn(why).map((remark) => `of ${jsonOf(label)}, ${remark}`),
  }))
