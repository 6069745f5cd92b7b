import type { CompiledDocuments, Revision } from '../../contract/artifact.ts'
import { ArtifactFailure, damaged } from '../../engine/artifact-failure.ts'
import { createLru, type Lru } from '../../lib/caches.ts'
import { sha256Hex } from '../../lib/text.ts'
import type { SizeHole } from '../../sql/tree.ts'
import { decodeCursor, decodeNodeId } from '../plan/cursors-and-node-ids.ts'
import type { Known } from '../prepared/document.ts'
import { checkTerms } from '../prepared/row-terms.ts'
import { refuse, Refusal, type ErrorEntry } from '../protocol/failures.ts'
import { named } from '../statements/parameters.ts'
import type { Statement, Statements } from '../statements/statements.ts'
import { createVariableReader } from '../variables/read.ts'
import { inputTypes, namedInput, type DeclaredVariable, type InputType } from '../variables/input-types.ts'
import { shapeKeyOf } from './shape.ts'
import type { CompiledOperation, CompiledShape, CompiledText, DocumentFile, RunShape, TypesFile } from './format.ts'

type Given = Readonly<Record<string, unknown>>

type ShapeOfItsOwn = Exclude<CompiledShape, { readonly as: string }>

export interface KnownOperation extends Omit<Known, 'definitions' | 'ready'> {
  /** @throws Refusal for variables that do not fit their types, or whose form was not compiled */
  readonly ready: (variables: Given) => NonNullable<ReturnType<Known['ready']>>
}

export interface KnownDocument {
  readonly text: string
  /** It names objects that the database does not have. */
  readonly outdated: boolean
  /** @throws Refusal if there is no such operation, or several and none is named */
  readonly operation: (name: string | null) => KnownOperation
}

export interface KnownDocuments {
  /** Undefined: it was not compiled for the role. @throws ArtifactFailure if its file was changed */
  readonly find: (role: string, hash: string) => KnownDocument | undefined
}

/** The text of a file in the folder of a revision. @throws ArtifactFailure if the file is missing or was changed */
export type ReadDocumentFile = (folder: string, address: string) => string

/** The size of the cached files in characters; the decoded form takes some four bytes per character. */
const heldCharacters = 16_000_000

/** The compiled documents. A document is read on demand, and kept while it is among the most recently used. */
export function createKnownDocuments(
  { folder, addresses, outdated }: CompiledDocuments,
  readFile: ReadDocumentFile,
): KnownDocuments {
  const read = (address: string): string => readFile(folder, address)
  const lost = new Set(outdated)
  const roles = new Map(
    Object.entries(addresses.roles).map(([role, documents]) => [role, new Map(Object.entries(documents))]),
  )
  const types = new Map<string, (text: string) => InputType>()
  const typesOf = (role: string): ((text: string) => InputType) => {
    const made = types.get(role) ?? inputTypes((JSON.parse(read(addresses.types[role] ?? '')) as TypesFile).types)
    types.set(role, made)
    return made
  }
  const known = createLru<string, Held>(heldCharacters, ({ weight }) => weight)
  return {
    find: (role, hash) => {
      const address = roles.get(role)?.get(hash)
      if (address === undefined) return undefined
      const id = `${address} ${role}`
      const before = known.get(id)
      if (before !== undefined) return before.document
      const content = read(address)
      const document = {
        ...documentOf(role, decodeDocument(content, hash), typesOf(role), content.length),
        outdated: lost.has(address),
      }
      known.set(id, { document, weight: content.length })
      return document
    },
  }
}

/** @throws Refusal for a document whose file cannot be used; newer artifacts may have replaced it */
export function readable(find: () => KnownDocument | undefined): KnownDocument | undefined {
  try {
    return find()
  } catch (error) {
    if (!(error instanceof ArtifactFailure)) throw error
    throw refuse('DOCUMENT_DAMAGED', 'The document is not there as it was compiled. It has to be compiled again.')
  }
}

/** @throws ArtifactFailure for a document whose content does not match its hash */
export function decodeDocument(content: string, hash: string): DocumentFile {
  const file = JSON.parse(content) as DocumentFile
  if (sha256Hex(file.document) === hash) return file
  throw damaged(`The document does not have the hash ${hash} that it stands under.`)
}

interface Held {
  readonly document: KnownDocument
  readonly weight: number
}

function documentOf(
  role: string,
  { document, operations }: DocumentFile,
  typeOf: (text: string) => InputType,
  characters: number,
): Omit<KnownDocument, 'outdated'> {
  const known = new Map<string | null, KnownOperation>()
  // Statements without holes all fit in.
  const filled = createLru<string, Statements>(characters, lengthOf)
  const made = (name: string | null): KnownOperation => {
    const operation = choose(operations, name)
    const before = known.get(operation.name)
    if (before !== undefined) return before
    const one = operationOf(role, operation, typeOf, filled)
    known.set(operation.name, one)
    return one
  }
  return { text: document, operation: made }
}

