import { ArtifactFailure } from '../../../runtime/engine/artifact-failure.ts'
import { decodeDocument } from '../../../runtime/graphql/compiled/documents.ts'
import type { DocumentNeeds, DocumentsIndex, TypesFile } from '../../../runtime/graphql/compiled/format.ts'
import type { FoundDocuments } from '../../../runtime/graphql/compiled/found.ts'
import { findDocuments, readDocumentFile } from '../../../runtime/graphql/compiled/read.ts'
import { inputTypes } from '../../../runtime/graphql/variables/table.ts'
import type { InputType } from '../../../runtime/graphql/variables/types.ts'
import { sha256Hex } from '../../../runtime/lib/sha256.ts'
import { printed } from './print.ts'

/** A document that was compiled before, as it would be compiled again. */
interface EarlierDocument {
  readonly address: string
  /** Its file. */
  readonly content: string
  readonly needs: DocumentNeeds
  readonly subscribes: boolean
  /** Of its variables. */
  readonly types: readonly InputType[]
}

/** Undefined: it has to be compiled. `mark` is another one for other examples. */
export type FindEarlier = (
  role: string,
  document: { readonly text: string; readonly mark?: string },
) => EarlierDocument | undefined

export const nothingEarlier: FindEarlier = () => undefined

/** What only this version writes below such an index. */
export const sealOf = (index: Omit<DocumentsIndex, 'seal'>, version: string): string =>
  sha256Hex(`${version} ${printed(index)}`)

/** What stands in a folder, as far as this version compiled it on this revision of the schema. */
export function earlierIn(out: string, revision: string, version: string): FindEarlier {
  const found = orNull(() => findDocuments(out))
  if (found === null) return nothingEarlier
  const { folder } = found
  const { seal, ...index } = found.index
  if (index.revision !== revision || seal !== sealOf(index, version)) return nothingEarlier
  const files = new Map<string, Content | null>()
  const typesOf = typesIn(found)
  const read = (address: string, hash: string): Content | null => {
    const content = files.has(address) ? (files.get(address) ?? null) : orNull(() => contentOf(folder, address, hash))
    files.set(address, content)
    return content
  }
  return (role, { text, mark }) => {
    const hash = sha256Hex(text)
    const address = index.roles[role]?.[hash]
    const needs = index.needs[address ?? '']
    const typeOf = typesOf(role)
    if (mark === undefined || mark !== index.examples[hash] || typeOf === null) return undefined
    if (address === undefined || needs === undefined) return undefined
    const content = read(address, hash)
    if (content === null) return undefined
    const { text: file, types, subscribes } = content
    return { address, content: file, needs, subscribes, types: types.map(typeOf) }
  }
}

interface Content {
  readonly text: string
  /** The names of what its variables are. */
  readonly types: readonly string[]
  readonly subscribes: boolean
}

function contentOf(folder: string, address: string, hash: string): Content {
  const text = readDocumentFile(folder, address)
  const { operations } = decodeDocument(text, hash)
  const types = operations.flatMap(({ variables }) => variables.map(({ type }) => type))
  return { text, types, subscribes: operations.some(({ kind }) => kind === 'subscription') }
}

/** By role its types by their names; null: it has none that can be read. */
function typesIn({ folder, addresses }: FoundDocuments): (role: string) => ((name: string) => InputType) | null {
  const known = new Map<string, ((name: string) => InputType) | null>()
  return (role) => {
    const before = known.get(role)
    if (before !== undefined) return before
    const text = orNull(() => readDocumentFile(folder, addresses.types[role] ?? ''))
    const made = text === null ? null : inputTypes((JSON.parse(text) as TypesFile).types)
    known.set(role, made)
    return made
  }
}

/** What cannot be read is of no use. */
function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof ArtifactFailure) return null
    throw error
  }
}
