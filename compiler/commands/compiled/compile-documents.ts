import { orNull } from '../../../runtime/engine/artifact-failure.ts'
import {
  type DocumentNeeds,
  type TypesFile,
  documentFile,
  documentsFormat,
  documentsIndex,
  startsOf,
  type DocumentsIndex,
  type ServedFacts,
} from '../../../runtime/graphql/compiled/format.ts'
import { type FoundDocuments, withSeal } from '../../../runtime/graphql/compiled/found.ts'
import { findDocuments, readDocumentFile } from '../../../runtime/graphql/compiled/read-document.ts'
import { inputTypes, type InputType, inputTable } from '../../../runtime/graphql/variables/input-types.ts'
import { sha256Hex } from '../../../runtime/lib/text.ts'
import { definitionOf, type Definitions } from '../../../runtime/db/check/definitions.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import { inputTypeNamed } from '../../../runtime/graphql/prepared/variables.ts'
import type { ErrorEntry } from '../../../runtime/graphql/protocol/failures.ts'
import type { GivenDocument } from '../advise/diff/document-changes.ts'
import { createDocumentMaker, type DocumentSource, type MadeDocument, type MakeDocument } from './make-document.ts'
import { addressed, printedResult } from './legible.ts'

/** A document that was compiled before, equal to a new compile. */
interface EarlierDocument {
  readonly address: string
  /** Its file. */
  readonly content: string
  readonly needs: DocumentNeeds
  readonly subscribes: boolean
  /** Of its variables: their texts, and their types for the role. */
  readonly variables: readonly string[]
  readonly types: readonly InputType[]
}

/** Undefined: it must be compiled. `mark` changes with the examples. */
type FindEarlier = (
  role: string,
  document: { readonly text: string; readonly mark?: string },
) => EarlierDocument | undefined

export const nothingEarlier: FindEarlier = () => undefined

/** The content of a folder, as far as this version compiled it from this revision of the schema. */
export function earlierIn(out: string, revision: string, version: string): FindEarlier {
  const found = orNull(() => findDocuments(out))
  if (found === null) return nothingEarlier
  const { folder, index } = found
  if (index.revision !== revision || index.compiler !== version) return nothingEarlier
  const files = new Map<string, string | null>()
  const typesOf = typesIn(found)
  const read = (address: string): string | null => {
    const before = files.get(address)
    if (before !== undefined) return before
    const content = orNull(() => readDocumentFile(folder, address))
    files.set(address, content)
    return content
  }
  return (role, { text, mark }) => {
    const hash = sha256Hex(text)
    const address = index.roles[role]?.[hash]
    if (address === undefined || mark === undefined || mark !== index.examples[hash]) return undefined
    const [needs, variables, typeOf] = [index.needs[address], index.variables[address], typesOf(role)]
    if (needs === undefined || variables === undefined || typeOf === null) return undefined
    const content = read(address)
    if (content === null) return undefined
    const subscribes = Object.hasOwn(index.watched, address)
    return { address, content, needs, subscribes, variables, types: variables.map(typeOf) }
  }
}

/** By role its types by their names; null: it has no readable ones. */
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

/**
 * Documents -> their statements for each role (docs/artifacts.md), as files beside the revision. The same documents on
 * the same revision make the same bytes; roles with equal statements for a document share its file.
 */

export interface ExampledDocument extends GivenDocument, DocumentSource {
  /** It changes with the examples; absent: unknown. */
  readonly mark?: string
}

export interface Build {
  /** Of the compiler. */
  readonly version: string
  readonly earlier: FindEarlier
  /** Not newer than the revision. */
  readonly definitions: Definitions
  /** Absent: documents are made on this thread. */
  readonly make?: MakeDocument
}

const fromNothing: Build = { version: '', earlier: nothingEarlier, definitions: new Map() }

/** Why a role cannot use a document, in the words of the server. */
export interface DocumentFault {
  readonly source: string
  readonly role: string
  readonly message: string
  /** Null: it has no position in the text. */
  readonly place: { readonly line: number; readonly column: number } | null
}

interface CompiledDocuments {
  /** By their paths in the folder of the revision. A role that cannot use a document has none. */
  readonly files: Readonly<Record<string, string>>
  /** Paths of files reused from an earlier compile. */
  readonly kept: ReadonlySet<string>
  readonly faults: readonly DocumentFault[]
}

interface Compiled {
  readonly errors: readonly ErrorEntry[]
  /** Of its variables. */
  readonly types: readonly InputType[]
  /** Of its file; null: there are errors. */
  readonly address: string | null
}

interface Facts {
  readonly needs: DocumentNeeds
  readonly subscribes: boolean
  /** The texts of its variables' types. */
  readonly variables: readonly string[]
}

