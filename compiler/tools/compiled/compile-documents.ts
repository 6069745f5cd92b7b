import { isDeepStrictEqual } from 'node:util'
import { definitionOf, type Definitions } from '../../../runtime/db/check/definitions.ts'
import { refusalOf } from '../../../runtime/contract/role-facts.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import { roleViewOf, type RoleView } from '../../../runtime/engine/schema/schema.ts'
import {
  documentFile,
  documentsFormat,
  documentsIndex,
  startsOf,
  type CompiledOperation,
  type CompiledShape,
  type CompiledText,
  type CompiledVariable,
  type DocumentFile,
  type DocumentNeeds,
  type DocumentsIndex,
  type RunShape,
  type ServedFacts,
  type TypesFile,
  type UnnamedStatement,
} from '../../../runtime/graphql/compiled/format.ts'
import { withSeal } from '../../../runtime/graphql/compiled/found.ts'
import { shapeKeyOf } from '../../../runtime/graphql/compiled/shape.ts'
import { allowlistCacheLimits, createDocuments, type Documents } from '../../../runtime/graphql/prepared/documents.ts'
import type { Document, Prepared } from '../../../runtime/graphql/prepared/document.ts'
import { declaredVariables, inputTypeNamed } from '../../../runtime/graphql/prepared/input-types.ts'
import { Refusal, type ErrorEntry } from '../../../runtime/graphql/protocol/failures.ts'
import { inSteps, type Statements } from '../../../runtime/graphql/statements/statements.ts'
import { createVariableReader } from '../../../runtime/graphql/variables/read.ts'
import { inputTable } from '../../../runtime/graphql/variables/table.ts'
import type { DeclaredVariable, InputType } from '../../../runtime/graphql/variables/types.ts'
import { sha256Hex } from '../../../runtime/lib/sha256.ts'
import type { PlacedHole } from '../../../runtime/sql/print.ts'
import { variablesFor } from '../cost/variables.ts'
import { operationNames, type GivenDocument } from '../diff/documents.ts'
import { nothingEarlier, type FindEarlier } from './earlier.ts'
import { foreseen } from './foreseen.ts'
import { recordingNeeds } from './needs.ts'
import { printed } from './print.ts'
import { seenBy, type Seen } from './seen.ts'

/**
 * Documents -> what each of them runs for each role (docs/artifacts.md), as files beside the revision. The same documents on
 * the same revision make the same bytes; roles for which a document runs the same share its file.
 */

type Given = Readonly<Record<string, unknown>>

/** A document with examples of its variables, which decide what statements it has. */
export interface ExampledDocument extends GivenDocument {
  /** Of an operation; null is the one without a name. */
  readonly examples: (operation: string | null) => readonly Given[]
  /** Another one for other examples; absent: it is not known whether they are the same as before. */
  readonly mark?: string
}

/** What is known beside the revision. */
export interface Build {
  /** Of the compiler. */
  readonly version: string
  /** Of a compile before. */
  readonly earlier: FindEarlier
  /** No newer than the revision. */
  readonly definitions: Definitions
}

const fromNothing: Build = { version: '', earlier: nothingEarlier, definitions: new Map() }

/** Why a role cannot ask a document, in the words of the server. */
export interface DocumentFault {
  readonly source: string
  readonly role: string
  readonly message: string
  /** Null: it is about no place in the text. */
  readonly place: { readonly line: number; readonly column: number } | null
}

interface CompiledDocuments {
  /** By their paths in the folder of the revision. For a role that cannot ask a document there is none. */
  readonly files: Readonly<Record<string, string>>
  /** Paths of those that were taken from what was compiled before. */
  readonly kept: ReadonlySet<string>
  readonly faults: readonly DocumentFault[]
}

/** What became of a document for a role. */
interface Compiled {
  readonly errors: readonly ErrorEntry[]
  /** Of its variables. */
  readonly types: readonly InputType[]
  /** By the hash of its text, its address; empty where there are errors. */
  readonly addressed: readonly (readonly [hash: string, address: string])[]
}

/** What the index says of a document's file. */
interface Facts {
  readonly needs: DocumentNeeds
  readonly subscribes: boolean
  /** The texts of the types of its variables. */
  readonly variables: readonly string[]
}

/** The same for all roles that see what was seen. */
interface Made extends Pick<Compiled, 'errors' | 'addressed'> {
  /** The texts of the types of its variables. */
  readonly types: readonly string[]
  /** Null: there is no other role to compare it with. */
  readonly seen: Seen | null
}

