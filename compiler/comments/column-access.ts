import { isJsonObject } from '../../runtime/lib/json.ts'
import { jsonOf } from './additions.ts'
import { type Decoded, type Decoder, isJsonList, type JsonValue } from './decoders.ts'

/** Decoders of `readOnly`, `writeOnly` and `preset` (spec/graphql.md 17.5); malformed parts are reported. */

/** Columns, by SQL name, of one role; `public` is all roles. */
export interface RoleColumns {
  readonly role: string
  readonly columns: readonly string[]
}

/** A column's preset for a role: SQL of an expression. */
export interface Preset {
  readonly role: string
  readonly column: string
  /** Null: an insert does not set it. */
  readonly insert: string | null
  /** Null: an update does not change it. */
  readonly update: string | null
}

/** The members of an object, decoded separately, with their diagnostics. */
function eachMember<T>(
  value: JsonValue,
  read: (name: string, value: JsonValue) => { readonly found: readonly T[]; readonly remarks: readonly string[] },
): Decoded<readonly T[]> {
  if (value === null) return { ok: true, value: [] }
  if (!isJsonObject(value)) return { ok: true, value: [], remarks: [`${jsonOf(value)} is no object`] }
  const all = Object.entries(value).map(([name, given]) => read(name, given))
  return { ok: true, value: all.flatMap(({ found }) => found), remarks: all.flatMap(({ remarks }) => remarks) }
}

/** `{"authenticated": ["views"]}`. */
export const columnsByRole: Decoder<readonly RoleColumns[]> = (value) =>
  eachMember(value, (role, given) => {
    const columns = isJsonList(given) ? given.filter((name) => typeof name === 'string') : []
    const isRight = isJsonList(given) && columns.length === given.length
    return {
      found: [{ role, columns }],
      remarks: isRight ? [] : [`for ${jsonOf(role)}, ${jsonOf(given)} is no list of columns`],
    }
  })

/** `{"authenticated": {"author_id": "auth.uid()", "changed_by": {"insert": "auth.uid()", "update": "auth.uid()"}}}`. */
export const presets: Decoder<readonly Preset[]> = (value) =>
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
): { readonly preset: Preset; readonly remarks: readonly string[] } {
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
    preset: { role, column, insert: textOf('insert'), update: textOf('update') },
    remarks: isRight ? [] : [problem],
  }
}