/** With the messages of graphql-js. */
function choose(operations: readonly CompiledOperation[], name: string | null): CompiledOperation {
  const [only, ...others] = operations
  const found = name === null ? (others.length === 0 ? only : undefined) : operations.find((one) => one.name === name)
  if (found !== undefined) return found
  throw name === null
    ? refuse('OPERATION_NOT_FOUND', 'Must provide operation name if query contains multiple operations.')
    : refuse('OPERATION_NOT_FOUND', `Unknown operation named "${name}".`)
}

const otherForm =
  'The document was not compiled for variables of this form: add an example of them to the examples beside the document.'

/** @param filled the complete statements of the document's operations, by operation and key */
function operationOf(
  role: string,
  { name: operation, kind, variables, shapes, rows, planned, nulls, lenient }: CompiledOperation,
  typeOf: (text: string) => InputType,
  filled: Lru<string, Statements>,
): KnownOperation {
  const declared = variables.map(({ name, type, default: byDefault, place }): DeclaredVariable => {
    return { name, type: typeOf(type), byDefault, place }
  })
  const read = lenient === true ? (given: Given): Given => given : createVariableReader(declared)
  const form = { planned, nulls, ...(lenient && { lenient }) }
  const keyOf = shapeKeyOf(declared, form)
  const filledKeyOf = shapeKeyOf(declared, form, false)
  return {
    writes: kind === 'mutation',
    streams: kind === 'subscription',
    ready: (given) => {
      const values = read(given)
      if (rows !== undefined) checkTerms(rows, values)
      const shape = `${filledKeyOf(values)}${operation ?? ''}`
      const before = filled.get(shape)
      if (before !== undefined) return { statements: before, variables: values, shape }
      const key = keyOf(values)
      const found = shapeAt(shapes, key)
      if (found === undefined) throw refuse('VARIABLES_NOT_COMPILED', otherForm)
      if ('refused' in found) throw refusalFor(declared, values, found.refused, shapes[key]?.variables ?? {})
      const statements = statementsOf(role, found, values)
      filled.set(shape, statements)
      return { statements, variables: values, shape }
    },
  }
}

function shapeAt(shapes: CompiledOperation['shapes'], key: string): ShapeOfItsOwn | undefined {
  const found = Object.hasOwn(shapes, key) ? shapes[key] : undefined
  return found !== undefined && 'as' in found ? shapeAt(shapes, found.as) : found
}

/**
 * All unreadable cursors have one form, but each has its own refusal.
 * @param example the variables for which the operation was refused
 */
function refusalFor(
  declared: readonly DeclaredVariable[],
  values: Given,
  refused: readonly ErrorEntry[],
  example: Given,
): Refusal {
  const isReason = (one: DeclaredVariable): boolean => unreadable(one, example)?.message === refused[0]?.message
  const reason = declared.find(isReason)
  const own = reason === undefined ? null : unreadable(reason, values)
  return own ?? new Refusal(refused[0]?.extensions.code ?? 'BAD_ARGUMENT', refused)
}

/** Null: it is readable, or not a cursor. */
function unreadable({ name, type }: DeclaredVariable, values: Given): Refusal | null {
  const value = values[name]
  if (typeof value !== 'string') return null
  const { text } = namedInput(type)
  try {
    if (text === 'Cursor') decodeCursor(value)
    if (text === 'ID') decodeNodeId(value)
    return null
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

const statementsOf = (role: string, { writes, pieces, reads, statements }: RunShape, values: Given): Statements => ({
  writes,
  pieces,
  reads,
  // A text to which the check is added has a place for it: `carriesCheck` is true.
  statements: statements.map((statement) => {
    return { ...statement, ...named(role, wholeText(statement.text, values)) } as Statement
  }),
})

const wholeText = (text: CompiledText, values: Given): string =>
  typeof text === 'string'
    ? text
    : text.map((part) => (typeof part === 'string' ? part : numberFor(part, values))).join('')

const numberFor = ({ variable, most, plus }: SizeHole, values: Given): string =>
  String(Math.min(Number(values[variable]), most) + plus)

const lengthOf = ({ statements }: Statements, key: string): number =>
  statements.reduce((sum, { text }) => sum + text.length, key.length)

/** Whether the two revisions give equal answers. */
export const saysTheSame = (one: Revision, other: Revision): boolean =>
  one === other ||
  (one.id === other.id &&
    one.version === other.version &&
    one.failure === other.failure &&
    one.compiled?.outdated.join() === other.compiled?.outdated.join())
