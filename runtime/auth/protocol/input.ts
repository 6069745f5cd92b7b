import { refuse, type AuthFailure } from './errors.ts'
import type { JsonObject } from './types.ts'

/**
 * Members of a body (spec/auth.md 2.3): unknown ones are ignored, null is as good as absent, a wrong type is bad JSON.
 */

const wrongType = (name: string, wanted: string): AuthFailure =>
  refuse('bad_json', `Could not parse request body as JSON: ${name} must be ${wanted}`)

const memberOf = (body: JsonObject, name: string): unknown => (Object.hasOwn(body, name) ? (body[name] ?? null) : null)

/** A text; empty when it is absent. */
export function textOf(body: JsonObject, name: string): string {
  const value = memberOf(body, name)
  if (value === null) return ''
  if (typeof value === 'string') return value
  throw wrongType(name, 'a string')
}

/** An object; null when it is absent. */
export function objectOf(body: JsonObject, name: string): JsonObject | null {
  const value = memberOf(body, name)
  if (value === null) return null
  if (isObject(value)) return value
  throw wrongType(name, 'an object')
}

/** True or false; null when it is absent. */
export function booleanOf(body: JsonObject, name: string): boolean | null {
  const value = memberOf(body, name)
  if (value === null || typeof value === 'boolean') return value
  throw wrongType(name, 'true or false')
}

/** Whether a member is there and not null, of whatever type. */
export function has(body: JsonObject, name: string): boolean {
  return memberOf(body, name) !== null
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

/** An id of the path, in lower case. Throws 404 `validation_failed` for what is no UUID (spec/auth.md 2.3). */
export function pathId(
  params: Readonly<Record<string, string>>,
  name: 'user_id' | 'factor_id' | 'identity_id',
): string {
  const id = params[name] ?? ''
  if (!isUuid(id)) throw refuse('validation_failed', { status: 404, message: `${name} must be an UUID` })
  return id.toLowerCase()
}
