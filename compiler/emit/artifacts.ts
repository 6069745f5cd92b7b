import { join } from 'node:path'
import { entityFile, functionsFile, manifestFile, type Revision } from '../../runtime/contract/artifact.ts'
import type { Manifest } from '../../runtime/contract/manifest.ts'
import { orNull } from '../../runtime/engine/artifact-failure.ts'
import { readPart } from '../../runtime/engine/load.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import { manifestText } from './emit.ts'

/** c4: the files of one revision on disk. */
export interface Artifacts {
  readonly revision: Revision
  readonly files: Files
  /** Paths of files that were read from the revision's folder; absent: none. */
  readonly kept?: ReadonlySet<string>
}

/** Texts by path inside the revision's folder. */
type Files = Readonly<Record<string, string>>

/** The declarations that all others of a revision import. */
export const builderTypesFile = 'builder.d.cts'

export const typesFile = (moduleFile: string): string => moduleFile.replace(/\.cjs$/, '.d.cts')

/** The compiler's version that printed the declarations and the SDL of a revision, and their checksum. */
export const printedFile = 'printed.json'

export const loadedFiles = ({ manifest, functions, entities }: Revision): Files => ({
  [manifestFile]: manifestText(manifest),
  [functionsFile]: functions,
  ...Object.fromEntries(entities.map(({ id, text }) => [entityFile(id), text])),
})

/** @param version of the compiler */
export const sealPrinted = (printed: Files, version: string): Files => ({
  ...printed,
  [printedFile]: `${JSON.stringify({ compiler: version, seal: sealOf(printed) }, null, 2)}\n`,
})

const sealOf = (files: Files): string =>
  sha256Hex(
    Object.entries(files)
      .map(([path, text]) => `${path} ${sha256Hex(text)}`)
      .toSorted()
      .join('\n'),
  )

/**
 * The artifacts with the printed files of a folder, which depend on the revision only. Null if another version printed
 * them, or if they were changed.
 */
export function artifactsAsPrinted(out: string, revision: Revision, version: string): Artifacts | null {
  const read = (path: string): string => readPart(join(out, revision.id, path))
  return orNull(() => {
    const sealed = read(printedFile)
    const printed = sealPrinted(
      Object.fromEntries(printedPaths(revision.manifest).map((path) => [path, read(path)])),
      version,
    )
    if (printed[printedFile] !== sealed) return null
    return { revision, files: { ...loadedFiles(revision), ...printed }, kept: new Set(Object.keys(printed)) }
  })
}

const printedPaths = (manifest: Manifest): readonly string[] => [
  builderTypesFile,
  ...[functionsFile, ...manifest.entities.map(({ id }) => entityFile(id))].map(typesFile),
  ...Object.keys(schemaFiles(manifest, () => '')),
]

/** SDL text of a role's schema; the engine makes it (runtime/engine/schema), this room decides the roles and files. */
export type PrintSchema = (manifest: Manifest, role: string) => string

/** The usual roles of a database of this service; others see their schema by introspection. */
const printedRoles = ['anon', 'authenticated', 'service_role'] as const

/** One file per role: `schema.anon.graphql`. A role that the database lacks has the privileges of PUBLIC. */
export const schemaFiles = (manifest: Manifest, printSchema: PrintSchema): Readonly<Record<string, string>> =>
  Object.fromEntries(
    printedRoles.map((role) => [`schema.${role}.graphql`, `${printSchema(manifest, role).trimEnd()}\n`]),
  )
