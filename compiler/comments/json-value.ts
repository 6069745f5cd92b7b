/** What JSON.parse makes. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonMembers

export interface JsonMembers {
  readonly [key: string]: JsonValue
}

export const isJsonList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

/** The member, or null when there is none: a setting that is absent reads like one that is null. */
export const member = (object: JsonMembers, key: string): JsonValue =>
  Object.hasOwn(object, key) ? (object[key] ?? null) : null
