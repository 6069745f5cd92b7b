import { isJsonObject } from '../../../runtime/lib/json.ts'

/**
 * A value of any stage as stable JSON text: keys sorted, lists in their order, two spaces, a line feed at the end.
 * Equal values give equal bytes, independent of the insertion order of keys.
 */
export const dump = (value: unknown): string => `${JSON.stringify(value, sortKeys, 2)}\n`

// Object.fromEntries defines keys, so one named __proto__ stays a key. Integer-like keys come first, which is stable
// too.
const sortKeys = (_key: string, value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
