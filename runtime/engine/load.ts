import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileFunction, createContext } from 'node:vm'
import {
  currentFile,
  digestEntity,
  digestLines,
  entityFile,
  functionsFile,
  manifestFile,
  revisionId,
  type EntityModule,
  type Revision,
} from '../contract/artifact.ts'
import type { Manifest } from '../contract/manifest.ts'
import { sha256Hex } from '../lib/text.ts'
import { isJsonObject } from '../lib/json.ts'
import { ArtifactFailure, damaged } from './artifact-failure.ts'

/** Artifacts on disk -> a revision; the text of a generated module -> its value. */

/**
 * Reads the newest revision of a folder that `compile` wrote, and checks that it is complete. Its version is null:
 * artifacts alone follow no database. Rejects with ArtifactFailure.
 */
export async function loadRevision(folder: string): Promise<Revision> {
  const id = currentRevision(folder)
  const manifestText = readPart(join(folder, id, manifestFile))
  const manifest = decodeManifest(manifestText, join(folder, id, manifestFile))
  const functions = readPart(join(folder, id, functionsFile))
  const entities = readEntities(join(folder, id), manifest)
  if (digestOf(manifestText, functions, entities) !== id) {
    throw damaged(`The artifacts in ${join(folder, id)} were changed after they were compiled.`)
  }
  return { id, version: null, manifest, entities, functions }
}

const digestOf = (manifest: string, functions: string, entities: Revision['entities']): string =>
  revisionId({
    manifest: digestLines(manifest),
    functions: sha256Hex(functions),
    entities: entities.map(({ id, text }) => digestEntity(id, sha256Hex(text))),
  })

const readEntities = (folder: string, manifest: Manifest): readonly EntityModule[] =>
  manifest.entities.map(({ id }) => ({ id, text: readPart(join(folder, entityFile(id))) }))

/** The name of the newest revision of a folder. @throws ArtifactFailure */
export const currentRevision = (folder: string): string => currentId(readPart(join(folder, currentFile)))

/** Synchronous: nothing is served before all is read, and for thousands of files promises take four times as long. */
export function readPart(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new ArtifactFailure('missing', `There is no ${path}. Compile first.`)
    throw error
  }
}

/**
 * The revision's name is a folder's name: anything but our own hex digits is refused before it becomes part of a path.
 */
function currentId(text: string): string {
  const value = parse(text, currentFile)
  const id = isJsonObject(value) ? value.revision : undefined
  if (typeof id === 'string' && /^[0-9a-f]{16}$/.test(id)) return id
  throw damaged(`${currentFile} names no revision.`)
}

function decodeManifest(text: string, path: string): Manifest {
  const value = parse(text, path)
  const format = isJsonObject(value) ? value.format : undefined
  if (format !== 1) {
    throw new ArtifactFailure(
      'format',
      `${path} has format ${JSON.stringify(format)}, this version reads format 1. Compile again.`,
    )
  }
  if (isJsonObject(value) && Array.isArray(value.entities)) return value as unknown as Manifest
  throw damaged(`${path} is not a manifest.`)
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw damaged(`${path} is not JSON.`)
  }
}

/** A realm without `process`, `require` or a way to make code from text. Generated modules keep no state in it. */
const realm = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } })

/**
 * The `module.exports` of a generated module. It is compiled as a function, which is collected with its last reference,
 * whereas a module of the loader stays forever. `module` is made inside the realm: an object of ours would expose our
 * globals. Throws what the text throws; `name` is in its stack.
 */
export function evaluateModule(text: string, name: string): unknown {
  const body = `'use strict'; const module = { exports: {} };${text}\n;return module.exports`
  return (compileFunction(body, [], { filename: name, parsingContext: realm }) as () => unknown)()
}
