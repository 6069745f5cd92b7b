/** The result type of JSON.parse. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonMembers

export interface JsonMembers {
  readonly [key: string]: JsonValue
}

export const isJsonList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)

/** The member, or null if absent: an absent setting reads like a null one. */
export const member = (object: JsonMembers, key: string): JsonValue =>
  Object.hasOwn(object, key) ? (object[key] ?? null) : null
