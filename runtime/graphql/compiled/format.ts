import type { Manifest } from '../../contract/manifest.ts'
import type { DocumentAddresses } from '../../contract/artifact.ts'
import type { Start } from '../../db/check/definitions.ts'
import type { NamedFunction, NamedRelations } from '../../db/check/fits.ts'
import type { RowBound } from '../prepared/row-terms.ts'
import type { ErrorEntry } from '../protocol/failures.ts'
import type { SizeHole } from '../../sql/tree.ts'
import type { Statement, Statements } from '../statements/statements.ts'
import type { Planned } from '../variables/read.ts'
import type { InputTable } from '../variables/input-types.ts'

/** Artifacts of documents as JSON (docs/artifacts.md): written by the compiler, read by a server without one. */

export const documentsFormat = 8

/** Their path in the folder of a revision. */
export const documentsIndex = 'documents/index.json'
export const documentFile = (address: string): string => `documents/${address}.json`

/** The part of the manifest that requests need when their statements are known. */
export type ServedFacts = Pick<
  Manifest,
  'format' | 'holders' | 'roles' | 'readsClaims' | 'leaves' | 'distributed' | 'limits' | 'allowlists'
>

export interface DocumentsIndex extends DocumentAddresses {
  readonly format: typeof documentsFormat
  readonly revision: string
  /** By the hash of a document, the hash of its examples. */
  readonly examples: Readonly<Record<string, string>>
  readonly manifest: ServedFacts
  /** By address. The index has them, because a server compares them with its database before it reads any document. */
  readonly needs: Readonly<Record<string, DocumentNeeds>>
  /**
   * By the address of a subscribing document, the hash of the definitions behind its reads (db/check/definitions.ts).
   */
  readonly watched: Readonly<Record<string, string>>
  /** By address, the types of a document's variables. */
  readonly variables: Readonly<Record<string, readonly string[]>>
  /** The compiler's version. */
  readonly compiler: string
  /** The checksum of the index; the last member (found.ts). */
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

/** The objects that a document's statements name: if one is dropped, they fail or change their meaning. */
export interface DocumentNeeds {
  readonly relations: NamedRelations
  readonly functions: readonly NamedFunction[]
}

/** The relations and functions at which reading a document starts. */
export const startsOf = ({ relations, functions }: DocumentNeeds): readonly Start[] => [
  ...Object.entries(relations).flatMap(([schema, named]) => Object.keys(named).map((name): Start => [schema, name])),
  ...functions,
]

export interface CompiledOperation {
  readonly name: string | null
  readonly kind: 'query' | 'mutation' | 'subscription'
  readonly variables: readonly CompiledVariable[]
  /** Variables on which the statements depend beyond their form. */
  readonly planned: Readonly<Record<string, Planned>>
  /** Variables for which null equals absence. */
  readonly nulls: readonly string[]
  /** Validation is off: the key of a shape is the JSON text of its variables. */
  readonly lenient?: true
  /** Checked before a shape is looked up; absent: no page sizes exceed the limit of rows, or the shapes decide. */
  readonly rows?: RowBound
  /** For readers only: the forms that `shapes` lacks. Null: every form that fits the types is compiled. */
  readonly refuses: RefusedForms | null
  readonly shapes: Readonly<Record<string, CompiledShape>>
}

export interface RefusedForms {
  /** By variable, its forms in `shapes`, if other forms exist. */
  readonly others: Readonly<Record<string, readonly string[]>>
  /** False: `shapes` lacks some combination of the forms of all variables. */
  readonly combined: boolean
}

export interface CompiledVariable {
  readonly name: string
  readonly type: string
  /** Coerced; absent: no default. */
  readonly default?: unknown
  /** Its position in the document; null: not shown. */
  readonly place: { readonly line: number; readonly column: number } | null
}

export type CompiledShape = { readonly variables: Readonly<Record<string, unknown>> } & (
  | RunShape
  /** Refers to another form. */
  | { readonly as: string }
  | { readonly refused: readonly ErrorEntry[] }
)

/** Each step of a field is a separate statement: such a server does not see new policies and triggers. */
export interface RunShape extends Omit<Statements, 'statements' | 'inSteps'> {
  readonly statements: readonly UnnamedStatement[]
}

/** Statements have names made of role and text; without names, roles share them. */
export type UnnamedStatement = Omit<Statement, 'name' | 'text' | 'holes'> & { readonly text: CompiledText }

/** The whole SQL, or its parts and the holes between them, in order. */
export type CompiledText = string | readonly (string | SizeHole)[]
