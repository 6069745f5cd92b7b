import type { Manifest } from '../../runtime/contract/manifest.ts'

/** SDL text of a role's schema; the engine makes it (runtime/engine/schema), this room only decides which and where. */
export type PrintSchema = (manifest: Manifest, role: string) => string

/** The roles that a database of this service usually has; others see their schema by introspection. */
const printedRoles = ['anon', 'authenticated', 'service_role'] as const

/** One file per role: `schema.anon.graphql`. A role that the database lacks sees what everybody does. */
export const schemaFiles = (manifest: Manifest, printSchema: PrintSchema): Readonly<Record<string, string>> =>
  Object.fromEntries(
    printedRoles.map((role) => [`schema.${role}.graphql`, `${printSchema(manifest, role).trimEnd()}\n`]),
  )
