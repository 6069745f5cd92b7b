import { join } from 'node:path'
import { readPart } from '../../engine/load.ts'
import { documentFile, documentsIndex } from '../compiled/format.ts'
import { findDocuments, readDocumentFile } from '../compiled/read-document.ts'
import type { DocumentTexts } from './artifacts.ts'

export type { DocumentTexts } from './artifacts.ts'

/**
 * The compiled documents of a folder that `compile` wrote, as a JSON value, for runtimes without files.
 * @throws ArtifactFailure if a file is missing, has another format or was changed
 */
export function readArtifacts(folder: string): DocumentTexts {
  const { folder: place, addresses } = findDocuments(folder)
  const all = new Set([addresses.types, ...Object.values(addresses.roles)].flatMap((one) => Object.values(one)))
  return Object.fromEntries([
    [documentsIndex, readPart(join(place, documentsIndex))],
    ...[...all].map((address) => [documentFile(address), readDocumentFile(place, address)] as const),
  ])
}