export function compileDocuments(
  engine: Engine,
  roles: readonly string[],
  documents: readonly ExampledDocument[],
  { version, earlier, definitions }: Build = fromNothing,
): CompiledDocuments {
  const files: Record<string, string> = {}
  const kept = new Set<string>()
  const faults: DocumentFault[] = []
  const put = (content: DocumentFile | TypesFile): string => {
    const text = printed(content)
    const address = sha256Hex(text).slice(0, 16)
    files[documentFile(address)] = text
    return address
  }
  const needs = recordingNeeds(engine)
  const needed = new Map<string, DocumentNeeds>()
  const watched = new Map<string, string>()
  const declared = new Map<string, readonly string[]>()
  const know = (address: string, { needs: named, subscribes, variables }: Facts): void => {
    needed.set(address, named)
    declared.set(address, variables)
    if (subscribes) watched.set(address, definitionOf(startsOf(named), definitions))
  }
  const make = (role: string, document: ExampledDocument): Made => {
    const own = engine.view(role)
    const seen = roles.length === 1 ? null : seenBy(own.visible)
    const view = seen === null ? own : roleViewOf(seen.visible)
    const prepared = createDocuments({ ...needs.engine, view: () => view }, allowlistCacheLimits)
    const types = new Set<string>()
    const errors: ErrorEntry[] = []
    const operations = operationsOf({ view, prepared, document, types }, (error) => errors.push(error))
    const named = needs.of(operations)
    if (errors.length > 0) return { errors, types: [...types], addressed: [], seen }
    const address = put({ format: documentsFormat, document: document.text, operations })
    const subscribes = operations.some(({ kind }) => kind === 'subscription')
    know(address, { needs: named, subscribes, variables: [...types] })
    return { errors, types: [...types], addressed: [[sha256Hex(document.text), address]], seen }
  }
  const known = new Map<ExampledDocument, Made[]>()
  const compile = (role: string, document: ExampledDocument): Compiled => {
    const found = earlier(role, document)
    if (found !== undefined) {
      const path = documentFile(found.address)
      files[path] = found.content
      kept.add(path)
      know(found.address, found)
      return { errors: [], types: found.types, addressed: [[sha256Hex(document.text), found.address]] }
    }
    const view = engine.view(role)
    const before = known.get(document) ?? []
    const same = before.find(({ seen }) => seen?.isSeenBy(view.visible))
    const made = same ?? make(role, document)
    if (same === undefined) known.set(document, [...before, made])
    return { ...made, types: made.types.map((text) => inputTypeNamed(view.schema, text)) }
  }
  const byRole = roles.map((role) => {
    const compiled = documents
      .filter(({ roles: only }) => only?.includes(role) ?? true)
      .map((document) => {
        const made = compile(role, document)
        faults.push(...made.errors.map((error) => faultOf(document, role, error)))
        return made
      })
    const table = put({ format: documentsFormat, types: inputTable(compiled.flatMap(({ types }) => types)) })
    const addressed = compiled.flatMap(({ addressed: pairs }) => pairs).toSorted(([a], [b]) => (a < b ? -1 : 1))
    return { role, table, documents: Object.fromEntries(addressed) }
  })
  const index: Omit<DocumentsIndex, 'seal'> = {
    format: documentsFormat,
    revision: engine.revision,
    examples: marksOf(documents),
    manifest: servedFacts(engine),
    types: Object.fromEntries(byRole.map(({ role, table }) => [role, table])),
    roles: Object.fromEntries(byRole.map(({ role, documents: found }) => [role, found])),
    needs: byAddress(needed),
    watched: byAddress(watched),
    variables: byAddress(declared),
    compiler: version,
  }
  return { files: { ...files, [documentsIndex]: withSeal(printed(index)) }, kept, faults }
}

const byAddress = <T>(all: ReadonlyMap<string, T>): Readonly<Record<string, T>> =>
  Object.fromEntries([...all].toSorted(([a], [b]) => (a < b ? -1 : 1)))

const marksOf = (documents: readonly ExampledDocument[]): DocumentsIndex['examples'] =>
  Object.fromEntries(
    documents
      .flatMap(({ text, mark }) => (mark === undefined ? [] : [[sha256Hex(text), mark] as const]))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )

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

const faultOf = ({ source }: GivenDocument, role: string, { message, locations }: ErrorEntry): DocumentFault => ({
  source,
  role,
  message,
  place: locations?.[0] ?? null,
})

interface Asked {
  readonly view: RoleView
  readonly prepared: Documents
  readonly document: ExampledDocument
  /** Takes the types of its variables. */
  readonly types: Set<string>
}

