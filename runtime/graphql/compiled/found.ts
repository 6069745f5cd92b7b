import type { DocumentAddresses } from '../../contract/artifact.ts'
import { ArtifactFailure, damaged } from '../../engine/artifact-failure.ts'
import { isJsonObject, tryParseJson } from '../../lib/json.ts'
import { sha256Hex } from '../../lib/text.ts'
import { documentFile, documentsFormat, documentsIndex, type DocumentsIndex } from './format.ts'

/** The compiled documents of a folder: their index, and their location. */
export interface FoundDocuments {
  /** The id of the revision and its documents. */
  readonly id: string
  readonly folder: string
  readonly index: DocumentsIndex
  readonly addresses: DocumentAddresses
}

/** The location of compiled documents. */
export interface DocumentsPlace {
  /** Changes when artifacts may have been written. */
  readonly mark: () => string
  /** @throws ArtifactFailure */
  readonly find: () => FoundDocuments
}

interface Written {
  readonly folder: string
  readonly text: string
  /** The names of the files beside it. */
  readonly files: () => readonly string[]
}

/** @throws ArtifactFailure if a file is missing or has another format */
export function foundDocuments({ folder, text, files }: Written): FoundDocuments {
  const index = decodeIndex(text, `${folder}/${documentsIndex}`)
  const there = new Set(files())
  const missing = addressesOf(index).find((address) => !there.has(`${address}.json`))
  if (missing !== undefined) throw damaged(`There is no ${folder}/${documentFile(missing)}.`)
  return {
    id: `${index.revision}.${index.seal.slice(0, 8)}`,
    folder,
    index,
    addresses: { types: index.types, roles: index.roles },
  }
}

const addressesOf = ({ types, roles }: DocumentAddresses): readonly string[] =>
  [types, ...Object.values(roles)].flatMap((addresses) => Object.values(addresses))

function decodeIndex(text: string, path: string): DocumentsIndex {
  const value = tryParseJson(text)
  if (!isJsonObject(value)) throw damaged(`${path} is not JSON.`)
  if (value['format'] !== documentsFormat)
    throw new ArtifactFailure(
      'format',
      `${path} has format ${JSON.stringify(value['format'])}, this version reads format ${documentsFormat}. Compile again.`,
    )
  if (withSeal(text.slice(0, text.lastIndexOf(sealStart)) + indexEnd) !== text)
    throw damaged(`${path} was changed after it was compiled.`)
  return value as unknown as DocumentsIndex
}

const sealStart = ',\n  "seal": "'
const indexEnd = '\n}\n'

/** The text of an index with its last member: the SHA-256 of the preceding text. */
export function withSeal(text: string): string {
  const before = text.slice(0, -indexEnd.length)
  return `${before}${sealStart}${sha256Hex(before)}"${indexEnd}`
}

/** The text of a file. @throws ArtifactFailure if it was changed */
export function unchanged(text: string, folder: string, address: string): string {
  if (sha256Hex(text).startsWith(address)) return text
  throw damaged(`${folder}/${documentFile(address)} was changed after it was compiled.`)
}
