import { readFile } from 'node:fs/promises'
import type { Revision } from '../../../../runtime/contract/revision.ts'
import type { Query } from '../../../../runtime/db/connect/session.ts'
import { createEngine } from '../../../../runtime/engine/engine.ts'
import { isJsonObject, type JsonObject } from '../../../../runtime/lib/json-object.ts'
import { compileDocuments, type DocumentFault, type ExampledDocument } from '../../compiled/compile-documents.ts'
import { CommandFailure, misuse, type GivenOptions } from '../command.ts'
import { demandRole } from '../demand-role.ts'
import { givenDocuments } from '../given-documents.ts'
import { namesOption, textOption } from '../given-options.ts'

/** What `compile --documents` is given. */
export interface DocumentsRequest {
  readonly documents: readonly ExampledDocument[]
  readonly roles: readonly string[]
}

/** Null: no documents are given. Rejects with CommandFailure. */
export async function documentsRequest(given: GivenOptions): Promise<DocumentsRequest | null> {
  const pattern = textOption(given, 'documents')
  if (pattern === null) {
    if (given['roles'] !== undefined) throw misuse('--roles goes with --documents')
    return null
  }
  const roles = namesOption(given, 'roles', 'anon')
  const documents: ExampledDocument[] = []
  for (const document of await givenDocuments(pattern))
    documents.push({ ...document, examples: await examplesOf(document.source) })
  return { documents, roles }
}

/** The examples beside `NAME.graphql`, in `NAME.variables.json`: an object of variables, or a list of these. */
async function examplesOf(source: string): Promise<readonly JsonObject[]> {
  const path = `${source.replace(/\.[^./\\]*$/, '')}.variables.json`
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw misuse(`--documents: ${path} cannot be read (${error.code ?? error.message})`)
  })
  if (text === null) return []
  const examples = [parsed(text)].flat()
  if (examples.every(isJsonObject)) return examples
  throw misuse(`--documents: ${path} holds neither an object of variables nor a list of these`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Rejects with CommandFailure for a role that the database does not have. */
export async function demandRoles(query: Query, { roles }: DocumentsRequest): Promise<void> {
  for (const role of roles) await demandRole(query, role)
}

/** The files of the documents. @throws CommandFailure naming all that some role cannot ask */
export function filesOf(revision: Revision, { documents, roles }: DocumentsRequest): Readonly<Record<string, string>> {
  const { files, faults } = compileDocuments(createEngine(revision), roles, documents)
  if (faults.length > 0) throw new CommandFailure(faults.map(faultLine).join('\n'))
  return files
}

const faultLine = ({ source, role, message, place }: DocumentFault): string =>
  `${source}${place === null ? '' : `:${place.line}:${place.column}`}: ${role}: ${message}`
