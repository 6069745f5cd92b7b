import type { Manifest } from '../../contract/manifest.ts'
import type { DocumentAddresses } from '../../contract/revision.ts'
import type { Start } from '../../db/check/definitions.ts'
import type { NamedFunction, NamedRelations } from '../../db/check/fits.ts'
import type { RowBound } from '../prepared/row-terms.ts'
import type { ErrorEntry } from '../protocol/failures.ts'
import type { SizeHole } from '../../sql/tree.ts'
import type { Statement, Statements } from '../statements/statements.ts'
import type { Planned } from '../variables/shape.ts'
import type { InputTable } from '../variables/table.ts'

/** Artifacts of documents as JSON (docs/artifacts.md): the compiler writes by it, a server of compiled documents reads by it. */

export const documentsFormat = 8

/** Where they stand in the folder of a revision. */
export const documentsIndex = 'documents/index.json'
export const documentFile = (address: string): string => `documents/${address}.json`

/** What of the manifest requests need whose statements are known. */
export type ServedFacts = Pick<
  Manifest,
  'format' | 'holders' | 'roles' | 'readsClaims' | 'leaves' | 'distributed' | 'limits' | 'allowlists'
>

export interface DocumentsIndex extends DocumentAddresses {
  readonly format: typeof documentsFormat
  readonly revision: string
  /** By the hash of a document what tells its examples from others. */
  readonly examples: Readonly<Record<string, string>>
  readonly manifest: ServedFacts
  /** By address. They stand here, and not in the documents, since a server compares them with its database before it reads any. */
  readonly needs: Readonly<Record<string, DocumentNeeds>>
  /** By the address of a document that subscribes, by what it was decided what it watches (db/check/definitions.ts). */
  readonly watched: Readonly<Record<string, string>>
  /** By address the types that the variables of a document have. */
  readonly variables: Readonly<Record<string, readonly string[]>>
  /** The version that compiled them. */
  readonly compiler: string
  /** Shows that the index is what was written; the last member (found.ts). */
  readonly seal: string
}

export interface TypesFile {
  readonly format: typeof documentsFormat
  readonly types: InputTable
}

export interface DocumentFile {
  readonly format: typeof documentsFormat
  readonly document: string
  readonly operations: readonly CompiledOperation[]
}

/** What the statements of a document name: where one of these is gone, they cannot run, or mean something else. */
export interface DocumentNeeds {
  readonly relations: NamedRelations
  readonly functions: readonly NamedFunction[]
}

/** Where reading a document starts. */
export const startsOf = ({ relations, functions }: DocumentNeeds): readonly Start[] => [
  ...Object.entries(relations).flatMap(([schema, named]) => Object.keys(named).map((name): Start => [schema, name])),
  ...functions,
]

export interface CompiledOperation {
  readonly name: string | null
  readonly kind: 'query' | 'mutation' | 'subscription'
  readonly variables: readonly CompiledVariable[]
  /** Variables of which the statements depend on more than the form. */
  readonly planned: Readonly<Record<string, Planned>>
  /** Variables of which null is the same as none. */
  readonly nulls: readonly string[]
  /** The specification's rules are off: the key of a shape is the JSON text of its variables. */
  readonly lenient?: true
  /** Held before a shape is looked for; absent: no page sizes come to more rows than are allowed, or the shapes tell. */
  readonly rows?: RowBound
  /** Nothing here reads it: it says to people what is not among `shapes`. Null: all that fits the types is. */
  readonly refuses: RefusedForms | null
  readonly shapes: Readonly<Record<string, CompiledShape>>
}

/** Variables with which an operation is refused. */
export interface RefusedForms {
  /** By variables the forms that they have in `shapes`, where they may have others. */
  readonly others: Readonly<Record<string, readonly string[]>>
  /** False: not every combination of the forms of all variables is among `shapes`. */
  readonly combined: boolean
}

export interface CompiledVariable {
  readonly name: string
  readonly type: string
  /** Coerced; absent: there is none. */
  readonly default?: unknown
  /** Where the document declares it; null: nobody is told. */
  readonly place: { readonly line: number; readonly column: number } | null
}

/** What is done with variables of one form, with an example of them. */
export type CompiledShape = { readonly variables: Readonly<Record<string, unknown>> } & (
  | RunShape
  /** What is done with variables of that other form. */
  | { readonly as: string }
  | { readonly refused: readonly ErrorEntry[] }
)

/** Each step of a field is a statement: a server of compiled documents is not told of policies and triggers that came. */
export interface RunShape extends Omit<Statements, 'statements' | 'inSteps'> {
  readonly statements: readonly UnnamedStatement[]
}

/** Statements have names made of role and text; without them roles have the same. */
export type UnnamedStatement = Omit<Statement, 'name' | 'text' | 'holes'> & { readonly text: CompiledText }

/** SQL whole, or its parts and the holes between them, in order. */
export type CompiledText = string | readonly (string | SizeHole)[]
