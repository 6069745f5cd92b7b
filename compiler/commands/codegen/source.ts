import type { GraphQLSchema } from 'graphql'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { currentFile } from '../../../runtime/contract/artifact.ts'
import type { Manifest } from '../../../runtime/contract/manifest.ts'
import { withSession } from '../../../runtime/db/connect/session.ts'
import { loadRevision } from '../../../runtime/engine/load.ts'
import { buildView } from '../../../runtime/engine/schema/schema.ts'
import { writtenExpression } from '../../catalog/written.ts'
import { createCompiler } from '../../compile.ts'
import { seenTriggers } from '../../following/serving/live-triggers.ts'
import { printDiagnostics } from '../../catalog/diagnostics/print.ts'
import { CommandFailure } from '../command.ts'
import { demandRole } from '../demand-role.ts'

/** The source of a role's schema. */
export interface SchemaSource {
  /** For notes; contains no secret. */
  readonly name: string
  /** A text that changes with the schema; cheap to request. */
  readonly version: () => Promise<string>
  /** Rejects with a sentence if there is no such schema. */
  readonly load: () => Promise<GraphQLSchema>
}

/** The output of `compile`. */
export const folderSource = (folder: string, role: string): SchemaSource => ({
  name: folder,
  version: () => readFile(join(folder, currentFile), 'utf8'),
  load: async () => schemaOf((await loadRevision(folder)).manifest, role),
})

export interface DatabaseSourceOptions {
  readonly url: string
  readonly schemas: readonly string[]
}

/** A database, which is compiled without changes to it. */
export const databaseSource = ({ url, schemas }: DatabaseSourceOptions, role: string): SchemaSource => ({
  name: 'the database',
  version: () =>
    withSession({ url }, async (query) => {
      const { rows } = await query<{ version: string }>(`select ${writtenExpression} as version`)
      return rows[0]?.version ?? ''
    }),
  load: () =>
    withSession({ url }, async (query) => {
      await demandRole(query, role)
      const compiled = await createCompiler({ query, schemas, version: null, triggers: seenTriggers }).compile()
      const errors = compiled.diagnostics.filter(({ severity }) => severity === 'error')
      if (errors.length > 0) throw new CommandFailure(printDiagnostics(errors).trimEnd())
      return schemaOf(compiled.revision.manifest, role)
    }),
})

const schemaOf = (manifest: Manifest, role: string): GraphQLSchema => buildView(manifest, role).complete()
