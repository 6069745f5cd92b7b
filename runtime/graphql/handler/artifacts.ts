import { damaged } from '../../engine/artifact-failure.ts'
import type { ReadDocumentFile } from '../compiled/documents.ts'
import { documentFile, documentsIndex } from '../compiled/format.ts'
import { foundDocuments, unchanged, type DocumentsPlace } from '../compiled/found.ts'

/** Compiled documents as texts, by their paths in a revision's folder: `documents/index.json` and those it names. */
export type DocumentTexts = Readonly<Record<string, string>>

/** The name of the folder in messages. */
const folder = 'the artifacts'

export const documentsOf = (artifacts: DocumentTexts): DocumentsPlace => ({
  mark: () => '',
  find: () =>
    foundDocuments({
      folder,
      text: artifacts[documentsIndex] ?? '',
      files: () => Object.keys(artifacts).map((path) => path.slice(path.lastIndexOf('/') + 1)),
    }),
})

export const readArtifact =
  (artifacts: DocumentTexts): ReadDocumentFile =>
  (_folder, address) => {
    const text = artifacts[documentFile(address)]
    if (text === undefined) throw damaged(`There is no ${documentFile(address)} in ${folder}.`)
    return unchanged(text, folder, address)
  }
