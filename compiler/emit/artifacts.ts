import { entityFile, functionsFile, manifestFile } from '../../runtime/contract/artifact.ts'
import type { Manifest, ObjectId } from '../../runtime/contract/manifest.ts'
import type { Revision } from '../../runtime/contract/revision.ts'
import type { Model } from '../model/types.ts'
import { manifestText } from './manifest.ts'
import { createPrinter } from './printer.ts'
import { builderTypes, builderTypesFile, callTypes, createEntityTypes, type Extras } from './row-types.ts'
import { schemaFiles, type PrintSchema } from './sdl.ts'

/** c4: what is written to disk for one revision. */
export interface Artifacts {
  readonly revision: Revision
  /** Texts by path inside the revision's folder. */
  readonly files: Readonly<Record<string, string>>
  /** Paths of those that were just read in the revision's folder; absent: none. */
  readonly kept?: ReadonlySet<string>
}

/**
 * The files of a revision: what the engine loads, and beside it what people and their tools read (types, SDL). The
 * latter are made here, by ts-morph and graphql, because serving needs neither.
 */
export function makeArtifacts(model: Model, revision: Revision, printSchema: PrintSchema): Artifacts {
  const print = createPrinter()
  // What could not be compiled is in the model, but not in the revision.
  const { manifest } = revision
  const entityTypes = createEntityTypes(manifest, print)
  const files: Record<string, string> = {
    [manifestFile]: manifestText(manifest),
    [builderTypesFile]: builderTypes(extrasOf(model, manifest)),
    [functionsFile]: revision.functions,
    [typesFile(functionsFile)]: callTypes(model.functions.filter(isServed(manifest.functions)), print),
    ...schemaFiles(manifest, printSchema),
  }
  for (const { id, text } of revision.entities) files[entityFile(id)] = text
  for (const entity of model.entities.filter(isServed(manifest.entities))) {
    files[typesFile(entityFile(entity.id))] = entityTypes(entity)
  }
  return { revision, files }
}

const extrasOf = (model: Model, { entities, composites, geo }: Manifest): Extras => ({
  arbiters: entities.some((entity) => entity.upsert === true),
  computed: entities.some(({ computed }) => computed.some((fn) => fn.args.length > 0 || fn.filter === true)),
  composites: composites !== undefined,
  geo: geo === true,
  order: model.entities.some(({ columns }) => columns.some(({ order }) => order !== undefined)),
})

interface Identified {
  readonly id: ObjectId
}

function isServed(served: readonly Identified[]): (object: Identified) => boolean {
  const ids = new Set(served.map(({ id }) => id))
  return ({ id }) => ids.has(id)
}

const typesFile = (moduleFile: string): string => moduleFile.replace(/\.cjs$/, '.d.cts')
