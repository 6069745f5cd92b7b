import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { currentFile } from '../../contract/artifact.ts'
import { ArtifactFailure } from '../../engine/artifact-failure.ts'
import { currentRevision, readPart } from '../../engine/load.ts'
import { documentFile, documentsIndex } from './format.ts'
import { foundDocuments, unchanged, type DocumentsPlace, type FoundDocuments } from './found.ts'

/** Changes after each `compile`, which replaces this file once all files that it names exist. */
function writtenMark(folder: string): string {
  const { ino, mtimeMs, size } = statSync(join(folder, currentFile), { throwIfNoEntry: false }) ?? noFile
  return `${ino} ${mtimeMs} ${size}`
}

const noFile = { ino: 0, mtimeMs: 0, size: 0 }

/** The documents of a folder written by `compile`. */
export const documentsIn = (folder: string): DocumentsPlace => ({
  mark: () => writtenMark(folder),
  find: () => findDocuments(folder),
})

/**
 * Reads none of the documents: reading a thousand would take longer than the rest of a server's start.
 * @throws ArtifactFailure if a file is missing or has another format
 */
export function findDocuments(folder: string): FoundDocuments {
  const place = join(folder, currentRevision(folder))
  const path = join(place, documentsIndex)
  const text = readIndex(place, path)
  return foundDocuments({ folder: place, text, files: () => readdirSync(dirname(path)) })
}

/** Reads one of the files. @param folder of the revision @throws ArtifactFailure if it is missing or was changed */
export const readDocumentFile = (folder: string, address: string): string =>
  unchanged(readPart(join(folder, documentFile(address))), folder, address)

function readIndex(place: string, path: string): string {
  try {
    return readPart(path)
  } catch (error) {
    if (!(error instanceof ArtifactFailure)) throw error
    throw new ArtifactFailure(
      'missing',
      `The artifacts in ${place} hold no documents. Compile with --documents and --roles.`,
    )
  }
}
