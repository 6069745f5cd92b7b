import { join } from 'node:path'
import { entityFile, functionsFile, manifestFile } from '../../runtime/contract/artifact.ts'
import type { Manifest } from '../../runtime/contract/manifest.ts'
import type { Revision } from '../../runtime/contract/revision.ts'
import { orNull } from '../../runtime/engine/artifact-failure.ts'
import { readPart } from '../../runtime/engine/load.ts'
import { sha256Hex } from '../../runtime/lib/text.ts'
import { manifestText } from './manifest.ts'
import { schemaFiles } from './sdl.ts'

/** c4: what is written to disk for one revision. */
export interface Artifacts {
  readonly revision: Revision
  readonly files: Files
  /** Paths of those that were just read in the revision's folder; absent: none. */
  readonly kept?: ReadonlySet<string>
}

/** Texts by path inside the revision's folder. */
type Files = Readonly<Record<string, string>>

/** The declarations that all others of a revision import. */
export const builderTypesFile = 'builder.d.cts'

export const typesFile = (moduleFile: string): string => moduleFile.replace(/\.cjs$/, '.d.cts')

/** Which version printed the declarations and the SDL of a revision, and the seal of what it printed. */
export const printedFile = 'printed.json'

/** What the engine loads. */
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
 * The artifacts with what stands printed in a folder, which follows from the revision. Null where another version printed it, or
 * where it is not as it was printed.
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
