import { refusalOf } from '../../../runtime/contract/facts.ts'
import type { Engine } from '../../../runtime/engine/engine.ts'
import { roleViewOf, type RoleView } from '../../../runtime/engine/schema/schema.ts'
import {
  documentsFormat,
  type CompiledOperation,
  type CompiledShape,
  type CompiledText,
  type CompiledVariable,
  type DocumentFile,
  type DocumentNeeds,
  type RunShape,
  type UnnamedStatement,
} from '../../../runtime/graphql/compiled/format.ts'
import { shapeKeyOf } from '../../../runtime/graphql/compiled/shape.ts'
import type { Document } from '../../../runtime/graphql/prepared/document.ts'
import { declaredVariables } from '../../../runtime/graphql/prepared/variables.ts'
import { checkTerms } from '../../../runtime/graphql/prepared/row-terms.ts'
import { Refusal, type ErrorEntry } from '../../../runtime/graphql/protocol/failures.ts'
import { inSteps, type Statements } from '../../../runtime/graphql/statements/statements.ts'
import { createVariableReader } from '../../../runtime/graphql/variables/read.ts'
import type { DeclaredVariable } from '../../../runtime/graphql/variables/input-types.ts'
import type { PlacedHole } from '../../../runtime/sql/print.ts'
import { variablesFor } from '../advise/cost/measure.ts'
import { operationNames } from '../advise/diff/document-changes.ts'
import { createBoundedDocuments, type BoundedDocuments } from './bounded.ts'
import { foreseen } from './foreseen.ts'
import { recordingNeeds } from './needs.ts'
import { nullsOf, outcomeOf } from './nulls.ts'
import { addressed, printedResult, type AddressedFile } from './legible.ts'
import { refusedForms } from './refused-forms.ts'
import { seenBy, type Seen } from './seen.ts'

/** A document -> its statements for each role, as plain data, which another thread can make (together.ts). */

type Given = Readonly<Record<string, unknown>>

export interface Examples {
  readonly all: readonly Given[]
  readonly named?: ReadonlyMap<string, readonly Given[]>
}

export interface DocumentSource {
  readonly text: string
  readonly examples: Examples
}

export interface MadeDocument {
  readonly errors: readonly ErrorEntry[]
  /** The texts of its variables' types. */
  readonly types: readonly string[]
  /** Null: there are errors. */
  readonly file: MadeFile | null
}

/** The file of a document, and its facts for the index besides the types of its variables. */
export interface MadeFile extends AddressedFile {
  readonly needs: DocumentNeeds
  readonly subscribes: boolean
}

/** Returns results in the order of the roles. */
export type MakeDocument = (document: DocumentSource, roles: readonly string[]) => readonly MadeDocument[]

/** The result for a role is the same for all roles with the same view. Null: there is no other role to compare with. */
interface Known {
  readonly made: MadeDocument
  readonly seen: Seen | null
}

export function createDocumentMaker(engine: Engine): MakeDocument {
  const needs = recordingNeeds(engine)
  const make = (role: string, document: DocumentSource, isOnly: boolean): Known => {
    const own = engine.view(role)
    const seen = isOnly ? null : seenBy(own.visible)
    const view = seen === null ? own : roleViewOf(seen.visible)
    const prepared = createBoundedDocuments({ ...needs.engine, view: () => view })
    const found = new Set<string>()
    const errors: ErrorEntry[] = []
    const operations = operationsOf({ view, prepared, document, types: found }, (error) => errors.push(error))
    const named = needs.of(operations)
    const types = [...found]
    if (errors.length > 0) return { made: { errors, types, file: null }, seen }
    const content: DocumentFile = { format: documentsFormat, document: document.text, operations }
    const subscribes = operations.some(({ kind }) => kind === 'subscription')
    return { made: { errors, types, file: { ...addressed(content), needs: named, subscribes } }, seen }
  }
  return (document, roles) => {
    const known: Known[] = []
    return roles.map((role) => {
      const { visible } = engine.view(role)
      const same = known.find(({ seen }) => seen?.isSeenBy(visible))
      if (same !== undefined) return same.made
      const one = make(role, document, roles.length === 1)
      known.push(one)
      return one.made
    })
  }
}

