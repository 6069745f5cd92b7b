import { statSync } from 'node:fs'
import { join } from 'node:path'
import { currentFile } from '../../contract/artifact.ts'
import type { CompiledTexts } from '../../contract/revision.ts'
import { ArtifactFailure, currentRevision, readPart } from '../../engine/load.ts'
import { isJsonObject } from '../../lib/json-object.ts'
import { tryParseJson } from '../../lib/parse-json.ts'
import { sha256Hex } from '../../lib/sha256.ts'
import { isUnderItsHash } from './documents.ts'
import {
  documentFile,
  documentsFormat,
  documentsIndex,
  type DocumentFile,
  type DocumentNeeds,
  type DocumentsIndex,
} from './format.ts'

/** The compiled documents of a folder, whole and as they were written. */
export interface ReadDocuments {
  /** Of the revision and its documents. */
  readonly id: string
  readonly index: DocumentsIndex
  readonly files: CompiledTexts['files']
  /** By address. */
  readonly needs: ReadonlyMap<string, DocumentNeeds>
}

/** Changes whenever `compile` has written: it replaces this file last. */
export function writtenMark(folder: string): string {
  const { ino, mtimeMs, size } = statSync(join(folder, currentFile), { throwIfNoEntry: false }) ?? noFile
  return `${ino} ${mtimeMs} ${size}`
}

const noFile = { ino: 0, mtimeMs: 0, size: 0 }

/** @throws ArtifactFailure for what is missing, of another format, or not what was written */
export function readDocuments(folder: string): ReadDocuments {
  const place = join(folder, currentRevision(folder))
  const indexText = readIndex(place)
  const index = decodeIndex(indexText, join(place, documentsIndex))
  const files: Record<string, string> = { [documentsIndex]: indexText }
  const needs = new Map<string, DocumentNeeds>()
  for (const address of Object.values(index.types)) files[documentFile(address)] = readAddressed(place, address)
  for (const [hash, address] of Object.values(index.roles).flatMap((documents) => Object.entries(documents))) {
    const path = documentFile(address)
    const content = files[path] ?? readAddressed(place, address)
    files[path] = content
    const document = JSON.parse(content) as DocumentFile
    if (!isUnderItsHash(hash, document))
      throw damaged(`The document of ${join(place, path)} does not have the hash ${hash} that it stands under.`)
    needs.set(address, document.needs)
  }
  return { id: `${index.revision}.${sha256Hex(indexText).slice(0, 8)}`, index, files, needs }
}

const damaged = (what: string): ArtifactFailure => new ArtifactFailure('damaged', `${what} Compile again.`)

function readIndex(place: string): string {
  try {
    return readPart(join(place, documentsIndex))
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

function readAddressed(place: string, address: string): string {
  const path = join(place, documentFile(address))
  const text = readPart(path)
  if (sha256Hex(text).startsWith(address)) return text
  throw damaged(`${path} was changed after it was compiled.`)
}
