import { refuse } from './errors.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

/** An id in the path, in lower case. Throws 404 `validation_failed` if it is not a UUID (spec/auth.md 2.3). */
export function pathId(
  params: Readonly<Record<string, string>>,
  name: 'user_id' | 'factor_id' | 'identity_id',
): string {
  const id = params[name] ?? ''
  if (!isUuid(id)) throw refuse('validation_failed', { status: 404, message: `${name} must be an UUID` })
  return id.toLowerCase()
}
