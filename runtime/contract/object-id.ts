import type { ObjectId } from './manifest.ts'

/** Identity of a database object across the artifacts: unambiguous for any pair of names. */
export const objectId = (schema: string, name: string): ObjectId => JSON.stringify([schema, name])
