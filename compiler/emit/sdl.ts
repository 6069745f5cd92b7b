import type { Manifest } from '../../runtime/contract/manifest.ts'

/** SDL text of a role's schema; the engine makes it (runtime/engine/schema), this room decides the roles and files. */
export type PrintSchema = (manifest: Manifest, role: string) => string

/** The usual roles of a database of this service; others see their schema by introspection. */
const printedRoles = ['anon', 'authenticated', 'service_role'] as const

/** One file per role: `schema.anon.graphql`. A role that the database lacks has the privileges of PUBLIC. */
export const schemaFiles = (manifest: Manifest, printSchema: PrintSchema): Readonly<Record<string, string>> =>
  Object.fromEntries(
    printedRoles.map((role) => [`schema.${role}.graphql`, `${printSchema(manifest, role).trimEnd()}\n`]),
  )