interface Asked {
  readonly view: RoleView
  readonly prepared: BoundedDocuments
  readonly document: DocumentSource
  readonly types: Set<string>
}

function operationsOf(asked: Asked, report: (error: ErrorEntry) => void): readonly CompiledOperation[] {
  return operationNames(asked.document.text).flatMap((name) => {
    try {
      refuseUnreadable(asked)
      return [compileOperation(asked, name)]
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      error.errors.forEach(report)
      return []
    }
  })
}

function refuseUnreadable({ view: { role, visible } }: Asked): void {
  const message = refusalOf(visible.manifest, role)
  const code = 'SCHEMA_COMMENT_INVALID'
  if (message !== null) throw new Refusal(code, [{ message, extensions: { code } }])
}

function compileOperation({ view, prepared, document, types }: Asked, name: string | null): CompiledOperation {
  const { found, rows } = prepared({ role: view.role, text: document.text, operationName: name })
  const declared = declaredVariables(view.schema, found.definitions)
  for (const { type } of declared) types.add(type.text)
  const { strict, planned } = found.sketch
  const thought = variablesFor(view, found.definitions, document.text)
  const examples = examplesOf(document.examples, name)
  const form = {
    planned: Object.fromEntries(planned),
    nulls: strict ? nullsOf(declared, found, thought) : [],
    ...(!strict && { lenient: true as const }),
    ...(rows !== null && { rows }),
  }
  const given = strict ? foreseen(declared, form, thought, examples) : thought
  const shapes = shapesOf(declared, form, found, examples, given)
  return {
    name,
    kind: operationKind(found),
    variables: declared.map(variableOf),
    ...form,
    refuses: refusedForms(
      declared,
      form,
      Object.values(shapes).map((shape) => shape.variables),
    ),
    shapes,
  }
}

const examplesOf = ({ all, named }: Examples, operation: string | null): readonly Given[] => [
  ...all,
  ...((operation === null ? undefined : named?.get(operation)) ?? []),
]

/** @throws Refusal if an example is refused */
function shapesOf(
  declared: readonly DeclaredVariable[],
  form: Pick<CompiledOperation, 'planned' | 'nulls' | 'lenient' | 'rows'>,
  { prepare }: Document,
  examples: readonly Given[],
  thought: readonly Given[],
): CompiledOperation['shapes'] {
  const read = form.lenient === true ? (given: Given): Given => given : createVariableReader(declared)
  const key = shapeKeyOf(declared, form)
  const shapes = new Map<string, CompiledShape>()
  for (const variables of examples) {
    const values = read(variables)
    if (form.rows !== undefined) checkTerms(form.rows, values)
    shapes.set(key(values), { variables, ...unnamed(inSteps(prepare(variables).statements)) })
  }
  for (const variables of thought) {
    const found = outcomeOf(() => key(read(variables)))
    // A generated value need not fit its type.
    if (typeof found !== 'string' || shapes.has(found)) continue
    const made = outcomeOf(() => prepare(variables))
    shapes.set(found, {
      variables,
      ...(made instanceof Refusal ? { refused: made.errors } : unnamed(inSteps(made.statements))),
    })
  }
  return Object.fromEntries(eachOnce([...shapes].toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

/** Equal shapes are written once, and referred to. */
function* eachOnce(shapes: readonly (readonly [string, CompiledShape])[]): Generator<readonly [string, CompiledShape]> {
  const known = new Map<string, string>()
  for (const [key, { variables, ...done }] of shapes) {
    const text = printedResult(done)
    const as = known.get(text)
    if (as === undefined) known.set(text, key)
    yield [key, as === undefined ? { variables, ...done } : { variables, as }]
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

const operationKind = ({ writes, streams }: Document): CompiledOperation['kind'] =>
  writes ? 'mutation' : streams ? 'subscription' : 'query'

const variableOf = ({ name, type, byDefault, place }: DeclaredVariable): CompiledVariable => ({
  name,
  type: type.text,
  ...(byDefault !== undefined && { default: byDefault }),
  place,
})
