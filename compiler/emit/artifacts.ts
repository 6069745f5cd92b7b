import { entityFile, functionsFile, manifestFile } from '../../runtime/contract/artifact.ts'
import type { Revision } from '../../runtime/contract/revision.ts'
import type { Model } from '../model/types.ts'
import { manifestText } from './manifest.ts'
import { createPrinter } from './printer.ts'
import { builderTypes, builderTypesFile, callTypes, createEntityTypes } from './row-types.ts'
import { schemaFiles, type PrintSchema } from './sdl.ts'

/** c4: what is written to disk for one revision. */
export interface Artifacts {
  readonly revision: Revision
  /** Texts by path inside the revision's folder. */
  readonly files: Readonly<Record<string, string>>
}

/**
 * The files of a revision: what the engine loads, and beside it what people and their tools read (types, SDL). The latter are made
 * here, by ts-morph and graphql, because serving needs neither.
 */
export function makeArtifacts(model: Model, revision: Revision, printSchema: PrintSchema): Artifacts {
  const print = createPrinter()
  const entityTypes = createEntityTypes(model.manifest, print)
  const files: Record<string, string> = {
    [manifestFile]: manifestText(model.manifest),
    [builderTypesFile]: builderTypes,
    [functionsFile]: revision.functions,
    [typesFile(functionsFile)]: callTypes(Object.values(model.functions), print),
    ...schemaFiles(model.manifest, printSchema),
  }
  for (const [id, entity] of Object.entries(model.entities)) {
    files[entityFile(id)] = revision.entities[id] ?? ''
    files[typesFile(entityFile(id))] = entityTypes(entity)
  }
  return { revision, files }
}

const typesFile = (moduleFile: string): string => moduleFile.replace(/\.cjs$/, '.d.cts')