export interface DocumentTask {
  readonly document: ExampledDocument
  readonly roles: readonly string[]
}

export const documentTasks = (
  roles: readonly string[],
  documents: readonly ExampledDocument[],
  earlier: FindEarlier,
): readonly DocumentTask[] =>
  documents
    .map((document) => ({ document, roles: askingRoles(roles, document).filter((role) => !earlier(role, document)) }))
    .filter(({ roles: left }) => left.length > 0)

const askingRoles = (roles: readonly string[], { roles: only }: GivenDocument): readonly string[] =>
  roles.filter((role) => only?.includes(role) ?? true)

export function compileDocuments(
  engine: Engine,
  roles: readonly string[],
  documents: readonly ExampledDocument[],
  { version, earlier, definitions, make = createDocumentMaker(engine) }: Build = fromNothing,
): CompiledDocuments {
  const files: Record<string, string> = {}
  const kept = new Set<string>()
  const needed = new Map<string, DocumentNeeds>()
  const watched = new Map<string, string>()
  const declared = new Map<string, readonly string[]>()
  const know = (address: string, content: string, { needs, subscribes, variables }: Facts): void => {
    files[documentFile(address)] = content
    needed.set(address, needs)
    declared.set(address, variables)
    if (subscribes) watched.set(address, definitionOf(startsOf(needs), definitions))
  }
  const found = (role: string, document: ExampledDocument): Compiled | null => {
    const before = earlier(role, document)
    if (before === undefined) return null
    const { address, content, types } = before
    kept.add(documentFile(address))
    know(address, content, before)
    return { errors: [], types, address }
  }
  const taken = (role: string, { errors, types, file }: MadeDocument): Compiled => {
    if (file !== null) know(file.address, file.content, { ...file, variables: types })
    const { schema } = engine.view(role)
    return { errors, types: types.map((text) => inputTypeNamed(schema, text)), address: file?.address ?? null }
  }
  const compiled = documents.map((document) => {
    const asking = askingRoles(roles, document)
    const before = new Map(asking.map((role) => [role, found(role, document)]))
    const left = asking.filter((role) => before.get(role) === null)
    const made = left.length === 0 ? [] : make(document, left)
    const now = new Map(made.map((one, at) => [left[at], taken(left[at] ?? '', one)]))
    return { document, of: (role: string) => before.get(role) ?? now.get(role) }
  })
  const faults: DocumentFault[] = []
  const byRole = roles.map((role) => {
    const all = compiled.flatMap(({ document, of }) => {
      const one = of(role)
      if (one === undefined) return []
      faults.push(...one.errors.map((error) => documentFault(document, role, error)))
      return [{ ...one, hash: sha256Hex(document.text) }]
    })
    const table: TypesFile = { format: documentsFormat, types: inputTable(all.flatMap(({ types }) => types)) }
    const { address: ofTable, content } = addressed(table)
    files[documentFile(ofTable)] = content
    const addresses = all.flatMap(({ hash, address }) => (address === null ? [] : [[hash, address] as const]))
    return { role, table: ofTable, documents: sortedMembers(addresses) }
  })
  const index: Omit<DocumentsIndex, 'seal'> = {
    format: documentsFormat,
    revision: engine.revision,
    examples: sortedMembers(
      documents.flatMap(({ text, mark }) => (mark === undefined ? [] : [[sha256Hex(text), mark]])),
    ),
    manifest: servedFacts(engine),
    types: Object.fromEntries(byRole.map(({ role, table }) => [role, table])),
    roles: Object.fromEntries(byRole.map(({ role, documents: addresses }) => [role, addresses])),
    needs: sortedMembers(needed),
    watched: sortedMembers(watched),
    variables: sortedMembers(declared),
    compiler: version,
  }
  return { files: { ...files, [documentsIndex]: withSeal(printedResult(index)) }, kept, faults }
}

/** The members in the order of their names. */
const sortedMembers = <T>(members: Iterable<readonly [string, T]>): Readonly<Record<string, T>> =>
  Object.fromEntries([...members].toSorted(([a], [b]) => (a < b ? -1 : 1)))

function servedFacts({ manifest }: Engine): ServedFacts {
  const { format, holders, roles, readsClaims, leaves, distributed, limits, allowlists } = manifest
  return {
    format,
    holders,
    roles,
    ...(readsClaims !== undefined && { readsClaims }),
    ...(leaves !== undefined && { leaves }),
    ...(distributed !== undefined && { distributed }),
    ...(limits !== undefined && { limits }),
    ...(allowlists !== undefined && { allowlists }),
  }
}

const documentFault = ({ source }: GivenDocument, role: string, { message, locations }: ErrorEntry): DocumentFault => ({
  source,
  role,
  message,
  place: locations?.[0] ?? null,
})
