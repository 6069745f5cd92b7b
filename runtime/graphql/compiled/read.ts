import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { currentFile } from '../../contract/artifact.ts'
import type { DocumentAddresses } from '../../contract/revision.ts'
import { ArtifactFailure, damaged } from '../../engine/artifact-failure.ts'
import { currentRevision, readPart } from '../../engine/load.ts'
import { isJsonObject } from '../../lib/json-object.ts'
import { tryParseJson } from '../../lib/parse-json.ts'
import { sha256Hex } from '../../lib/sha256.ts'
import { documentFile, documentsFormat, documentsIndex, type DocumentsIndex } from './format.ts'

/** The compiled documents of a folder: what is said of them all, and where they are. */
export interface FoundDocuments {
  /** Of the revision and its documents. */
  readonly id: string
  /** Of the revision. */
  readonly folder: string
  readonly index: DocumentsIndex
  readonly addresses: DocumentAddresses
}

/** Changes whenever `compile` has written: it replaces this file once all that it names is there. */
export function writtenMark(folder: string): string {
  const { ino, mtimeMs, size } = statSync(join(folder, currentFile), { throwIfNoEntry: false }) ?? noFile
  return `${ino} ${mtimeMs} ${size}`
}

const noFile = { ino: 0, mtimeMs: 0, size: 0 }

/**
 * Reads none of the documents: a thousand of them would take longer than all else that a server does before its first answer.
 * @throws ArtifactFailure for what is missing or of another format
 */
export function findDocuments(folder: string): FoundDocuments {
  const place = join(folder, currentRevision(folder))
  const path = join(place, documentsIndex)
  const text = readIndex(place, path)
  const index = decodeIndex(text, path)
  const there = new Set(readdirSync(dirname(path)).map((name) => join(dirname(documentsIndex), name)))
  const missing = filesOf(index).find((file) => !there.has(file))
  if (missing !== undefined) throw damaged(`There is no ${join(place, missing)}.`)
  return {
    id: `${index.revision}.${sha256Hex(text).slice(0, 8)}`,
    folder: place,
    index,
    addresses: { types: index.types, roles: index.roles },
  }
}

/** Reads one of the files. @param folder of the revision @throws ArtifactFailure for one that is missing or was changed */
export function readDocumentFile(folder: string, address: string): string {
  const path = join(folder, documentFile(address))
  const text = readPart(path)
  if (sha256Hex(text).startsWith(address)) return text
  throw damaged(`${path} was changed after it was compiled.`)
}

const filesOf = ({ types, roles }: DocumentAddresses): readonly string[] =>
  [types, ...Object.values(roles)].flatMap((addresses) => Object.values(addresses)).map(documentFile)

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

function decodeIndex(text: string, path: string): DocumentsIndex {
  const value = tryParseJson(text)
  if (!isJsonObject(value)) throw damaged(`${path} is not JSON.`)
  if (value['format'] === documentsFormat) return value as unknown as DocumentsIndex
  throw new ArtifactFailure(
    'format',
    `${path} has format ${JSON.stringify(value['format'])}, this version reads format ${documentsFormat}. Compile again.`,
  )
}
