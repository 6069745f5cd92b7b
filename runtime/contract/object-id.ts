import type { ObjectId } from './manifest.ts'

/** Identity of a database object across the artifacts: unambiguous for any pair of names. */
export const objectId = (schema: string, name: string): ObjectId => JSON.stringify([schema, name])

export function namesOf(id: ObjectId): { readonly schema: string; readonly name: string } {
  const [schema, name] = JSON.parse(id) as readonly [string, string]
  return { schema, name }
}
