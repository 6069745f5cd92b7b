import { entityFile, functionsFile, type Revision } from '../../runtime/contract/artifact.ts'
import type { ObjectId } from '../../runtime/contract/manifest.ts'
import type { Model } from '../model/model.ts'
import {
  builderTypesFile,
  loadedFiles,
  typesFile,
  sealPrinted,
  type Artifacts,
  schemaFiles,
  type PrintSchema,
} from './artifacts.ts'
import { createPrinter } from './printer.ts'
import { builderTypes, callTypes, createEntityTypes } from './row-types.ts'

/**
 * The files of a revision: those for the engine, and those for people and their tools (types, SDL). The latter are made
 * here, by ts-morph and graphql, because serving needs neither.
 * @param version of the compiler
 */
export function makeArtifacts(model: Model, revision: Revision, printSchema: PrintSchema, version = ''): Artifacts {
  const print = createPrinter()
  // Objects that could not be compiled are in the model, but not in the revision.
  const { manifest } = revision
  const entities = model.entities.filter(isServed(manifest.entities))
  const entityTypes = createEntityTypes(manifest, print)
  const printed = {
    [builderTypesFile]: builderTypes(print),
    [typesFile(functionsFile)]: callTypes(model.functions.filter(isServed(manifest.functions)), print),
    ...schemaFiles(manifest, printSchema),
    ...Object.fromEntries(entities.map((entity) => [typesFile(entityFile(entity.id)), entityTypes(entity)])),
  }
  return { revision, files: { ...loadedFiles(revision), ...sealPrinted(printed, version) } }
}

type Identified = Readonly<Record<'id', ObjectId>>

function isServed(served: readonly Identified[]): (object: Identified) => boolean {
  const ids = new Set(served.map(({ id }) => id))
  return ({ id }) => ids.has(id)
}
