import { isJsonObject } from '../../../runtime/lib/json.ts'
import { eachMember, jsonOf } from '../../comments/additions.ts'
import type { ColumnAccess } from '../../comments/column-access.ts'
import type { Decoder, JsonValue } from '../../comments/decoders.ts'

/** `{"authenticated": {"author_id": "auth.uid()", "changed_by": {"insert": "auth.uid()", "update": "auth.uid()"}}}`. */
export const presets: Decoder<readonly ColumnAccess[]> = (value) =>
  eachMember(value, (role, given) => {
    if (!isJsonObject(given))
      return { found: [], remarks: [`for ${jsonOf(role)}, ${jsonOf(given)} is no object of columns`] }
    const read = Object.entries(given).map(([column, preset]) => readPreset(role, column, preset))
    return { found: read.map(({ preset }) => preset), remarks: read.flatMap(({ remarks }) => remarks) }
  })

const commands = ['insert', 'update']

/** A named column is not writable for clients, even if its value is malformed. */
function readPreset(
  role: string,
  column: string,
  value: JsonValue,
): { readonly preset: ColumnAccess; readonly remarks: readonly string[] } {
  const given = typeof value === 'string' ? { insert: value } : isJsonObject(value) ? value : {}
  const isRight =
    (typeof value === 'string' || isJsonObject(value)) &&
    Object.entries(given).every(([name, text]) => commands.includes(name) && typeof text === 'string')
  const textOf = (name: string): string | null => {
    const text = Object.hasOwn(given, name) ? given[name as keyof typeof given] : null
    return typeof text === 'string' ? text : null
  }
  const problem = `for ${jsonOf(role)}, ${jsonOf(column)} takes an expression, or "insert" and "update" with one each`
  return {
    preset: { role, column, absentFrom: 'inputs', set: { insert: textOf('insert'), update: textOf('update') } },
    remarks: isRight ? [] : [problem],
  }
}