function operationsOf(asked: Asked, tell: (error: ErrorEntry) => void): readonly CompiledOperation[] {
  return operationNames(asked.document.text).flatMap((name) => {
    try {
      refuseUnreadable(asked)
      return [operationOf(asked, name)]
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      error.errors.forEach(tell)
      return []
    }
  })
}

function refuseUnreadable({ view: { role, visible } }: Asked): void {
  const message = refusalOf(visible.manifest, role)
  const code = 'SCHEMA_COMMENT_INVALID'
  if (message !== null) throw new Refusal(code, [{ message, extensions: { code } }])
}

function operationOf({ view, prepared, document, types }: Asked, name: string | null): CompiledOperation {
  const found = prepared.find({ role: view.role, text: document.text, operationName: name })
  const declared = declaredVariables(view.schema, found.definitions)
  for (const { type } of declared) types.add(type.text)
  const { strict, planned } = found.sketch
  const thought = variablesFor(view, found.definitions, document.text)
  const form = {
    planned: Object.fromEntries(planned),
    nulls: strict ? nullsOf(declared, found, thought) : [],
    ...(!strict && { lenient: true as const }),
  }
  return {
    name,
    kind: kindOf(found),
    variables: declared.map(variableOf),
    ...form,
    shapes: shapesOf(
      declared,
      form,
      found,
      document.examples(name),
      strict ? foreseen(declared, form, thought) : thought,
    ),
  }
}

/** Variables of which null runs the same as none, among the fewest others and among all. */
const nullsOf = (
  declared: readonly DeclaredVariable[],
  { prepare }: Document,
  thought: readonly Given[],
): readonly string[] =>
  declared
    .filter(({ type, byDefault }) => type.kind !== 'non-null' && byDefault === undefined)
    .map(({ name }) => name)
    .filter((name) => {
      const outcomes = [thought[0] ?? {}, thought.at(-1) ?? {}].flatMap((given) => {
        const { [name]: _left, ...others } = given
        const without = outcomeOf(() => prepare(others))
        if (without instanceof Refusal) return []
        const withNull = outcomeOf(() => prepare({ ...others, [name]: null }))
        return [isDoneAlike(without, withNull)]
      })
      return outcomes.length > 0 && outcomes.every((isAlike) => isAlike)
    })

const isDoneAlike = (one: Prepared, other: Prepared | Refusal): boolean =>
  !(other instanceof Refusal) && isDeepStrictEqual(one.statements, other.statements)

/** @throws Refusal where an example cannot be asked */
function shapesOf(
  declared: readonly DeclaredVariable[],
  form: Pick<CompiledOperation, 'planned' | 'nulls' | 'lenient'>,
  { prepare }: Document,
  examples: readonly Given[],
  thought: readonly Given[],
): CompiledOperation['shapes'] {
  const read = form.lenient === true ? (given: Given): Given => given : createVariableReader(declared)
  const key = shapeKeyOf(declared, form)
  const shapes = new Map<string, CompiledShape>()
  for (const variables of examples)
    shapes.set(key(read(variables)), { variables, ...unnamed(inSteps(prepare(variables).statements)) })
  for (const variables of thought) {
    const found = outcomeOf(() => key(read(variables)))
    // What is thought up need not fit its type.
    if (typeof found !== 'string' || shapes.has(found)) continue
    const made = outcomeOf(() => prepare(variables))
    shapes.set(found, {
      variables,
      ...(made instanceof Refusal ? { refused: made.errors } : unnamed(inSteps(made.statements))),
    })
  }
  return Object.fromEntries([...shapes].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function outcomeOf<T>(work: () => T): T | Refusal {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

const unnamed = ({ statements, ...others }: Omit<Statements, 'inSteps'>): RunShape => ({
  ...others,
  statements: statements.map(({ name: _name, text, holes = [], ...statement }): UnnamedStatement => {
    return { text: withHoles(text, holes), ...statement }
  }),
})

/** The parts of a text around its holes. */
function withHoles(text: string, holes: readonly PlacedHole[]): CompiledText {
  if (holes.length === 0) return text
  const ends = [0, ...holes.map(({ to }) => to)]
  const parts = holes.flatMap(({ from, to: _to, ...hole }, at) => [text.slice(ends[at], from), hole])
  return [...parts, text.slice(ends.at(-1))]
}

const kindOf = ({ writes, streams }: Document): CompiledOperation['kind'] =>
  writes ? 'mutation' : streams ? 'subscription' : 'query'

const variableOf = ({ name, type, byDefault, place }: DeclaredVariable): CompiledVariable => ({
  name,
  type: type.text,
  ...(byDefault !== undefined && { default: byDefault }),
  place,
})
